"""Beside the road: files, between bytes and what they hold. Nothing that a file says is ever imported or run."""
