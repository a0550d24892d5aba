"""Edits and alignments of whole columns: distances, common subsequences, shifts."""
