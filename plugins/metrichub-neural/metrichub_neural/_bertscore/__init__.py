"""Shared by the metrics of the BERTScore family: their parameters, tables and matching."""
