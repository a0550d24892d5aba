"""Clients of model servers, shared by judges and embedders: calls, their store and their usage."""
