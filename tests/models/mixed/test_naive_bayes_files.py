"""Model files of `NaiveBayes`: what is loaded is what was saved, to the bit, and goes on from there."""

import copy
import io
import pickle
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import joblib
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.special import log_softmax
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, HashingVectorizer, TfidfVectorizer
from tests.files.hostile import unpacked
from tests.models.mixed_rows import (
    MESSAGES,
    N_ROWS,
    mixed_frame,
    mixed_labels,
    number_rows,
    sparse_frame,
    word_counts,
)
from tests.models.same_model import reloaded, require_same_model

from bayeswater import TAN, Beta, Dirichlet, ModelFileError, NaiveBayes, NormalInverseGamma, ParameterError, load, save
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.decision.calibration_choice import Doubt, Quality
from bayeswater.decision.likelihood_temperature import LikelihoodTemperature
from bayeswater.families.family import ColumnSettings
from bayeswater.families.registry import LAWS, OpenNumbers
from bayeswater.files.model_file import read_model_file, write_model_file
from bayeswater.statistics.statistic import Statistic

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")  # of identifiers and new categories

LABELS = mixed_labels()
FRACTIONS = np.random.default_rng(2).choice([0.25, 1 / 3, 0.5, 1.0, 7.75], N_ROWS)
WHOLE = np.random.default_rng(2).integers(1, 4, N_ROWS)
FIRST, LATER = slice(0, 40), slice(40, N_ROWS)

ALL_FAMILIES = {
    "colour": {"prior": Dirichlet({"red": 2, "purple": 1}, default=0.5)},
    "truth": {"prior": Beta(2, 0.5)},
    "mark": {"alpha": 0.25},
    "height": {"family": "gaussian", "prior": NormalInverseGamma(mean=170.0, scale=10.0)},
    "income": "lognormal",
    "visits": "poisson",
    "share": {"cuts": [0.1, 0.5]},
    "born": {"bins": 3},
    "born (month)": "ignored",
    "note": "complement",
    "reply": {"family": "marks", "analyser": TextAnalyser(binary=True)},
    "clock": ColumnSettings(alpha=1.0),
}


@dataclass(frozen=True)
class Lesson:
    """Parameters, rows and weights of a model."""

    parameters: dict[str, Any]
    rows: Callable[..., Any]
    weight: Any = None

    def fitted(self, rows: slice = slice(None)) -> Any:
        """A model fitted on some rows."""
        return NaiveBayes(**self.parameters).fit(*self.of(rows))

    @cached_property
    def model(self) -> Any:
        """The model of all rows, for tests that leave it as it is."""
        return self.fitted()

    def of(self, rows: slice) -> tuple[Any, Any, Any]:
        """Some rows, their labels and weights."""
        return taken(self.rows(), rows), LABELS[rows], None if self.weight is None else self.weight[rows]


def taken(X: Any, rows: slice) -> Any:
    """Some rows of a table of any library."""
    if isinstance(X, pa.Table):
        return X.slice(rows.start or 0, len(range(N_ROWS)[rows]))
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def texts(name: str = "note") -> Any:
    return mixed_frame("pyarrow").select([name])


def text_cells() -> Any:
    frame = mixed_frame("pandas")[["note", "colour", "height"]]
    return frame.astype(object).where(frame.notna(), None).to_numpy()


