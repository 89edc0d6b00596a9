"""Rows in pieces, so that a table may be larger than memory.

`open_source` gives a `Source` of one file of any format, `local_rows` (both in `recognising`) gives `LocalRows` of
files, datasets, queries and iterators: sums over all rows, in one pass. `rows` is what engines have in common with it.
"""
