"""Bayeswater beside its peers: speed, memory, growth with the rows, compile time.

``make bench`` runs everything; ``make bench ARGS="--only gaussian --repeats 3"`` a part of it.
"""

import os

# A call that is not counted comes before those that are, and loads what they need: nothing is loaded beside them.
os.environ.setdefault("BAYESWATER_COMPILE", "now")
