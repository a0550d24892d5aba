"""Where numbers are made: measuring, statistics, results, resampling and significance."""
