"""Judges, which answer typed questions about texts, and the metrics that use them."""
