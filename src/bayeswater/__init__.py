"""Bayesian classification on one set of counts: from naive Bayes to Bayesian networks.

Everything learned from data is a sum: rows are added into statistics, parameters are read off them.
Names are imported on first use, so that ``import bayeswater`` costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from bayeswater.version import __version__ as __version__

if TYPE_CHECKING:
    from bayeswater.data.looking import look
    from bayeswater.data.reading.discretising.discretizer import Discretizer
    from bayeswater.data.reading.text import TextAnalyser
    from bayeswater.data.sources.recognising import local_rows, spooled
    from bayeswater.data.sources.table_reading import read_table
    from bayeswater.decision.bayes_decision import BayesDecision
    from bayeswater.decision.calibrated import Calibrated
    from bayeswater.decision.loss import Loss
    from bayeswater.errors import (
        BayesError,
        BayesWarning,
        ConvergenceWarning,
        DataError,
        DominatedActionWarning,
        ImpossibleEvidence,
        ImpossibleEvidenceWarning,
        ModelFileError,
        NetworkFileError,
        NetworkFileWarning,
        NormalisedTableWarning,
        ParameterError,
        PrecisionWarning,
        ReadingWarning,
        ResourceLimitError,
        RoundedTableWarning,
        SamplingError,
        SchemaError,
        SingularCovarianceWarning,
        StatisticsError,
        UnseenCategoryWarning,
    )
    from bayeswater.estimate.covariance_priors import Friedman, NormalInverseWishart
    from bayeswater.estimate.dirichlet import Beta, Dirichlet
    from bayeswater.estimate.normal_parameters import NormalInverseGamma
    from bayeswater.kernels.threads import threads
    from bayeswater.models.categorical_nb import CategoricalNB
    from bayeswater.models.comparing.compare import compare
    from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
    from bayeswater.models.feature_nb import BernoulliNB, ComplementNB, MultinomialNB
    from bayeswater.models.gaussian.gaussian_classifier import GaussianClassifier
    from bayeswater.models.gaussian_nb import GaussianNB
    from bayeswater.models.mixed.naive_bayes import NaiveBayes
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.persistence import load, save
    from bayeswater.models.semi_naive.a2de import A2DE
    from bayeswater.models.semi_naive.aode import AODE
    from bayeswater.models.semi_naive.kdb import KDB
    from bayeswater.models.semi_naive.skdb import SKDB
    from bayeswater.models.semi_naive.spode import SPODE
    from bayeswater.models.semi_naive.tan import TAN
    from bayeswater.models.structures.bootstrapping import bootstrap_structure
    from bayeswater.models.structures.network_classifier import NetworkClassifier
    from bayeswater.models.structures.structure_learning import description_length, learn_structure, score_structure
    from bayeswater.networks.conditionals import Deterministic, NoisyOr

_HOME = {
    "BayesEnsemble": "models.ensemble.bayes_ensemble",
    "BayesianNetwork": "models.network.bayesian_network",
    "bootstrap_structure": "models.structures.bootstrapping",
    "description_length": "models.structures.structure_learning",
    "learn_structure": "models.structures.structure_learning",
    "score_structure": "models.structures.structure_learning",
    "A2DE": "models.semi_naive.a2de",
    "AODE": "models.semi_naive.aode",
    "KDB": "models.semi_naive.kdb",
    "SKDB": "models.semi_naive.skdb",
    "SPODE": "models.semi_naive.spode",
    "TAN": "models.semi_naive.tan",
    "BernoulliNB": "models.feature_nb",
    "CategoricalNB": "models.categorical_nb",
    "ComplementNB": "models.feature_nb",
    "GaussianClassifier": "models.gaussian.gaussian_classifier",
    "GaussianNB": "models.gaussian_nb",
    "MultinomialNB": "models.feature_nb",
    "NaiveBayes": "models.mixed.naive_bayes",
    "NetworkClassifier": "models.structures.network_classifier",
    "Discretizer": "data.reading.discretising.discretizer",
    "TextAnalyser": "data.reading.text",
    "local_rows": "data.sources.recognising",
    "look": "data.looking",
    "spooled": "data.sources.recognising",
    "read_table": "data.sources.table_reading",
    "BayesDecision": "decision.bayes_decision",
    "Calibrated": "decision.calibrated",
    "Loss": "decision.loss",
    "Beta": "estimate.dirichlet",
    "Dirichlet": "estimate.dirichlet",
    "Friedman": "estimate.covariance_priors",
    "NormalInverseGamma": "estimate.normal_parameters",
    "NormalInverseWishart": "estimate.covariance_priors",
    "Deterministic": "networks.conditionals",
    "NoisyOr": "networks.conditionals",
    "compare": "models.comparing.compare",
    "load": "models.persistence",
    "save": "models.persistence",
    "threads": "kernels.threads",
    "BayesError": "errors",
    "BayesWarning": "errors",
    "ConvergenceWarning": "errors",
    "DataError": "errors",
    "DominatedActionWarning": "errors",
    "ImpossibleEvidence": "errors",
    "ImpossibleEvidenceWarning": "errors",
    "ModelFileError": "errors",
    "NetworkFileError": "errors",
    "NetworkFileWarning": "errors",
    "NormalisedTableWarning": "errors",
    "ParameterError": "errors",
    "PrecisionWarning": "errors",
    "ReadingWarning": "errors",
    "ResourceLimitError": "errors",
    "RoundedTableWarning": "errors",
    "SamplingError": "errors",
    "SchemaError": "errors",
    "SingularCovarianceWarning": "errors",
    "StatisticsError": "errors",
    "UnseenCategoryWarning": "errors",
}

__all__ = [
    "A2DE",
    "AODE",
    "KDB",
    "SKDB",
    "SPODE",
    "TAN",
    "BayesDecision",
    "BayesEnsemble",
    "BayesError",
    "BayesWarning",
    "BayesianNetwork",
    "BernoulliNB",
    "Beta",
    "Calibrated",
    "CategoricalNB",
    "ComplementNB",
    "ConvergenceWarning",
    "DataError",
    "Deterministic",
    "Dirichlet",
    "Discretizer",
    "DominatedActionWarning",
    "Friedman",
    "GaussianClassifier",
    "GaussianNB",
    "ImpossibleEvidence",
    "ImpossibleEvidenceWarning",
    "Loss",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "NetworkClassifier",
    "NetworkFileError",
    "NetworkFileWarning",
    "NoisyOr",
    "NormalInverseGamma",
    "NormalInverseWishart",
    "NormalisedTableWarning",
    "ParameterError",
    "PrecisionWarning",
    "ReadingWarning",
    "ResourceLimitError",
    "RoundedTableWarning",
    "SamplingError",
    "SchemaError",
    "SingularCovarianceWarning",
    "StatisticsError",
    "TextAnalyser",
    "UnseenCategoryWarning",
    "bootstrap_structure",
    "compare",
    "description_length",
    "learn_structure",
    "load",
    "local_rows",
    "look",
    "read_table",
    "save",
    "score_structure",
    "spooled",
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
