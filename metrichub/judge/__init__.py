"""Judges: who answers typed questions about texts, and the metrics that ask them."""
