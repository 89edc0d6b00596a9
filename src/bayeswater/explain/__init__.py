"""Why a row got its class, how sure that is, and whether rows like it were ever seen: read off the terms of a model."""
