"""From a user's table to numbers: variables and their domains, matrices, coded tables, labels, weights."""
