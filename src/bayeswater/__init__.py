"""Bayesian classification on one set of counts: from naive Bayes to Bayesian networks.

Everything learned from data is a sum: rows are added into statistics, parameters are read off them.
Names are imported on first use, so that ``import bayeswater`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayeswater.version import __version__ as __version__

if TYPE_CHECKING:
    from bayeswater.decision.bayes_decision import BayesDecision
    from bayeswater.decision.calibrated import Calibrated
    from bayeswater.decision.loss import Loss
    from bayeswater.errors import (
        BayesError,
        BayesWarning,
        ConvergenceWarning,
        DataError,
        DominatedActionWarning,
        ImpossibleEvidenceWarning,
        ModelFileError,
        ParameterError,
        PrecisionWarning,
        ResourceLimitError,
        SchemaError,
        SingularCovarianceWarning,
        StatisticsError,
        UnseenCategoryWarning,
    )
    from bayeswater.estimate.dirichlet import Beta, Dirichlet
    from bayeswater.estimate.gaussian import NormalInverseGamma
    from bayeswater.estimate.shrinkage import Friedman
    from bayeswater.estimate.wishart import NormalInverseWishart
    from bayeswater.kernels.threads import threads
    from bayeswater.models.bernoulli_nb import BernoulliNB
    from bayeswater.models.categorical_nb import CategoricalNB
    from bayeswater.models.complement_nb import ComplementNB
    from bayeswater.models.gaussian_classifier import GaussianClassifier
    from bayeswater.models.gaussian_nb import GaussianNB
    from bayeswater.models.multinomial_nb import MultinomialNB
    from bayeswater.models.naive_bayes import NaiveBayes
    from bayeswater.models.persistence import load, save

_HOME = {
    "BernoulliNB": "models.bernoulli_nb",
    "CategoricalNB": "models.categorical_nb",
    "ComplementNB": "models.complement_nb",
    "GaussianClassifier": "models.gaussian_classifier",
    "GaussianNB": "models.gaussian_nb",
    "MultinomialNB": "models.multinomial_nb",
    "NaiveBayes": "models.naive_bayes",
    "BayesDecision": "decision.bayes_decision",
    "Calibrated": "decision.calibrated",
    "Loss": "decision.loss",
    "Beta": "estimate.dirichlet",
    "Dirichlet": "estimate.dirichlet",
    "Friedman": "estimate.shrinkage",
    "NormalInverseGamma": "estimate.gaussian",
    "NormalInverseWishart": "estimate.wishart",
    "load": "models.persistence",
    "save": "models.persistence",
    "threads": "kernels.threads",
    "BayesError": "errors",
    "BayesWarning": "errors",
    "ConvergenceWarning": "errors",
    "DataError": "errors",
    "DominatedActionWarning": "errors",
    "ImpossibleEvidenceWarning": "errors",
    "ModelFileError": "errors",
    "ParameterError": "errors",
    "PrecisionWarning": "errors",
    "ResourceLimitError": "errors",
    "SchemaError": "errors",
    "SingularCovarianceWarning": "errors",
    "StatisticsError": "errors",
    "UnseenCategoryWarning": "errors",
}

__all__ = [
    "BayesDecision",
    "BayesError",
    "BayesWarning",
    "BernoulliNB",
    "Beta",
    "Calibrated",
    "CategoricalNB",
    "ComplementNB",
    "ConvergenceWarning",
    "DataError",
    "Dirichlet",
    "DominatedActionWarning",
    "Friedman",
    "GaussianClassifier",
    "GaussianNB",
    "ImpossibleEvidenceWarning",
    "Loss",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "ParameterError",
    "PrecisionWarning",
    "ResourceLimitError",
    "SchemaError",
    "SingularCovarianceWarning",
    "StatisticsError",
    "UnseenCategoryWarning",
    "load",
    "save",
    "threads",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'bayeswater' has no attribute {name!r}")
    value = getattr(import_module(f"bayeswater.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