LESSONS = {
    "pandas": Lesson({}, lambda: mixed_frame("pandas")),
    "polars": Lesson({}, lambda: mixed_frame("polars")),
    "calibrated": Lesson({"calibrate": True}, lambda: mixed_frame("pyarrow")),
    "every family": Lesson({"columns": ALL_FAMILIES}, lambda: mixed_frame("polars")),
    "whole weights": Lesson({"columns": ALL_FAMILIES}, lambda: mixed_frame("pandas"), WHOLE),
    "fractional weights": Lesson({"columns": ALL_FAMILIES}, lambda: mixed_frame("pyarrow"), FRACTIONS),
    "missing is a state": Lesson({"missing": "state"}, lambda: mixed_frame("pandas")),
    "parameters": Lesson(
        {
            "family": "binned",
            "alpha": np.float32(0.1),
            "class_alpha": 0,
            "class_prior": np.array([0.2, 0.3, 0.5]),
            "missing": "ignore",
            "unseen": "error",
            "variance_floor": 1e-3,
        },
        lambda: mixed_frame("pyarrow"),
    ),
    "array of numbers": Lesson({}, number_rows),
    "array of integers": Lesson({"columns": {"x0": "categorical"}}, lambda: word_counts().toarray()),
    "array of objects": Lesson({}, text_cells),
    "lists": Lesson({}, lambda: number_rows()[:, :2].tolist()),
    "numbered columns": Lesson({}, lambda: pd.DataFrame(number_rows())),
    "sparse": Lesson({}, word_counts),
    "sparse numbers": Lesson({"columns": {"(counts)": "multinomial"}}, lambda: word_counts(scale=0.3)),
    "sparse beside dense": Lesson({}, sparse_frame),
    "sparse left out": Lesson({"columns": {"(counts)": "ignored"}}, sparse_frame),
    "texts": Lesson({"columns": {"note": "multinomial"}}, texts),
    "texts by weight": Lesson({"calibrate": True}, texts, FRACTIONS),
    "hashed texts": Lesson({"columns": {"note": {"analyser": TextAnalyser(n_hash=16, idf=True)}}}, texts),
    "hashed to a number of NumPy": Lesson({"columns": {"note": {"analyser": TextAnalyser(n_hash=np.int64(9))}}}, texts),
    "texts of characters": Lesson(
        {
            "columns": {
                "note": {
                    "analyser": TextAnalyser(vectorizer=(("analyzer", "char_wb"), ("ngram_range", (1, 3)))),
                    "family": "marks",
                    "alpha": "auto",
                }
            }
        },
        texts,
    ),
    "texts without words": Lesson(
        {"columns": {"note": "marks"}},
        lambda: pa.table({"note": ["... ??? !!!"] * N_ROWS, "height": mixed_frame("pyarrow")["height"]}),
    ),
    "one value": Lesson({"columns": {"x": "binned"}}, lambda: pa.table({"x": [1.0] * N_ROWS})),
}

every_lesson = pytest.mark.parametrize("lesson", LESSONS.values(), ids=LESSONS.keys())


@every_lesson
def test_a_loaded_model_is_the_saved_one(lesson, tmp_path):
    model, X = lesson.model, lesson.rows()
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(found, model, X)
    assert {name: str(table) for name, table in found.tables().items()} == {
        name: str(table) for name, table in model.tables().items()
    }
    assert found.n_parameters == model.n_parameters
    # Every row by leave-one-out, where what the model has counted is taken out of the sums.
    assert found.loo_predict_log_proba(*lesson.of(slice(None))).tobytes() == (
        model.loo_predict_log_proba(*lesson.of(slice(None))).tobytes()
    )
    first = (tmp_path / "model.bayes").read_bytes()
    save(found, tmp_path / "again.bayes")
    assert (tmp_path / "again.bayes").read_bytes() == first


@every_lesson
def test_a_loaded_model_goes_on_learning_merging_and_forgetting(lesson, tmp_path):
    model, path = lesson.fitted(FIRST), tmp_path / "model.bayes"
    found = reloaded(model, path)
    plan_given = NaiveBayes(**{**lesson.parameters, "columns": model.columns_})
    other = plan_given.fit(*lesson.of(LATER)) if "class_prior" not in lesson.parameters else model
    assert (found + other).statistics_ == (model + other).statistics_
    X, y, weight = lesson.of(LATER)
    for one in (model, found):
        one.partial_fit(X, y, sample_weight=weight)
    require_same_model(reloaded(found, path), model, X)
    for one in (model, found):
        one.forget(X, y, weight, remaining=lesson.of(FIRST))
    assert found.statistics_ == model.statistics_
    for one in (model, found):
        one.decay(0.75)
    require_same_model(reloaded(found, path), model, X)


SOME = ["calibrated", "every family", "array of objects", "sparse beside dense", "hashed texts", "texts by weight"]
some_lessons = pytest.mark.parametrize("lesson", [LESSONS[name] for name in SOME], ids=SOME)


@some_lessons
def test_a_loaded_model_explains_alike(lesson, tmp_path):
    model, X = lesson.model, taken(lesson.rows(), slice(0, 3))
    found = reloaded(model, tmp_path / "model.bayes")
    assert str(found.explain(X)) == str(model.explain(X))
    assert found.novelty(X, n_draws=20).tolist() == model.novelty(X, n_draws=20).tolist()
    assert str(found.credible_interval(X, n_draws=20)) == str(model.credible_interval(X, n_draws=20))


