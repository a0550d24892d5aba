"""How samples come in: batches and columns, files, tables, streams and their fingerprints."""
