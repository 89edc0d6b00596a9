"""Exact answers of networks with states and numbers."""
