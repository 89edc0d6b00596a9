"""`NaiveBayes` of a mixed table: the plan of its columns, their families, and what it says of its predictions."""
