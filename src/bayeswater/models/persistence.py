"""`save` and `load`: a model as a file, and back.

A file holds the sums, so a model that was loaded goes on learning, merging and forgetting where the saved one stood. It
is data alone: its kind is looked up in the closed list `KINDS`, and all that it says is checked before it is believed.
"""

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from reprlib import repr as shortened
from typing import Any

from sklearn.utils.validation import check_is_fitted

from bayeswater.errors import ModelFileError
from bayeswater.estimate.covariance_priors import Friedman
from bayeswater.files.model_file import Document, require
from bayeswater.models.kinds import HOMES, class_of
from bayeswater.models.on_sums import OnSums, with_sums
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
from bayeswater.models.stored.sums import PARTNERS, SEEN, described_sums, read_n_features, restored_sums
from bayeswater.models.stored.values import (
    CODEC,
    WORD_WEIGHTS,
    OldMap,
    described_words,
    read_calibration,
    read_weights,
    read_words,
)
from bayeswater.models.weighing import WeighsTerms, shapes_of_texts
from bayeswater.records import record
from bayeswater.statistics.category_counts import CategoryCounts
from bayeswater.statistics.column_groups import FAMILIES, PAIRS, ColumnGroups
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


@record
class Kind:
    """A kind of model: the sums of its columns, what its document says, and its groups of sums."""

    columns: type[Statistic]
    fields: frozenset[str] = FIELDS
    groups: Mapping[str, type[Statistic]] | None = None  # of a table of states


