"""`BayesEnsemble`: honest members of several kinds on counts, pooled by what they say of rows they never saw."""
