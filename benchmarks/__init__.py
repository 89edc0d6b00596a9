"""Bayeswater beside its peers: speed, memory, growth with the rows, compile time.

``make bench`` runs everything; ``make bench ARGS="--only gaussian --repeats 3"`` a part of it.
"""
