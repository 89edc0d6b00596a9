"""Rows of files in batches, so that a file may be larger than memory: `open_source` gives a `Source` of any format."""
