"""`save` and `load`: a loaded model is the saved one, to the bit, and goes on from there."""

import os
import pickle
import re
from datetime import UTC, date, datetime, time, timedelta
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import naive_bayes
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from tests.files.hostile import forged, unpacked
from tests.laws.tables import CODES, COUNTS, MARKS, QUARTERS, Rows, any_weights, tables
from tests.models.same_model import reloaded, require_same_model

import bayeswater
from bayeswater import (
    BernoulliNB,
    Beta,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    GaussianNB,
    ModelFileError,
    MultinomialNB,
    NaiveBayes,
    NormalInverseGamma,
    load,
    models,
    save,
)
from bayeswater.models.on_sums import OnSums
from bayeswater.models.persistence import KINDS

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")  # of models that are not smoothed

CELLS = {
    GaussianNB: QUARTERS,
    MultinomialNB: COUNTS | st.sampled_from([0.5, 1 / 3]),
    ComplementNB: COUNTS,
    BernoulliNB: MARKS,
    CategoricalNB: CODES,
}
LABELS = [
    np.array(["ham", "spam", "漢"]),
    np.array(["ham", "spam", "漢"], dtype=object),
    np.array([3, 5, 8]),
    np.array([-1, 0, 127], dtype=np.int8),
    np.array([1, 2, 3], dtype=">u2"),
    np.array([0.0, 1.0, 2.0], dtype=np.float32),
    np.array([False, True, True]),
    np.array(["2026-01-31", "2026-02-01", "2026-02-02"], dtype="M8[D]"),
    np.array(["2026-01-31", "2026-02-01", "2026-02-02"], dtype="M8[ns]"),
    np.array([b"a", b"b", b"c"]),
]
PRIORS = {
    GaussianNB: st.builds(NormalInverseGamma, mean=QUARTERS, scale=st.floats(0.1, 3)),
    BernoulliNB: st.builds(Beta, st.floats(0, 5), st.integers(1, 4)) | st.just(Beta({True: 2, False: 0.1})),
    CategoricalNB: st.sampled_from(
        [Dirichlet(0.5), Dirichlet({0: 1, 5: 0.25}, default=1 / 3), Dirichlet.m_estimate(4), Dirichlet(np.float32(0.1))]
    ),
}
ALPHAS = st.sampled_from([0, 0.1, 1.0, np.float64(1 / 3), np.int64(2), np.float32(0.1)])
FORMS = ["array", "list", "pandas", "polars", "pyarrow", "sparse"]


@st.composite
def parameters(draw: Any, model: Any, n_columns: int, n_classes: int) -> dict[str, Any]:
    """Some parameters of a model, in all the ways that they can be given."""
    known = model().get_params()
    uniform = np.full(n_classes, 1 / n_classes)
    given: dict[str, Any] = {
        "alpha": ALPHAS | st.just([0.5] * n_columns) | st.just(np.linspace(0.1, 1, n_columns)),
        "class_alpha": st.sampled_from([0.0, 1, np.float64(0.5)]),
        "class_prior": st.sampled_from([None, uniform, uniform.tolist(), tuple(uniform)]),
        "priors": st.sampled_from([None, uniform, uniform.tolist(), tuple(uniform)]),
        "fit_prior": st.booleans() | st.just(np.True_),
        "force_alpha": st.just(True),
        "norm": st.booleans(),
        "var_smoothing": st.sampled_from([0, 1e-9, 0.5]),
        "binarize": st.sampled_from([0, 0.5, None]),
        "min_categories": st.sampled_from([None, 4, [6] * n_columns, np.full(n_columns, 5)]),
        "missing": st.sampled_from(["error", "ignore"]),
        "unseen": st.sampled_from(["error", "ignore"]),
    }
    chosen = {name: draw(strategy) for name, strategy in given.items() if name in known and draw(st.booleans())}
    if "columns" in known and draw(st.booleans()):
        chosen["columns"] = {draw(st.integers(0, n_columns - 1)): {"prior": draw(PRIORS[model])}}
    return chosen


