"""`BayesEnsemble`: honest members of several families on counts, pooled by what they say of rows they never saw."""
