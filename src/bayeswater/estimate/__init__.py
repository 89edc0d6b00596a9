"""From sums to parameters: maximum likelihood, Dirichlet smoothing, Normal-inverse-gamma.

Smoothing is applied here, when parameters are read; the sums never hold any.
"""
