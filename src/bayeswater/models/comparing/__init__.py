"""`compare`: the ladder of classifiers, and their peers, on the same folds."""
