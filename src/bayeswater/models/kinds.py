"""The models by their names, and the ladder on which they are compared.

A file and a command bring in the model that they need, and no other.
"""

from collections.abc import Mapping
from dataclasses import field
from importlib import import_module
from typing import Any

from bayeswater.records import record

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
    "A2DE": "models.semi_naive.a2de",
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


@record
class Rung:
    """A kind of model: the name of its class, and what it is given beyond the defaults.

    Its name shows the `parameters`, and not what is `fixed`. A model that `calibrates_itself` is not asked to.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    needs_numbers: bool = False
    fixed: Mapping[str, Any] = field(default_factory=dict)
    calibrates_itself: bool = False

    @property
    def name(self) -> str:
        """Name in tables.

        >>> LADDER["gaussian-shared"].name, LADDER["aode"].name
        ('Gaussian, shared', 'AODE')
        """
        return ", ".join([self.kind.removesuffix("Classifier"), *map(str, self.parameters.values())])

    @property
    def model(self) -> type[Any]:
        """Its class."""
        return class_of(self.kind)

    def make(self, **parameters: Any) -> Any:
        """Make a model that has learned nothing yet."""
        settings = {k: value for k, value in parameters.items() if not (k == "calibrate" and self.calibrates_itself)}
        return self.model(**self.parameters, **self.fixed, **settings)


def _gaussian(covariance: str) -> Rung:
    return Rung("GaussianClassifier", {"covariance": covariance}, needs_numbers=True)


LADDER = {
    "naive-bayes": Rung("NaiveBayes"),
    "weighted-naive-bayes": Rung("NaiveBayes", {"weights": "learned"}),
    "gaussian-diagonal": _gaussian("diagonal"),
    "gaussian-shared": _gaussian("shared"),
    "gaussian-full": _gaussian("full"),
    "spode": Rung("SPODE"),
    "tan": Rung("TAN"),
    "aode": Rung("AODE"),
    "weighted-aode": Rung("AODE", {"weights": "learned"}),
    "a2de": Rung("A2DE"),
    "kdb": Rung("KDB"),
    "skdb": Rung("SKDB"),
    "ensemble": Rung("BayesEnsemble", fixed={"random_state": 0}, calibrates_itself=True),
}
"""All models that are compared, each named as on the command line."""
