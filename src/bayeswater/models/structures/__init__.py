"""Structures learned from rows: the public functions, and what they give back."""
