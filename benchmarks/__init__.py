"""Measurements beside what people use today; run by hand, never by a test."""
