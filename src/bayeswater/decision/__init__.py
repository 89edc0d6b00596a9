"""Decisions from probabilities: calibration, losses and risks; arrays in and out, no model of ours.

Names are imported on first use.
"""

from bayeswater.lazy_names import lazy_names

_HOME = {
    "BayesDecision": "bayes_decision",
    "Calibrated": "calibrated",
    "Loss": "loss",
    "PriorEstimate": "prior_shift",
    "adaptive_ece": "calibration_metrics",
    "bayes_risk": "bayes_risks",
    "bayes_risk_by_enumeration": "bayes_risks",
    "bayes_risk_by_sampling": "bayes_risks",
    "brier_decomposition": "calibration_metrics",
    "cost_curve": "curves",
    "ece": "calibration_metrics",
    "error_reject_curve": "curves",
    "estimate_prior": "prior_shift",
    "expected_loss_scorer": "bayes_risks",
    "prior_curve": "curves",
    "realised_loss_scorer": "bayes_risks",
    "reliability_table": "calibration_metrics",
    "shift_prior": "prior_shift",
    "threshold_curve": "curves",
    "value_of_information": "next_best",
}

__all__ = list(_HOME)

__getattr__, __dir__ = lazy_names(__name__, _HOME)
