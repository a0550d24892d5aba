"""Where numbers are shown and kept: the report, its tables, its file and its page."""
