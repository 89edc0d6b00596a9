"""Discretisers: where a column of numbers is cut into intervals."""
