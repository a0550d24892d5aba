"""Shared by metrics that compare the vectors of words, in context or without it."""
