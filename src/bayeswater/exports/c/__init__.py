"""A model as C."""
