"""Who depends on whom: directed acyclic graphs, and what they say about independence."""
