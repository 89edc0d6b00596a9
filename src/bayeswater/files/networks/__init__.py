"""Bayesian networks in the formats of others: text to plain documents and back, without loss of a digit."""
