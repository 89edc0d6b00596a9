"""Drawings of a network: a layered layout of our own, SVG, and DOT for those who have Graphviz."""
