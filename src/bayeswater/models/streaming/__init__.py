"""Rows that do not fit into memory: how a model learns from them, pass by pass, and answers for them."""
