"""`save` and `load`: a model as a file, and back.

A file holds the sums, so a model that was loaded goes on learning, merging and forgetting where the saved one stood. It
is data alone: its kind is looked up in the closed list `KINDS`, and all that it says is checked before it is believed.
"""

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayeswater.decision.bayes_decision import BayesDecision
from bayeswater.decision.calibrated import Calibrated
from bayeswater.errors import ModelFileError
from bayeswater.estimate.covariance_priors import Friedman
from bayeswater.files.model_file import Document, require
from bayeswater.models.categorical_nb import CategoricalNB
from bayeswater.models.ensemble.bayes_ensemble import BayesEnsemble
from bayeswater.models.feature_nb import BernoulliNB, ComplementNB, MultinomialNB
from bayeswater.models.gaussian_classifier import GaussianClassifier
from bayeswater.models.gaussian_nb import GaussianNB
from bayeswater.models.mixed.naive_bayes import NaiveBayes
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.mixed_networks.stored_mixed import KIND as MIXED_NETWORK
from bayeswater.models.mixed_networks.stored_mixed import described_mixed, restored_mixed
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.network.stored_network import KIND as NETWORK
from bayeswater.models.network.stored_network import described_network, restored_network
from bayeswater.models.on_sums import OnSums, with_sums
from bayeswater.models.semi_naive.aode import A2DE, AODE
from bayeswater.models.semi_naive.kdb import KDB, SKDB
from bayeswater.models.semi_naive.learning import FAMILIES, PAIRS
from bayeswater.models.semi_naive.state_classifier import StateClassifier, can_be_structure
from bayeswater.models.semi_naive.tan import SPODE, TAN
from bayeswater.models.settings import frames_of, with_columns
from bayeswater.models.stored.documents import (
    FIELDS,
    TABLE_FIELDS,
    described_head,
    read_columns,
    read_document,
    require_fields,
    with_parameters,
    write_document,
)
from bayeswater.models.stored.sums import SEEN, described_sums, read_n_features, restored_sums
from bayeswater.models.stored.values import (
    CODEC,
    WORD_WEIGHTS,
    OldMap,
    described_words,
    read_calibration,
    read_weights,
    read_words,
)
from bayeswater.models.stored_models import (
    CLASSIFIER,
    ENSEMBLE,
    described_classifier,
    described_ensemble,
    described_wrapper,
    restored_classifier,
    restored_ensemble,
    restored_wrapper,
)
from bayeswater.models.structures.network_classifier import NetworkClassifier
from bayeswater.models.weighing import WeighsTerms, shapes_of_texts
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.feature_sums import BinaryCounts, FeatureSums
from bayeswater.statistics.fourth_moments import FourthMoments
from bayeswater.statistics.moments import Moments
from bayeswater.statistics.pair_counts import PairCounts, TripleCounts
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.scatter import Scatter
from bayeswater.statistics.statistic import Statistic
from bayeswater.typing import Array

MIXED = TABLE_FIELDS | {"calibration"}
"""What the document of a table that is read by a plan says: with it, how probabilities were calibrated."""

DISCRETE = MIXED | {"structure"}
"""What the document of a table of states says: with it, what structure its fit chose."""

GAUSSIAN = FIELDS | {"calibration", "shrinkage"}
"""What the document of Gaussian classes says: with it, what shrinkage its first fit chose."""


@dataclass(frozen=True)
class Kind:
    """A kind of model: its class, that of the sums of its columns, what its document says, and its groups of sums."""

    model: type[OnSums]
    columns: type[Statistic]
    fields: frozenset[str] = FIELDS
    groups: Mapping[str, type[Statistic]] | None = None  # of a table of states

    @property
    def optional(self) -> frozenset[str]:
        """What a document may say: files without a calibration or weights do without the field."""
        weights = {"weights", WORD_WEIGHTS} if issubclass(self.model, WeighsTerms) else set()
        return frozenset({"calibration", *weights}) - self.fields