@some_lessons
def test_a_loaded_model_draws_the_same_rows(lesson, tmp_path):
    model = lesson.model
    found = reloaded(model, tmp_path / "model.bayes")
    try:
        rows, labels = model.sample(5, random_state=1)
    except ParameterError as error:  # hashed words, and sparse columns beside others, cannot be drawn
        with pytest.raises(ParameterError) as caught:
            found.sample(5, random_state=1)
        assert str(caught.value) == str(error)
        return
    again, labels_again = found.sample(5, random_state=1)
    assert labels_again.tolist() == labels.tolist()
    assert type(again) is type(rows)
    assert str(again) == str(rows)


def through_joblib(model: Any) -> Any:
    file = io.BytesIO()
    joblib.dump(model, file)
    return joblib.load(file)


@some_lessons
def test_a_pickled_model_is_the_same_and_goes_on(lesson):
    model = lesson.fitted(FIRST)
    copies = [pickle.loads(pickle.dumps(model)), copy.deepcopy(model), through_joblib(model)]
    X, y, weight = lesson.of(LATER)
    for found in copies:
        require_same_model(found, model, X)
    for one in (model, *copies):
        one.partial_fit(X, y, sample_weight=weight)
    for found in copies:
        require_same_model(found, model, X)


@some_lessons
def test_a_clone_of_a_loaded_model_learns_the_same(lesson, tmp_path):
    model = lesson.model
    found = clone(reloaded(model, tmp_path / "model.bayes"))
    require_same_model(found.fit(*lesson.of(slice(None))), model, lesson.rows())


@st.composite
def lessons(draw: Any) -> Lesson:
    """Some columns of the mixed table, in any library, with any weights."""
    names = ["colour", "level", "truth", "height", "income", "visits", "share", "born", "note", "reply"]
    chosen = draw(st.lists(st.sampled_from(names), min_size=1, max_size=5, unique=True))
    library, seed = draw(st.sampled_from(["pandas", "polars", "pyarrow"])), draw(st.integers(0, 5))

    def rows() -> Any:
        frame = mixed_frame(library, seed=seed)
        return frame.select(chosen) if library != "pandas" else frame[chosen]

    given = {name: ALL_FAMILIES[name] for name in chosen if name in ALL_FAMILIES and draw(st.booleans())}
    return Lesson(
        {
            "columns": given or None,
            "alpha": draw(st.sampled_from(["auto", 0.5, 1])),
            "missing": draw(st.sampled_from(["ignore", "state"])),
            "calibrate": draw(st.booleans()),
        },
        rows,
        draw(st.sampled_from([None, WHOLE, FRACTIONS])),
    )


@settings(max_examples=15)
@given(lesson=lessons(), factor=st.sampled_from([None, 0.9, 1 / 3]))
def test_any_columns_come_back(lesson, factor, tmp_path_factory):
    model = lesson.fitted()
    if factor is not None:
        model.decay(factor)
    path = tmp_path_factory.getbasetemp() / "any.bayes"
    require_same_model(reloaded(model, path), model, lesson.rows())


def test_every_law_has_its_statistic():
    assert all(issubclass(law.statistic, Statistic) for law in LAWS if law is not OpenNumbers)


# ---------------------------------------------------------------------- new things after loading


def test_new_classes_categories_and_words_are_learned_after_loading(tmp_path):
    model = LESSONS["every family"].fitted()
    found = reloaded(model, tmp_path / "model.bayes")
    more, labels = mixed_frame("polars", seed=7), np.where(mixed_labels(seed=7) == "ham", "new", "spam")
    more = more.with_columns(colour=more["colour"].fill_null("ultramarine"), note=more["note"] + " unheard-of words")
    for one in (model, found):
        one.partial_fit(more, labels)
        one.partial_fit(more, labels, classes=["never"])
    assert {"never", "new"} < set(found.classes_)
    assert "ultramarine" in found.statistics_.columns.groups["categories"].schema[0].states
    assert "unheard" in found.statistics_.columns.groups["words note"].vocabulary.states
    require_same_model(found, model, more)
    again = reloaded(found, tmp_path / "model.bayes")
    require_same_model(again, model, more)
    assert again.statistics_.classes.declared == {"never"}