def in_form(X: Any, form: str) -> Any:
    """Put an array into one of the forms that a model takes."""
    names = [f"column {j}" for j in range(X.shape[1])]
    match form:
        case "list":
            return X.tolist()
        case "pandas":
            return pd.DataFrame(X, columns=names)
        case "polars":
            return pl.DataFrame(X, schema=names, orient="row")
        case "pyarrow":
            return pa.table(dict(zip(names, X.T, strict=True)))
        case "sparse":
            return sparse.csr_array(X)
    return X


@st.composite
def lessons(draw: Any) -> tuple[Any, Rows, Any]:
    """A model, the rows for it in an array, and how an array becomes what it is given."""
    model = draw(st.sampled_from(list(CELLS)))
    missing = "missing" in model().get_params() and draw(st.booleans())
    rows = draw(tables(CELLS[model], n_rows=(2, 8), weights=draw(any_weights()), missing=missing))
    labels = draw(st.sampled_from(LABELS))
    rows = Rows(rows.X, labels[rows.y], rows.weight)
    takes_sparse = model not in (GaussianNB, CategoricalNB) and not missing
    form = draw(st.sampled_from(FORMS if takes_sparse else FORMS[:-1]))
    made = model(**draw(parameters(model, rows.X.shape[1], len(np.unique(rows.y)))))
    if missing:
        made.set_params(missing=draw(st.sampled_from(["ignore", "state"] if model is CategoricalNB else ["ignore"])))
    return made, rows, lambda X: in_form(X, form)


@settings(max_examples=50)
@given(lesson=lessons())
def test_a_loaded_model_is_the_saved_one(lesson, tmp_path_factory):
    model, rows, form = lesson
    model.fit(form(rows.X), rows.y, rows.weight)
    path = tmp_path_factory.getbasetemp() / "model.bayes"
    found = reloaded(model, path)
    require_same_model(found, model, form(rows.X))
    first = path.read_bytes()
    save(found, path)
    assert path.read_bytes() == first


@settings(max_examples=30)
@given(lesson=lessons(), cut=st.floats(0, 1))
def test_a_loaded_model_goes_on_learning_merging_and_forgetting(lesson, cut, tmp_path_factory):
    model, rows, form = lesson
    n_first = 1 + int(cut * (len(rows) - 2))
    first, later = rows.take(slice(n_first)), rows.take(slice(n_first, None))
    model.partial_fit(form(first.X), first.y, np.unique(rows.y), first.weight)
    path = tmp_path_factory.getbasetemp() / "going_on.bayes"
    found = reloaded(model, path)
    assert (found + model).statistics_ == (model + model).statistics_
    for one in (model, found):
        one.partial_fit(form(later.X), later.y, None, later.weight)
    require_same_model(found, model, form(rows.X))
    require_same_model(reloaded(model, path), found, form(rows.X))
    remaining = (form(first.X), first.y, first.weight)
    for one in (model, found):
        one.forget(form(later.X), later.y, later.weight, remaining=remaining)
    require_same_model(found, model, form(first.X))
    require_same_model(reloaded(model, path), model, form(first.X))


MOMENT = datetime(2026, 1, 31, 12, 30, 15, 250_000)
COLUMNS = {
    "text": ["red", "green", None, "red"],
    "truth": [True, False, True, None],
    "codes": [0, 3, 1, 0],
    "fractions": [0.5, 1.0, 2.25, 0.5],
    "days": [date(2026, 1, 31), date(2026, 2, 1), None, date(2026, 1, 31)],
    "moments": [MOMENT, MOMENT + timedelta(days=1), MOMENT, None],
    "moments of a zone": pa.array([MOMENT.replace(tzinfo=UTC)] * 4, pa.timestamp("us", "UTC")),
    "nanoseconds": pa.array([MOMENT] * 4, pa.timestamp("ns")),
    "clocks": [time(12), time(13, 5), None, time(12)],
    "spans": [timedelta(days=1), timedelta(seconds=1), None, timedelta(0)],
    "bytes": [b"a", b"\xff", None, b"a"],
    "declared": pa.DictionaryArray.from_arrays(pa.array([1, 0, None, 1]), ["small", "large", "never"]),
    "nothing": pa.nulls(4),
}


