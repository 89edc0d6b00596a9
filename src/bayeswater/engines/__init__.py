"""Tables on the workers of Dask, Spark and Ray as `Rows`: a function goes where the rows are, and only sums travel."""
