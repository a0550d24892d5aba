"""Clients of model servers, embedders, the call store, usage."""
