"""Members of an ensemble: committees that learn, count, forget and predict, and the stack that pools them."""
