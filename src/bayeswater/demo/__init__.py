"""Built-in data to show what Bayeswater does: short messages written for it, and a table of loans that is drawn."""
