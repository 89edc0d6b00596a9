"""Decisions from probabilities: calibration, losses and risks; arrays in and out, no model of ours."""
