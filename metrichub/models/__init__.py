"""Clients of model servers for judges and embedders: calls, call store, usage."""
