"""Networks in which variables have states or are numbers."""