def test_a_forgotten_category_and_its_class_are_gone_after_loading(tmp_path):
    table = pa.table({"colour": ["red", "red", "blue"], "note": [*MESSAGES[:2], "an unheard of word"]})
    told = {"columns": {"note": "multinomial"}}
    model = reloaded(NaiveBayes(**told).fit(table, ["a", "b", "c"]), tmp_path / "model.bayes")
    model.forget(table.slice(2), ["c"])
    assert model.statistics_ == NaiveBayes(**told).fit(table.slice(0, 2), ["a", "b"]).statistics_
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, table)


@pytest.mark.parametrize(
    "labels",
    [
        np.array([3, 5, 8]),
        np.array([1, 2, 3], dtype=">u2"),
        np.array([False, True, True]),
        np.array(["2026-01-31", "2026-02-01", "2026-02-02"], dtype="M8[D]"),
        np.array(["ham", "spam", "漢"], dtype=object),
    ],
)
def test_labels_of_every_type_come_back(labels, tmp_path):
    y = labels[np.arange(N_ROWS) % 3]
    model = NaiveBayes(calibrate=True).fit(number_rows(), y)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, number_rows())


# ---------------------------------------------------------------------- calibration


OLDER = {
    "unchanged": ({"Unchanged": []}, 1.0, 0.0),
    "temperature": ({"Temperature": [1.5]}, 2 / 3, 0.0),
    "infinite": ({"Temperature": ["infinite"]}, 0.0, 0.0),
    "shifted": (
        {"ShiftedTemperature": [{"array": ["float64", [0.25] * 3]}, {"array": ["float64", [0.1, -0.3, 0.2]]}]},
        0.25,
        [0.1, -0.3, 0.2],
    ),
}
"""Maps as older files hold them, the slope and the shifts that they stand for."""


@pytest.mark.parametrize("method", OLDER)
def test_maps_of_older_files_answer_as_they_did(method, tmp_path):
    model = LESSONS["calibrated"].model
    plain = copy.copy(model)
    del plain.calibration_
    path = tmp_path / "model.bayes"
    save(model, path)
    document, arrays = read_model_file(path)
    written, slope, shift = OLDER[method]
    document["calibration"]["CalibrationReport"][:2] = ["temperature", written]
    write_model_file(path, document, arrays)
    rows = mixed_frame("pyarrow")
    scores = slope * plain.predict_log_proba(rows) + shift
    expected = model.calibration_.doubt.apply(log_softmax(scores, axis=1))
    assert_allclose(load(path).predict_log_proba(rows), expected, rtol=1e-9, atol=1e-12)


def test_infinite_losses_come_back(tmp_path):
    model = LESSONS["calibrated"].fitted()
    model.calibration_ = replace(
        model.calibration_,
        before=Quality(np.inf, 0.25, 0.5),
        after=None,
        doubt=Doubt(1 / 7, np.array([True, False, True])),
    )
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(found, model, mixed_frame("pyarrow"))
    assert found.calibration_.before.log_loss == np.inf


@pytest.mark.parametrize("labels", [["a"] * 4, ["a", "b", "c", "d"]], ids=["one class", "no class of two rows"])
@pytest.mark.parametrize("kind", [NaiveBayes, TAN])
def test_a_calibration_that_had_no_rows_to_learn_from_comes_back(kind, labels, tmp_path):
    rows = pd.DataFrame({"x": ["p", "q", "q", "p"], "y": [0.5, 1.5, 2.5, 3.5]})
    model = kind(calibrate=True).fit(rows, labels)
    assert (model.calibration_.map.temperature, model.calibration_.map.lapse) == (1, 0)
    found = reloaded(model, tmp_path / "model.bayes")
    require_same_model(found, model, rows)
    assert str(found.calibration_) == str(model.calibration_)


def test_a_loaded_calibration_is_fresh_until_rows_are_learned(tmp_path):
    model = LESSONS["calibrated"].fitted()
    found = reloaded(model, tmp_path / "model.bayes")
    assert not found.calibration_.is_stale
    found.partial_fit(*LESSONS["calibrated"].of(FIRST)[:2])
    assert found.calibration_.is_stale
    assert reloaded(found, tmp_path / "model.bayes").calibration_.is_stale


def test_a_calibration_comes_back_after_classes_came_and_went(tmp_path):
    model = LESSONS["calibrated"].fitted()
    shifted = LikelihoodTemperature(3.0, np.array([0.1, -0.3, 0.2]), 0.01, 4.0)
    model.calibration_ = replace(model.calibration_, map=shifted)
    X, y, _ = LESSONS["calibrated"].of(FIRST)
    model.partial_fit(X, np.full(len(y), "new"))
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, X)
    model.forget(X, np.full(len(y), "new"), remaining=LESSONS["calibrated"].of(slice(None)))
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, X)
    assert model.calibration_.map.shift.tolist() == shifted.shift.tolist()


