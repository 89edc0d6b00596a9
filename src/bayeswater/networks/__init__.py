"""The immutable core of a Bayesian network: a graph, variables, and how each depends on its parents."""