@pytest.mark.parametrize("column", COLUMNS)
def test_states_of_every_type_come_back(column, tmp_path):
    table = pa.table({column: COLUMNS[column], "other": [0, 1, 0, 1]})
    model = CategoricalNB(missing="ignore").fit(table, ["a", "b", "a", "b"])
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(found, model, table)
    assert found.statistics_.columns.schema == model.statistics_.columns.schema
    assert [variable.declared for variable in found.statistics_.columns.schema] == [
        variable.declared for variable in model.statistics_.columns.schema
    ]
    assert found.tables() == model.tables()


@pytest.mark.parametrize("declared", [pd.Categorical, pl.Enum])
def test_declared_categories_stay_declared(declared, tmp_path):
    sizes, cells = ["small", "large", "never"], ["large", "small", "small"]
    if declared is pl.Enum:
        frame = pl.DataFrame({"size": pl.Series(cells, dtype=pl.Enum(sizes))})
    else:
        frame = pd.DataFrame({"size": pd.Categorical(cells, categories=sizes)})
    model = CategoricalNB().fit(frame, [0, 1, 1])
    found = reloaded(model, tmp_path / "model.bayes").forget(frame[:1], [0])
    assert found.statistics_ == model.forget(frame[:1], [0]).statistics_
    assert found.statistics_.columns.schema[0].states == tuple(sizes)
    assert type(found.tables()["size"]) is type(frame)


def test_classes_declared_in_advance_stay_declared(tmp_path):
    model = MultinomialNB().partial_fit([[1, 2]], ["ham"], classes=["ham", "spam", "eggs"])
    found = reloaded(model, tmp_path / "model.bayes").partial_fit([[0, 1]], ["eggs"])
    assert found.classes_.tolist() == ["eggs", "ham", "spam"]
    assert found.statistics_ == model.partial_fit([[0, 1]], ["eggs"]).statistics_


def test_a_loaded_model_is_an_estimator_like_any_other(tmp_path):
    model = GaussianNB(columns={0: {"prior": NormalInverseGamma(mean=1.0)}}).fit([[0.0], [1.0], [5.0]], [0, 0, 1])
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(pickle.loads(pickle.dumps(found)), model, [[2.0]])
    require_same_model(clone(found).fit([[0.0], [1.0], [5.0]], [0, 0, 1]), model, [[2.0]])
    assert found.set_params(columns=None).predict_proba([[2.0]]).shape == (1, 2)


