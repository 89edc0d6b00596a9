"""Approximate inference in discrete networks: estimates by sampling that know their errors, and when they do not."""
