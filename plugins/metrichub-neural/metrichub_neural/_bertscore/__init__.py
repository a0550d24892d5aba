"""What the metrics of the BERTScore family share: their parameters, tables and matching."""