class AnyPath:
    """What `open` takes for a path."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __fspath__(self) -> str:
        return str(self.path)


FITTED = GaussianNB().fit([[0.0], [1.0], [5.0]], ["a", "a", "b"])


@pytest.mark.parametrize("kind", [Path, str, AnyPath])
def test_a_path_may_be_of_any_type(kind, tmp_path):
    save(FITTED, kind(tmp_path / "model"))
    assert load(kind(tmp_path / "model")).statistics_ == FITTED.statistics_


def heirs(kind: type) -> set[type]:
    """The classes below a class that have none below them."""
    below = [kind for kind in kind.__subclasses__() if kind.__module__.startswith("bayeswater.")]
    return {heir for kind in below for heir in heirs(kind)} if below else {kind}


def test_every_model_that_learns_can_be_saved():
    for module in walk_packages(models.__path__, "bayeswater.models."):
        import_module(module.name)
    ours = {heir.__name__ for heir in heirs(OnSums)}
    assert ours == set(KINDS)


def test_a_file_says_what_it_is_and_who_wrote_it(tmp_path):
    save(FITTED, tmp_path / "model.bayes")
    document, _ = unpacked((tmp_path / "model.bayes").read_bytes())
    assert (document["format"], document["kind"]) == (1, "GaussianNB")
    assert document["library"] == f"bayeswater {bayeswater.__version__}"


def test_a_parameter_that_a_file_does_not_know_has_its_default(tmp_path):
    save(GaussianNB(class_alpha=2.0).fit([[0.0], [1.0]], [0, 1]), tmp_path / "model.bayes")
    document, arrays = unpacked((tmp_path / "model.bayes").read_bytes())
    del document["parameters"]["class_alpha"]
    (tmp_path / "older.bayes").write_bytes(forged(document, arrays))
    assert load(tmp_path / "older.bayes").get_params() == GaussianNB().get_params()


# ---------------------------------------------------------------------- what cannot be saved or loaded


class Heir(GaussianNB):
    """A model of somebody else."""


def test_a_model_that_has_learned_nothing_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError, match="not fitted yet"):
        save(GaussianNB(), tmp_path / "model.bayes")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("model", [naive_bayes.GaussianNB(), Heir().fit([[0.0]], [0]), {"mean": 1}, None])
def test_what_is_none_of_our_models_is_not_saved(model, tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot save .*: it is none of GaussianNB, .*CategoricalNB"):
        save(model, tmp_path / "model.bayes")
    assert list(tmp_path.iterdir()) == []


def test_a_parameter_that_a_file_cannot_hold_is_named_and_the_old_file_stays(tmp_path):
    path = tmp_path / "model.bayes"
    model = MultinomialNB().fit([[1, 2]], [0])
    save(model, path)
    with pytest.raises(ModelFileError, match=r"model\.bayes': parameter 'fit_prior' is <built-in function len>"):
        save(model.set_params(fit_prior=len), path)
    with pytest.raises(ModelFileError, match=r"model\.bayes': .*alpha=-1"):
        save(model.set_params(fit_prior=True, alpha=-1), path)
    assert load(path).get_params() == MultinomialNB().get_params()
    assert list(tmp_path.iterdir()) == [path]


def test_a_state_that_a_file_cannot_hold_is_named(tmp_path):
    moments = pa.table({"when": pa.array([1, 2], pa.timestamp("ns"))})
    model = CategoricalNB().fit(moments, [0, 1])
    with pytest.raises(ModelFileError, match=r"a state of column 'when' is Timestamp"):
        save(model, tmp_path / "model.bayes")


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot read the model file '.*gone\.bayes': No such file") as caught:
        load(tmp_path / "gone.bayes")
    assert isinstance(caught.value.__cause__, FileNotFoundError)


def test_a_directory_is_no_model_file(tmp_path):
    with pytest.raises(ModelFileError, match=re.escape(f"{str(tmp_path)!r} cannot be loaded as a model: it is a dir")):
        load(tmp_path)
    with pytest.raises(ModelFileError, match=re.escape(f"{str(tmp_path)!r}: it is a directory")):
        save(FITTED, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_or_a_device_is_no_model_file(tmp_path):
    os.mkfifo(tmp_path / "pipe")  # opening it would wait for ever
    for path in (tmp_path / "pipe", Path("/dev/zero")):
        with pytest.raises(ModelFileError, match="not a file"):
            load(path)


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ModelFileError, match=r"cannot write the model file '.*nowhere/model\.bayes': No such file"):
        save(FITTED, tmp_path / "nowhere" / "model.bayes")


def test_a_folder_that_may_not_be_written_is_named(tmp_path):
    save(FITTED, tmp_path / "model.bayes")
    tmp_path.chmod(0o555)
    user = os.geteuid()
    if user == 0:
        os.seteuid(65534)  # root may write everywhere; nobody may not
    try:
        with pytest.raises(ModelFileError, match=r"cannot write the model file '.*model\.bayes': Permission denied"):
            save(FITTED, tmp_path / "model.bayes")
    finally:
        os.seteuid(user)
        tmp_path.chmod(0o755)
    assert list(tmp_path.iterdir()) == [tmp_path / "model.bayes"]


def test_columns_of_counts_are_saved_however_many_rows_a_class_has(tmp_path):
    """A bound of 2**53 for each of 1024 rows is none in int64."""
    table = pd.DataFrame({"n": np.arange(2_500) % 7})
    model = NaiveBayes(columns={"n": "poisson"}).fit(table, np.where(table["n"] % 2, "odd", "even"))
    assert (reloaded(model, tmp_path / "counts.bayes").predict_proba(table) == model.predict_proba(table)).all()
