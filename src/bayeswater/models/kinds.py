"""The models by their names: a file and a command bring in the one that they need, and no other."""

from importlib import import_module
from typing import Any

HOMES = {
    "GaussianNB": "models.gaussian_nb",
    "MultinomialNB": "models.feature_nb",
    "ComplementNB": "models.feature_nb",
    "BernoulliNB": "models.feature_nb",
    "CategoricalNB": "models.categorical_nb",
    "NaiveBayes": "models.mixed.naive_bayes",
    "SPODE": "models.semi_naive.tan",
    "TAN": "models.semi_naive.tan",
    "AODE": "models.semi_naive.aode",
    "A2DE": "models.semi_naive.aode",
    "KDB": "models.semi_naive.kdb",
    "SKDB": "models.semi_naive.kdb",
    "GaussianClassifier": "models.gaussian_classifier",
    "BayesianNetwork": "models.network.bayesian_network",
    "MixedNetwork": "models.mixed_networks.mixed_network",
    "BayesEnsemble": "models.ensemble.bayes_ensemble",
    "NetworkClassifier": "models.structures.network_classifier",
    "Calibrated": "decision.calibrated",
    "BayesDecision": "decision.bayes_decision",
}
"""The module of each."""


def class_of(name: str) -> type[Any]:
    """Give the class of a model.

    >>> class_of("GaussianNB").__name__
    'GaussianNB'
    """
    found: type[Any] = getattr(import_module(f"bayeswater.{HOMES[name]}"), name)
    return found
