"""The catalog of what is installed: cards, the registry of metrics, their specs and parameters."""