KINDS = {
    "GaussianNB": Kind(Moments),
    "MultinomialNB": Kind(FeatureSums),
    "ComplementNB": Kind(FeatureSums),
    "BernoulliNB": Kind(BinaryCounts),
    "CategoricalNB": Kind(CategoryCounts),
    "NaiveBayes": Kind(ColumnGroups, MIXED),
    "SPODE": Kind(ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "TAN": Kind(ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "AODE": Kind(ColumnGroups, DISCRETE, {PAIRS: PairCounts}),
    "A2DE": Kind(ColumnGroups, DISCRETE, {PAIRS: TripleCounts}),
    "KDB": Kind(ColumnGroups, DISCRETE | {"parents"}, {PAIRS: PairCounts, FAMILIES: ParentCounts}),
    "SKDB": Kind(ColumnGroups, DISCRETE | {"parents"}, {PAIRS: PairCounts, FAMILIES: ParentCounts}),
    "GaussianClassifier": Kind(Scatter, GAUSSIAN),
}
"""Models that are read off sums; a new one joins by a line here and one in `models/kinds.py`."""

WRAPPERS = ("Calibrated", "BayesDecision")
"""What may be around any of them."""

Described = tuple[Document, dict[str, Array]]
Form = tuple[Callable[[Any], Described], Callable[[Document, dict[str, Array]], Any]]
"""How a document and its arrays are made of a model, and how they are read."""


def _form_of_networks() -> Form:
    from bayeswater.models.network.bayesian_network import BayesianNetwork
    from bayeswater.models.network.stored_network import described_network, restored_network

    return (
        lambda model: described_network(model.core, model.title, model.remarks),
        lambda document, arrays: BayesianNetwork.from_core(*restored_network(document, arrays)),
    )


def _form_of_mixed_networks() -> Form:
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
    from bayeswater.models.mixed_networks.stored_mixed import described_mixed, restored_mixed

    return (
        lambda model: described_mixed(model.core, *model.learned_from),
        lambda document, arrays: MixedNetwork.from_core(*restored_mixed(document, arrays)),
    )


def _form_of_ensembles() -> Form:
    from bayeswater.models.stored_models import described_ensemble, restored_ensemble

    return described_ensemble, restored_ensemble


def _form_of_network_classifiers() -> Form:
    from bayeswater.models.stored_models import described_classifier, restored_classifier

    return described_classifier, restored_classifier


def _form_of_wrappers() -> Form:
    from bayeswater.models.stored_models import described_wrapper, restored_wrapper

    return (
        lambda model: described_wrapper(model, _document_of),
        lambda document, arrays: restored_wrapper(document, arrays, _restored),
    )


OWN_FORMS = {
    "BayesianNetwork": _form_of_networks,
    "MixedNetwork": _form_of_mixed_networks,
    "BayesEnsemble": _form_of_ensembles,
    "NetworkClassifier": _form_of_network_classifiers,
    **dict.fromkeys(WRAPPERS, _form_of_wrappers),
}
"""Models whose document and arrays are their own."""


def save(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model to a file; an existing one is replaced.

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
    inside, kind = model, _kind_of(model)
    if kind not in ("BayesianNetwork", "MixedNetwork"):
        check_is_fitted(model)
    while kind in WRAPPERS:
        inside = inside.estimator_
        kind = _kind_of(inside)
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
    save : Write a fitted model to a file; an existing one is replaced.

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


def _kind_of(model: Any) -> str:
    """Name the kind of a model; what is none that a file can hold is refused."""
    own = type(model)
    if f"bayeswater.{HOMES.get(own.__name__)}" != own.__module__:
        raise ModelFileError(f"cannot save {shortened(model)}: it is none of {', '.join(HOMES)}")
    return own.__name__


def _document_of(model: Any) -> Described:
    kind = _kind_of(model)
    if kind in OWN_FORMS:
        describe, _ = OWN_FORMS[kind]()
        return describe(model)
    return _described(model, kind)


def _described(model: OnSums, kind: str) -> Described:
    written, arrays = described_sums(model.statistics_)
    document = {**described_head(model, kind, frames_of(model)), **written}
    if "calibration" in KINDS[kind].fields or "calibration_" in vars(model):
        document["calibration"] = CODEC.encode(vars(model).get("calibration_"), "the calibration")
    if "term_weights_" in vars(model):
        document["weights"] = CODEC.encode(vars(model)["term_weights_"], "the weights")
    if vars(model).get("word_weights_"):
        document[WORD_WEIGHTS], weights = described_words(vars(model)["word_weights_"])
        arrays = {**arrays, **weights}
    if "shrinkage" in KINDS[kind].fields:
        document["shrinkage"] = CODEC.encode(vars(model).get("shrinkage_"), "the shrinkage that was chosen")
    if "structure" in KINDS[kind].fields:
        document["structure"] = CODEC.encode(vars(model).get("structure_"), "the structure that was chosen")
    if isinstance(model.statistics_.columns, ColumnGroups):
        document["n_features"] = int(model.n_features_in_)
    return document, arrays


def _restored(document: Document, arrays: dict[str, Array]) -> Any:
    name = document.get("kind", "")
    require(isinstance(name, str) and name in HOMES, f"it holds a {shortened(name)}, which is none of {[*HOMES]}")
    if name in OWN_FORMS:
        _, restore = OWN_FORMS[name]()
        return restore(document, arrays)
    kind = KINDS[name]
    model_class = class_of(name)
    optional = {SEEN, "calibration", *((WORD_WEIGHTS, "weights") if issubclass(model_class, WeighsTerms) else ())}
    if kind.groups is not None and kind.groups[PAIRS] is PairCounts:
        optional |= {PARTNERS}
    require_fields(document, kind.fields, optional - kind.fields)
    weights = {name: array for name, array in arrays.items() if name.startswith(f"{WORD_WEIGHTS}.")}
    arrays = {name: array for name, array in arrays.items() if name not in weights}
    keeps_fourth = kind.columns is Scatter and "columns.fourth" in arrays  # a model that is shrunk by them
    sums = restored_sums(FourthMoments if keeps_fourth else kind.columns, document, arrays, kind.groups)
    model = with_parameters(model_class, document["parameters"])
    if "shrinkage" in kind.fields:
        _shrink(model, document["shrinkage"])
    if "structure" in kind.fields:
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


def _shrink(model: Any, written: Any) -> None:
    """Restore what shrinkage was chosen by the first fit, if it was left to choose."""
    chosen = CODEC.decode(written, "the shrinkage that was chosen")
    is_auto = isinstance(model.shrinkage, str) and model.shrinkage == "auto"
    require(isinstance(chosen, Friedman) or (chosen is None and not is_auto), f"its shrinkage is {shortened(chosen)}")
    if chosen is not None:
        model.shrinkage_ = chosen


def _structure(model: Any, written: Any, sums: Any) -> None:
    """Restore what structure was chosen by the fit, if it was left to choose."""
    from bayeswater.models.semi_naive.state_classifier import can_be_structure

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
