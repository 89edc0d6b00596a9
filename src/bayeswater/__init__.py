"""Bayesian classification on one set of counts: from naive Bayes to Bayesian networks.

Everything learned from data is a sum: rows are added into statistics, parameters are read off them.
Names are imported on first use, so that ``import bayeswater`` costs next to nothing.
"""

from typing import TYPE_CHECKING

from bayeswater.lazy_names import lazy_names
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
    from bayeswater.exports.exporting import export
    from bayeswater.kernels.threads import threads
    from bayeswater.models.categorical_nb import CategoricalNB
    from bayeswater.models.comparing.compare import compare
    from bayeswater.models.drifting import drift
    from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
    from bayeswater.models.feature_nb import BernoulliNB, ComplementNB, MultinomialNB
    from bayeswater.models.gaussian_classifier import GaussianClassifier
    from bayeswater.models.gaussian_nb import GaussianNB
    from bayeswater.models.mixed.naive_bayes import NaiveBayes
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.decision_network import DecisionNetwork
    from bayeswater.models.network.hidden import latent_classes, learn_hidden
    from bayeswater.models.persistence import load, save
    from bayeswater.models.semi_naive.a2de import A2DE
    from bayeswater.models.semi_naive.aode import AODE
    from bayeswater.models.semi_naive.kdb import KDB, SKDB
    from bayeswater.models.semi_naive.tan import SPODE, TAN
    from bayeswater.models.structures.blanket_learning import learn_blanket
    from bayeswater.models.structures.bootstrapping import average_structures, bootstrap_structure
    from bayeswater.models.structures.cross_validation import cross_validate_structure
    from bayeswater.models.structures.independence_testing import independence_test
    from bayeswater.models.structures.network_classifier import NetworkClassifier
    from bayeswater.models.structures.structure_learning import description_length, learn_structure, score_structure
    from bayeswater.networks.conditionals import Deterministic
    from bayeswater.networks.noisy_causes import NoisyAnd, NoisyMax, NoisyOr
    from bayeswater.networks.regressions import LinearGaussian
    from bayeswater.reports.audit import audit
    from bayeswater.web.exploring import explore

_HOMES = {
    "data.looking": ("look",),
    "data.reading.discretising.discretizer": ("Discretizer",),
    "data.reading.text": ("TextAnalyser",),
    "data.sources.recognising": ("local_rows", "spooled"),
    "data.sources.table_reading": ("read_table",),
    "decision.bayes_decision": ("BayesDecision",),
    "decision.calibrated": ("Calibrated",),
    "decision.loss": ("Loss",),
    "estimate.covariance_priors": ("Friedman", "NormalInverseWishart"),
    "estimate.dirichlet": ("Beta", "Dirichlet"),
    "estimate.normal_parameters": ("NormalInverseGamma",),
    "exports.exporting": ("export",),
    "kernels.threads": ("threads",),
    "models.categorical_nb": ("CategoricalNB",),
    "models.comparing.compare": ("compare",),
    "models.drifting": ("drift",),
    "models.ensemble.bayes_ensemble": ("BayesEnsemble",),
    "models.feature_nb": ("BernoulliNB", "ComplementNB", "MultinomialNB"),
    "models.gaussian_classifier": ("GaussianClassifier",),
    "models.gaussian_nb": ("GaussianNB",),
    "models.mixed.naive_bayes": ("NaiveBayes",),
    "models.mixed_networks.mixed_network": ("MixedNetwork",),
    "models.network.bayesian_network": ("BayesianNetwork",),
    "models.network.decision_network": ("DecisionNetwork",),
    "models.network.hidden": ("latent_classes", "learn_hidden"),
    "models.persistence": ("load", "save"),
    "models.semi_naive.a2de": ("A2DE",),
    "models.semi_naive.aode": ("AODE",),
    "models.semi_naive.kdb": ("KDB", "SKDB"),
    "models.semi_naive.tan": ("SPODE", "TAN"),
    "models.structures.blanket_learning": ("learn_blanket",),
    "models.structures.bootstrapping": ("average_structures", "bootstrap_structure"),
    "models.structures.cross_validation": ("cross_validate_structure",),
    "models.structures.independence_testing": ("independence_test",),
    "models.structures.network_classifier": ("NetworkClassifier",),
    "models.structures.structure_learning": ("description_length", "learn_structure", "score_structure"),
    "networks.conditionals": ("Deterministic",),
    "networks.noisy_causes": ("NoisyAnd", "NoisyMax", "NoisyOr"),
    "networks.regressions": ("LinearGaussian",),
    "reports.audit": ("audit",),
    "web.exploring": ("explore",),
}
"""The modules of all public names but those of errors and warnings."""

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
    "DecisionNetwork",
    "Deterministic",
    "Dirichlet",
    "Discretizer",
    "DominatedActionWarning",
    "Friedman",
    "GaussianClassifier",
    "GaussianNB",
    "ImpossibleEvidence",
    "ImpossibleEvidenceWarning",
    "LinearGaussian",
    "Loss",
    "MixedNetwork",
    "ModelFileError",
    "MultinomialNB",
    "NaiveBayes",
    "NetworkClassifier",
    "NetworkFileError",
    "NetworkFileWarning",
    "NoisyAnd",
    "NoisyMax",
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
    "audit",
    "average_structures",
    "bootstrap_structure",
    "compare",
    "cross_validate_structure",
    "description_length",
    "drift",
    "explore",
    "export",
    "independence_test",
    "latent_classes",
    "learn_blanket",
    "learn_hidden",
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

_HOME = dict.fromkeys(__all__, "errors") | {name: home for home, names in _HOMES.items() for name in names}

__getattr__, __dir__ = lazy_names(__name__, _HOME)
