"""Exact inference in discrete networks: elimination for one question, a junction tree for rows in bulk."""
