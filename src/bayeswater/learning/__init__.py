"""What infers in order to learn."""
