"""How the columns of a table are read: what a user says of them, and the plan; for all models of mixed tables."""
