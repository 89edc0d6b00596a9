"""Rows that do not fit into memory: how a model walks over them, pass by pass, and answers for them."""
