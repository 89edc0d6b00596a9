"""The ladder: from naive Bayes, whose columns are independent, to models in which they depend on each other.

The names are those of the command line. Every model starts with its defaults; the Gaussian forms read numbers alone.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
from bayeswater.models.gaussian.gaussian_classifier import GaussianClassifier
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.semi_naive.a2de import A2DE
from bayeswater.models.semi_naive.aode import AODE
from bayeswater.models.semi_naive.kdb import KDB
from bayeswater.models.semi_naive.skdb import SKDB
from bayeswater.models.semi_naive.spode import SPODE
from bayeswater.models.semi_naive.tan import TAN


@dataclass(frozen=True)
class Rung:
    """A kind of model: its class, and what it is told beyond the defaults.

    Its name shows the `parameters`, and not what is `fixed`. A model that `calibrates_itself` is not told whether to.
    """

    model: type[Any]
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
        return ", ".join([self.model.__name__.removesuffix("Classifier"), *map(str, self.parameters.values())])

    def make(self, **parameters: Any) -> Any:
        """Make a model that has learned nothing yet."""
        told = {k: value for k, value in parameters.items() if not (k == "calibrate" and self.calibrates_itself)}
        return self.model(**self.parameters, **self.fixed, **told)


def _gaussian(covariance: str) -> Rung:
    return Rung(GaussianClassifier, {"covariance": covariance}, needs_numbers=True)


LADDER = {
    "naive-bayes": Rung(NaiveBayes),
    "gaussian-diagonal": _gaussian("diagonal"),
    "gaussian-shared": _gaussian("shared"),
    "gaussian-full": _gaussian("full"),
    "spode": Rung(SPODE),
    "tan": Rung(TAN),
    "aode": Rung(AODE),
    "a2de": Rung(A2DE),
    "kdb": Rung(KDB),
    "skdb": Rung(SKDB),
    "ensemble": Rung(BayesEnsemble, fixed={"random_state": 0}, calibrates_itself=True),
}
"""All models that are compared, each named as on the command line."""
