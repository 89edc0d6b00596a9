"""A model as one query."""