KINDS = {
    "GaussianNB": Kind(GaussianNB, Moments),
    "MultinomialNB": Kind(MultinomialNB, FeatureSums),
    "ComplementNB": Kind(ComplementNB, FeatureSums),
    "BernoulliNB": Kind(BernoulliNB, BinaryCounts),
    "CategoricalNB": Kind(CategoricalNB, CategoryCounts),
    "NaiveBayes": Kind(NaiveBayes, ColumnGroups, MIXED),
    "SPODE": Kind(SPODE, ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "TAN": Kind(TAN, ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "AODE": Kind(AODE, ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "A2DE": Kind(A2DE, ColumnGroups, DISCRETE, {PAIRS: TripleCounts}),
    "KDB": Kind(KDB, ColumnGroups, DISCRETE | {"parents"}, {PAIRS: PairCounts, FAMILIES: ParentCounts}),
    "SKDB": Kind(SKDB, ColumnGroups, DISCRETE | {"parents"}, {PAIRS: PairCounts, FAMILIES: ParentCounts}),
    "GaussianClassifier": Kind(GaussianClassifier, Scatter, GAUSSIAN),
}
"""All that a file may hold; a new model joins by a line here."""

OWN_FORMS: dict[str, tuple[Any, Any]] = {
    NETWORK: (
        lambda model: described_network(model.core, model.title, model.remarks),
        lambda document, arrays: BayesianNetwork.from_core(*restored_network(document, arrays)),
    ),
    MIXED_NETWORK: (
        lambda model: described_mixed(model.core, *model.learned_from),
        lambda document, arrays: MixedNetwork.from_core(*restored_mixed(document, arrays)),
    ),
    ENSEMBLE: (described_ensemble, restored_ensemble),
    CLASSIFIER: (described_classifier, restored_classifier),
}
"""Models whose document and arrays are their own: how they are made, and how they are read."""


WRAPPERS: tuple[type, ...] = (Calibrated, BayesDecision)
"""What may be around any of them."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file, in the place of the one that is there.

    The file is whole at every moment: a process that is killed leaves the old one or the new one.

    Parameters
    ----------
    model : fitted model
        A classifier or network of Bayeswater, or a `Calibrated` or `BayesDecision` around one.
    path : str or path
        The file; ``.bayes`` is the usual ending.

    Raises
    ------
    ModelFileError
        Where the file cannot be written, or the model holds something that a file cannot, such as a function.

    See Also
    --------
    load : Read a model from a file that `save` wrote: equal to the saved one, to the bit.
    export : Write a fitted classifier as a program that gives the same answers without this library.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayeswater.models.gaussian_nb import GaussianNB
    >>> model = GaussianNB().fit([[1.0], [2.0], [9.0], [8.0]], ["low", "low", "high", "high"])
    >>> with TemporaryDirectory() as folder:
    ...     save(model, Path(folder) / "level.bayes")
    ...     again = load(Path(folder) / "level.bayes")
    >>> again.partial_fit([[3.0]], ["low"]).class_count_
    array([2., 3.])
    """
    _require_kind(model)
    if type(model) not in (BayesianNetwork, MixedNetwork):
        check_is_fitted(model)
    inside = model
    while type(inside) in WRAPPERS:
        inside = inside.estimator_
        _require_kind(inside)
    write_document(Path(path), partial(_document_of, model), _restored)


def load(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file that `save` wrote: equal to the saved one, to the bit.

    Nothing in a file is ever run or imported, whoever made it.

    Parameters
    ----------
    path : path
        Name of the file.

    Returns
    -------
    classifier or network
        Of the class that was saved.

    Raises
    ------
    ModelFileError
        Where there is no such file, or it is damaged, of another kind or of an unknown version.

    See Also
    --------
    save : Write a fitted model to a file, in the place of the one that is there.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from bayeswater import GaussianNB, load, save
    >>> with TemporaryDirectory() as folder:
    ...     save(GaussianNB().fit([[0], [1], [8], [9]], ["a", "a", "b", "b"]), Path(folder) / "level.bayes")
    ...     load(Path(folder) / "level.bayes").predict([[7]])
    array(['b'], dtype='<U1')
    """
    return read_document(Path(path), _restored)


# ---------------------------------------------------------------------- between a model and its document


def _require_kind(model: Any) -> None:
    """Refuse what is none of the models that a file can hold."""
    known: tuple[type, ...] = (
        *(kind.model for kind in KINDS.values()),
        BayesianNetwork,
        MixedNetwork,
        BayesEnsemble,
        NetworkClassifier,
        *WRAPPERS,
    )
    if type(model) not in known:
        names = ", ".join(kind.__name__ for kind in known)
        raise ModelFileError(f"cannot save {shortened(model)}: it is none of {names}")


def _document_of(model: Any) -> tuple[Document, dict[str, Array]]:
    if type(model) in WRAPPERS:
        return described_wrapper(model, _document_of)
    describe, _ = OWN_FORMS.get(type(model).__name__, (None, None))
    if describe is not None:
        found: tuple[Document, dict[str, Array]] = describe(model)
        return found
    return _described(model, next(name for name, kind in KINDS.items() if type(model) is kind.model))


def _described(model: OnSums, kind: str) -> tuple[Document, dict[str, Array]]:
    written, arrays = described_sums(model.statistics_)
    document = {**described_head(model, kind, frames_of(model)), **written}
    if "calibration" in KINDS[kind].fields or "calibration_" in vars(model):
        document["calibration"] = CODEC.encode(vars(model).get("calibration_"), "the calibration")
    if "term_weights_" in vars(model):
        document["weights"] = CODEC.encode(vars(model)["term_weights_"], "the weights")
    if vars(model).get("word_weights_"):
        document[WORD_WEIGHTS], weights = described_words(vars(model)["word_weights_"])
        arrays = {**arrays, **weights}
    if isinstance(model, GaussianClassifier):
        document["shrinkage"] = CODEC.encode(vars(model).get("shrinkage_"), "the shrinkage that was chosen")
    if isinstance(model, StateClassifier):
        document["structure"] = CODEC.encode(vars(model).get("structure_"), "the structure that was chosen")
    if isinstance(model.statistics_.columns, ColumnGroups):
        document["n_features"] = int(model.n_features_in_)
    return document, arrays


def _restored(document: Document, arrays: dict[str, Array]) -> Any:
    name = document.get("kind", "")
    if isinstance(name, str) and name in {wrapper.__name__ for wrapper in WRAPPERS}:
        return restored_wrapper(document, arrays, _restored)
    if isinstance(name, str) and name in OWN_FORMS:
        return OWN_FORMS[name][1](document, arrays)
    known = [*KINDS, *OWN_FORMS]
    require(isinstance(name, str) and name in KINDS, f"it holds a {shortened(name)}, which is none of {known}")
    kind = KINDS[name]
    require_fields(document, kind.fields, {SEEN, *kind.optional})
    weights = {name: array for name, array in arrays.items() if name.startswith(f"{WORD_WEIGHTS}.")}
    arrays = {name: array for name, array in arrays.items() if name not in weights}
    keeps_fourth = kind.columns is Scatter and "columns.fourth" in arrays  # a model that is shrunk by them
    sums = restored_sums(FourthMoments if keeps_fourth else kind.columns, document, arrays, kind.groups)
    model = with_parameters(kind.model, document["parameters"])
    if isinstance(model, GaussianClassifier):
        _shrink(model, document["shrinkage"])
    if isinstance(model, StateClassifier):
        _structure(model, document["structure"], sums)
    plan = sums.columns.plan if isinstance(sums.columns, ColumnGroups) else None
    with_columns(model, *read_columns(document, _n_features(sums.columns, document), plan))
    with_sums(model, sums)
    if document.get("calibration") is not None:
        _calibrate(model, document["calibration"])
    if isinstance(model, WeighsTerms) and document.get("weights") is not None:
        model.term_weights_ = read_weights(document["weights"], len(model.classes_))
    if isinstance(model, WeighsTerms) and document.get(WORD_WEIGHTS) is not None:
        model.word_weights_ = read_words(document[WORD_WEIGHTS], weights, shapes_of_texts(model))
    require(not weights, f"it holds arrays that nothing is known of: {[*weights]}")
    return model


def _n_features(columns: Any, document: Document) -> int:
    if isinstance(columns, ColumnGroups):
        return read_n_features(document["n_features"], columns)
    return len(columns.schema) if isinstance(columns, CategoryCounts) else columns.n_columns


def _shrink(model: GaussianClassifier, written: Any) -> None:
    """Restore what shrinkage was chosen by the first fit, if it was left to choose."""
    chosen = CODEC.decode(written, "the shrinkage that was chosen")
    is_auto = isinstance(model.shrinkage, str) and model.shrinkage == "auto"
    require(isinstance(chosen, Friedman) or (chosen is None and not is_auto), f"its shrinkage is {shortened(chosen)}")
    if chosen is not None:
        model.shrinkage_ = chosen


def _structure(model: StateClassifier, written: Any, sums: Any) -> None:
    """Restore what structure was chosen by the fit, if it was left to choose."""
    chosen = CODEC.decode(written, "the structure that was chosen")
    led_to = "no fit with these parameters and sums leads to; if they were changed, set them back or fit again"
    require(can_be_structure(model, chosen, sums), f"its structure is {shortened(chosen)}, which {led_to}")
    if chosen is not None:
        model.structure_ = chosen


def _calibrate(model: OnSums, written: Any) -> None:
    report = read_calibration(written, len(model.classes_))
    if isinstance(report.map, OldMap):
        report = replace(report, map=report.map.of_likelihood(model.class_log_prior_))
    model.calibration_ = report.in_library(frames_of(model))
