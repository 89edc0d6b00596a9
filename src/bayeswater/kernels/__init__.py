"""The compiled loops, each beside its NumPy reference; plain arrays in and out."""
