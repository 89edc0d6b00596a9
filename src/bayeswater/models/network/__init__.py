"""`BayesianNetwork`: how it is made, read, written, changed, asked and drawn; `NetworkClassifier`."""
