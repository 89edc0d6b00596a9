"""Groups of columns of one kind: each part reads, counts and scores its columns, and `NaiveBayes` adds them up."""