def test_a_model_without_calibration_has_none_after_loading(tmp_path):
    found = reloaded(LESSONS["texts"].model, tmp_path / "model.bayes")
    assert not hasattr(found, "calibration_")


# ---------------------------------------------------------------------- what is said about columns


VECTORIZERS = [
    CountVectorizer(ngram_range=(1, 2), stop_words=["the", "a"]),
    CountVectorizer(token_pattern=r"\w+", binary=True, lowercase=False, strip_accents="unicode"),
    TfidfVectorizer(norm=None, analyzer="char", ngram_range=(2, 2)),
    HashingVectorizer(n_features=32, norm=None, alternate_sign=False, stop_words="english"),
]


@pytest.mark.parametrize("vectorizer", VECTORIZERS, ids=lambda vectorizer: type(vectorizer).__name__)
def test_a_vectoriser_is_saved_as_the_settings_that_find_the_same_words(vectorizer, tmp_path):
    model = NaiveBayes(columns={"note": {"analyser": vectorizer}}).fit(texts(), LABELS)
    found = reloaded(model, tmp_path / "model.bayes")
    assert found.columns == {"note": {"analyser": TextAnalyser.from_vectorizer(vectorizer)}}
    require_same_model(found.set_params(columns=model.columns), model, texts())
    assert clone(found).fit(texts(), LABELS).statistics_ == model.statistics_


def split_at_blanks(text: str) -> list[str]:
    return text.split()


def test_a_vectoriser_with_a_function_of_its_own_is_refused_by_the_name_of_its_column(tmp_path):
    told = {"note": {"analyser": CountVectorizer(tokenizer=split_at_blanks, token_pattern=None)}}
    model = NaiveBayes(columns=told).fit(texts(), LABELS)
    with pytest.raises(ModelFileError, match=r"the reading of column 'note' is <function .*cannot hold"):
        save(model, tmp_path / "model.bayes")
    assert list(tmp_path.iterdir()) == []
    require_same_model(pickle.loads(pickle.dumps(model)), model, texts())


def test_the_plan_of_another_model_comes_back_as_a_parameter(tmp_path):
    first = LESSONS["every family"].model
    model = NaiveBayes(columns=first.columns_).fit(mixed_frame("polars", seed=3), mixed_labels(seed=3))
    found = reloaded(model, tmp_path / "model.bayes")
    assert found.columns == first.columns_
    require_same_model(found, model, mixed_frame("polars"))


def test_a_column_may_be_called_anything(tmp_path):
    names = ["a.word_count", "a", "words a", "counts", "columns.", "__metadata__", "漢 字", "", "\n"]
    table = pa.table({name: mixed_frame("pyarrow")["note"] for name in names})
    model = NaiveBayes().fit(table, LABELS)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, table)


def test_a_word_may_have_any_character(tmp_path):
    words = ["\x00", "\x7f\x80", "\n\r\u2028", "é\u0301", "𝔘𝕹", "\U0010ffff", "ÿ\xff"]
    analyser = TextAnalyser(vectorizer=(("lowercase", False), ("token_pattern", r"(?s)[^ ]*")))
    table = pa.table({"note": [" ".join(words), " ".join(words[::2])]})
    model = NaiveBayes(columns={"note": {"family": "multinomial", "analyser": analyser}}).fit(table, [0, 1])
    assert set(words) | {""} == set(model.statistics_.columns.groups["words note"].vocabulary.states)
    require_same_model(reloaded(model, tmp_path / "model.bayes"), model, table)


def test_a_large_vocabulary_takes_the_space_of_its_letters(tmp_path):
    words = [f"{n:x}" for n in range(2**18, 2**18 + 20_000)]
    table = pa.table({"note": [" ".join(words)] * 2})
    save(NaiveBayes(columns={"note": "marks"}).fit(table, [0, 1]), tmp_path / "model.bayes")
    document, arrays = unpacked((tmp_path / "model.bayes").read_bytes())
    assert len(str(document)) < 5_000
    assert arrays["columns.words note.words"].size == sum(len(word) + 1 for word in words)
    assert load(tmp_path / "model.bayes").statistics_.columns.groups["words note"].vocabulary.states == tuple(words)
