"""The laws of `NaiveBayes`: its sums add, subtract and fade, and nothing but the rows decides what it says."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from tests.laws.mixed import PLAN, MixedRows, mixed_rows, planned, require_same_groups
from tests.laws.models import CLOSE, require_close_scores
from tests.laws.tables import batches_of

from bayeswater import NaiveBayes, ParameterError, threads
from bayeswater.inference import scoring
from bayeswater.kernels import compiling
from bayeswater.kernels import threads as thread_kernels

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.PrecisionWarning"),  # a column of one value but for one row
]

LAW = settings(max_examples=10)


# ---------------------------------------------------------------------- adding


@LAW
@given(st.data())
def test_models_of_any_partition_add_up_to_one_fit(data: Any) -> None:
    rows = data.draw(mixed_rows((1, 10)))
    models = [planned().fit(**rows.take(batch).arguments) for batch in batches_of(data.draw, len(rows))]
    require_same_groups(sum(models), planned().fit(**rows.arguments), exactly=rows.counts_exactly)


@LAW
@given(mixed_rows((1, 6)), mixed_rows((1, 6)))
def test_merging_commutes(first: MixedRows, second: MixedRows) -> None:
    a, b = planned().fit(**first.arguments), planned().fit(**second.arguments)
    # Adding two floats commutes as well; of the moments, each mean starts from the left one.
    require_same_groups(a + b, b + a, exactly=True)


@LAW
@given(mixed_rows((1, 8)))
def test_learning_row_by_row_equals_one_fit(rows: MixedRows) -> None:
    model = planned()
    for i in range(len(rows)):
        model.partial_fit(**rows.take([i]).arguments)
    require_same_groups(model, planned().fit(**rows.arguments), exactly=rows.counts_exactly)


@LAW
@given(mixed_rows((1, 8)), mixed_rows((1, 6)))
def test_new_classes_categories_and_words_may_come_at_any_time(first: MixedRows, later: MixedRows) -> None:
    names = {"low": "brand new", "mid": "mid", "high": "high"}
    X = later.X.assign(kind=later.X["kind"].map(names), note=later.X["note"].str.replace("be", "become"))
    y = np.array([f"{label} too" if label == "a" else label for label in later.y])
    more = MixedRows(X, y, later.weight)
    model = planned().fit(**first.arguments).partial_fit(**more.arguments)
    weights = [np.ones(len(rows)) if rows.weight is None else rows.weight for rows in (first, more)]
    both = MixedRows(pd.concat([first.X, X], ignore_index=True), np.concatenate([first.y, y]), np.concatenate(weights))
    require_same_groups(model, planned().fit(**both.arguments), exactly=both.counts_exactly)
    assert set(model.classes_) == set(first.y) | set(y)


@pytest.mark.parametrize("weights", ["rows", "whole", "fractions"])
def test_reading_in_batches_equals_one_fit_with_the_same_families(weights: str) -> None:
    table, y = real_table(120)
    rng = np.random.default_rng(3)
    weight = {"rows": None, "whole": rng.integers(1, 4, 120), "fractions": rng.random(120) + 0.1}[weights]
    batches = [
        (table.iloc[rows], y[rows], None if weight is None else weight[rows])
        for rows in (slice(0, 50), slice(50, 90), slice(90, 120))
    ]
    whole, pieces = NaiveBayes().fit(table, y, weight), NaiveBayes().fit_batches(batches)
    assert {c.family for c in whole.columns_} >= {"categorical", "lognormal", "poisson", "bernoulli"}
    assert [(c.name, c.family, c.cuts) for c in pieces.columns_ if c.analyser is None] == [
        (c.name, c.family, c.cuts) for c in whole.columns_ if c.analyser is None
    ]
    same_words = NaiveBayes(columns=pieces.columns_).fit(table, y, weight)
    require_same_groups(pieces, same_words, exactly=weights != "fractions")


def real_table(n: int, seed: int = 0) -> tuple[pd.DataFrame, Any]:
    """Numbers, counts, flags, categories, dates and text with holes, that say something about the class."""
    rng = np.random.default_rng(seed)
    code = rng.integers(0, 3, n)
    words = np.array(["free", "win", "meet", "noon", "call", "me", "now", "later"])
    table = pd.DataFrame(
        {
            "size": rng.normal(code, 1.5),
            "wage": np.exp(rng.normal(code + 3, 1.0)),
            "visits": rng.poisson(2 + 3 * code),
            "smokes": rng.random(n) < 0.2 + 0.3 * code,
            "town": rng.choice(["Ulm", "Köln", "北京"], n),
            "since": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 400, n) + 100 * code, unit="D"),
            "note": [" ".join(rng.choice(words[c : c + 6], 5)) for c in code],
        }
    )
    for name in ("size", "wage", "town", "note"):
        table.loc[rng.random(n) < 0.1, name] = None
    return table, np.array(["no", "perhaps", "yes"])[code]


# ---------------------------------------------------------------------- taking away


@LAW
@given(st.data())
def test_forgetting_rows_equals_never_having_seen_them(data: Any) -> None:
    rows = data.draw(mixed_rows((2, 8)))
    gone = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))))
    assume(gone.any() and not gone.all())
    kept = rows.take(np.flatnonzero(~gone))
    model = planned().fit(**rows.arguments)
    remaining = tuple(kept.arguments.values())
    model.forget(**rows.take(np.flatnonzero(gone)).arguments, remaining=remaining)
    require_same_groups(model, planned().fit(**kept.arguments), exactly=rows.counts_exactly)


def test_what_no_row_has_any_more_is_gone_and_what_was_declared_stays() -> None:
    X = pd.DataFrame(
        {
            "kind": ["low", "mid", "mid"],
            "size": pd.Categorical(["S", "L", "S"], categories=["S", "M", "L"]),
            "note": ["a word only here", "two more words", "two more words"],
        }
    )
    model = NaiveBayes().fit(X, ["a", "b", "b"]).forget(X[:1], ["a"])
    groups = model.statistics_.columns.groups
    assert model.classes_.tolist() == ["b"]
    assert [v.states for v in groups["categories"].schema] == [("mid",), ("S", "M", "L")]
    assert groups["words note"].vocabulary.states == ("more", "two", "words")


@LAW
@given(mixed_rows((2, 8)), mixed_rows((1, 4)))
def test_a_merged_model_can_be_taken_away_again(first: MixedRows, second: MixedRows) -> None:
    columns = {name: said for name, said in PLAN.items() if name not in ("size", "price")}
    counts = [MixedRows(rows.X[[*columns]], rows.y, rows.weight) for rows in (first, second)]
    a, b = (NaiveBayes(columns=columns).fit(**rows.arguments) for rows in counts)
    exactly = first.counts_exactly and second.counts_exactly
    require_same_groups((a + b) - b, a, exactly=exactly)


# ---------------------------------------------------------------------- fading


@LAW
@given(mixed_rows((1, 8)), st.sampled_from([0.5, 0.25, 1.0]))
def test_decay_makes_every_row_weigh_a_share_of_what_it_did(rows: MixedRows, factor: float) -> None:
    weight = (np.ones(len(rows)) if rows.weight is None else rows.weight) * factor
    decayed = planned().fit(**rows.arguments).decay(factor)
    lighter = planned().fit(rows.X, rows.y, weight)
    # A power of two times a sum is the sum of the products, to the bit.
    require_same_groups(decayed, lighter, exactly=rows.counts_exactly)
    before = planned().fit(**rows.arguments).statistics_.columns.groups
    for key, name in (("categories", "table"), ("bins", "table"), ("poisson", "total"), ("words note", "word_count")):
        found = getattr(decayed.statistics_.columns.groups[key], name)
        assert_array_equal(found, getattr(before[key], name) * factor)
        assert found.dtype == np.float64


@LAW
@given(mixed_rows((1, 8)), mixed_rows((1, 6)), st.sampled_from([0.1, 0.5, 0.99]))
def test_decay_and_new_rows_equal_a_weighted_fit(old: MixedRows, new: MixedRows, factor: float) -> None:
    model = planned().fit(**old.arguments).decay(factor).partial_fit(**new.arguments)
    weights = [np.ones(len(rows)) if rows.weight is None else rows.weight for rows in (old, new)]
    X = pd.concat([old.X, new.X], ignore_index=True)
    weighted = planned().fit(X, np.concatenate([old.y, new.y]), np.concatenate([weights[0] * factor, weights[1]]))
    require_same_groups(model, weighted, exactly=False)


def test_decay_refuses_to_take_the_counts_of_a_class_to_nothing() -> None:
    model = NaiveBayes().fit(*real_table(30))
    before = model.statistics_.class_count.count.copy()
    tiny = np.finfo(np.float64).tiny
    halvings = int(np.floor(np.log2(before[before > 0].min()) - np.log2(tiny)))
    for _ in range(halvings):
        model.decay(0.5)
    assert_array_equal(model.statistics_.class_count.count, before * 0.5**halvings)
    kept = model.statistics_
    with pytest.raises(ParameterError, match=r"factor is 0\.5, by which a class would count as .*e-308 rows"):
        model.decay(0.5)
    assert model.statistics_ is kept


def test_a_row_is_forgotten_after_a_decay_with_the_weight_it_then_has() -> None:
    table, y = real_table(30)
    model = NaiveBayes().fit(table, y)
    rest = NaiveBayes(columns=model.columns_).fit(table[1:], y[1:]).decay(0.5)
    model.decay(0.5).forget(table[:1], y[:1], sample_weight=[0.5])
    require_same_groups(model, rest, exactly=False)


@pytest.mark.parametrize("factor", [0, -1, 1.5, float("nan"), "half", None])
def test_a_factor_of_decay_is_over_0_and_up_to_1(factor: Any) -> None:
    model = planned().fit(*_two_rows())
    with pytest.raises(ValueError, match=r"factor is .*; give a number over 0 and up to 1"):
        model.decay(factor)
    assert model.class_count_.tolist() == [1, 1]


def _two_rows() -> tuple[pd.DataFrame, list[str]]:
    X = pd.DataFrame([dict.fromkeys(PLAN)] * 2)
    return X, ["a", "b"]


# ---------------------------------------------------------------------- what must not matter


@LAW
@given(st.data())
def test_the_order_of_rows_does_not_matter(data: Any) -> None:
    rows = data.draw(mixed_rows((1, 8)))
    order = data.draw(st.permutations(range(len(rows))))
    model, other = planned().fit(**rows.arguments), planned().fit(**rows.take(order).arguments)
    require_same_groups(model, other, exactly=rows.counts_exactly)


@LAW
@given(st.data())
def test_the_order_of_named_columns_does_not_matter(data: Any) -> None:
    rows = data.draw(mixed_rows((2, 8)))
    order = data.draw(st.permutations([*PLAN]))
    model = planned().fit(**rows.arguments)
    expected = model.predict_proba(rows.X)
    assert_array_equal(model.predict_proba(rows.X[order]), expected)
    assert_array_equal(model.predict_proba(rows.X[order].assign(unknown=1)), expected)
    other = planned().fit(rows.X[order], rows.y, rows.weight)
    # The terms of the columns are added in another order.
    require_close_scores(other.predict_log_proba(rows.X), model.predict_log_proba(rows.X))
    other = planned().fit(**rows.arguments).partial_fit(rows.X[order], rows.y, sample_weight=rows.weight)
    require_same_groups(other, planned().fit(**rows.arguments).partial_fit(**rows.arguments), exactly=True)


@pytest.mark.parametrize("weights", ["rows", "whole", "fractions"])
def test_every_library_gives_the_same_plan_sums_and_predictions(weights: str) -> None:
    table, y = real_table(80)
    rng = np.random.default_rng(1)
    weight = {"rows": None, "whole": rng.integers(1, 4, 80), "fractions": rng.random(80) + 0.1}[weights]
    arrow = pa.Table.from_pandas(table, preserve_index=False)
    frames = [table, pl.from_pandas(table), arrow, pa.RecordBatchReader.from_batches(arrow.schema, arrow.to_batches(9))]
    labels = [y, pl.Series(y.tolist()), pa.array(y.tolist()), pd.Categorical(y)]
    first, *others = (NaiveBayes().fit(X, y, weight) for X, y in zip(frames, labels, strict=True))
    for model, frame in zip(others, [*frames[1:3], table], strict=True):
        assert str(model.columns_) == str(first.columns_)
        for name, array in first.statistics_.columns.to_arrays().items():
            assert_array_equal(array, model.statistics_.columns.to_arrays()[name], err_msg=name)
        assert_array_equal(model.predict_joint_log_proba(frame), first.predict_joint_log_proba(table))
        assert_array_equal(model.predict_joint_log_proba(table), first.predict_joint_log_proba(frame))


@pytest.fixture(params=["reference", "loop"])
def small_blocks(request: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Blocks of 16 rows, by the NumPy references or by the loops."""
    monkeypatch.setattr(thread_kernels.row_blocks, "__defaults__", (16,))
    monkeypatch.setattr(scoring, "SCORING_ROWS", 16)
    monkeypatch.setattr(compiling, "COMPILE_FROM_CELLS", 0 if request.param == "loop" else 10**18)
    yield


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("weights", ["rows", "fractions"])
def test_the_number_of_threads_does_not_matter(weights: str) -> None:
    table, y = real_table(120)
    weight = None if weights == "rows" else np.random.default_rng(1).random(120) + 0.1

    def everything() -> list[Any]:
        model = NaiveBayes(calibrate=True).fit(table, y, weight)
        sums = [model.statistics_.class_count.count, *model.statistics_.columns.to_arrays().values()]
        loo = model.loo_predict_log_proba(table, y, weight)
        return [*sums, model.predict_joint_log_proba(table), model.predict_proba(table), loo]

    with threads(1):
        expected = everything()
    with threads(2):
        for found, one_thread in zip(everything(), expected, strict=True):
            assert_array_equal(found, one_thread)


def test_a_row_of_weight_zero_has_no_influence_at_all() -> None:
    table, y = real_table(40)
    strange = pd.DataFrame(
        {
            "size": [1e300, -1e300, np.nan],
            "wage": [-1.0, 0.0, 1e-300],
            "visits": [-7, 2**40, 3],
            "smokes": [True, False, True],
            "town": ["no town at all", None, "a whole sentence about a town"],
            "since": pd.to_datetime(["1700-01-01", "2200-01-01", None]),
            "note": ["words that nobody else has", None, ""],
        }
    ).astype(table.dtypes)
    both = pd.concat([strange[:1], table, strange[1:]], ignore_index=True)
    labels = np.array(["never", *y, "never", "nobody"])
    weight = np.array([0, *np.ones(40), 0, 0])
    for parameters in ({}, {"calibrate": True}):
        without, model = (
            NaiveBayes(**parameters).fit(table, y),
            NaiveBayes(**parameters).fit(both, labels, weight),
        )
        assert model.statistics_ == without.statistics_
        assert str(model.columns_) == str(without.columns_)
        assert model.classes_.tolist() == ["no", "perhaps", "yes"]
        assert_array_equal(model.predict_proba(table), without.predict_proba(table))
    again = NaiveBayes().fit(table, y).partial_fit(both, labels, sample_weight=weight)
    assert again.statistics_ == NaiveBayes().fit(table, y).partial_fit(table, y).statistics_


def test_a_row_of_weight_three_is_three_rows() -> None:
    table, y = real_table(40)
    weight = np.random.default_rng(5).integers(1, 4, 40)
    times = np.repeat(np.arange(40), weight)
    weighted = NaiveBayes().fit(table, y, weight)
    repeated = NaiveBayes().fit(table.iloc[times], y[times])
    assert _reasons(weighted) == _reasons(repeated)  # evidence, cuts and leave-one-out figures too
    require_same_groups(weighted, repeated, exactly=True)
    left_out = weighted.loo_predict_log_proba(table, y, weight)
    assert_allclose(
        left_out[np.repeat(np.arange(40), weight)], repeated.loo_predict_log_proba(table.iloc[times], y[times])
    )


def _reasons(model: NaiveBayes) -> str:
    """The plan as it is printed, but for the number of rows: strings are looked at row by row."""
    return re.sub(r"\d+ strings", "strings", str(model.columns_))


@LAW
@given(st.data())
def test_the_names_of_the_classes_do_not_matter(data: Any) -> None:
    rows = data.draw(mixed_rows((2, 8)))
    names = dict(zip("abc", data.draw(st.permutations(["x", "y", "z"])), strict=True))
    model = planned().fit(**rows.arguments)
    renamed = planned().fit(rows.X, [names[label] for label in rows.y], rows.weight)
    place = [renamed.classes_.tolist().index(names[label]) for label in model.classes_]
    found = renamed.predict_joint_log_proba(rows.X)[:, place]
    # The moments of all classes together are summed in another order.
    require_close_scores(found, model.predict_joint_log_proba(rows.X), 1e-10)


@pytest.mark.parametrize("unit", [2.0**-40, 1024.0, 2.54, 1e6])
def test_the_unit_of_a_number_does_not_matter(unit: float) -> None:
    rng = np.random.default_rng(4)
    y = rng.choice(["a", "b"], 200)
    code = (y == "b").astype(float)
    X = np.stack([rng.normal(code), np.exp(rng.normal(code)), rng.choice([0.0, 1.0, 5.0], 200) + code], axis=1)
    X[::7, 0] = np.nan
    model, scaled = NaiveBayes().fit(X, y), NaiveBayes().fit(X * unit, y)
    families = [column.family for column in model.columns_]
    assert families == ["gaussian", "lognormal", "binned"]
    assert [column.family for column in scaled.columns_] == families
    # Logarithms of other numbers have other roundings; so have the scatters.
    assert_allclose(scaled.predict_proba(X * unit), model.predict_proba(X), rtol=1e-9)
    assert_allclose(scaled.loo_predict_log_proba(X * unit, y), model.loo_predict_log_proba(X, y), rtol=0, atol=1e-9)


# ---------------------------------------------------------------------- what is always so


@LAW
@given(mixed_rows((2, 8)), st.sampled_from(["auto", 0, 1.0]), st.sampled_from(["ignore", "state"]))
def test_probabilities_sum_to_one_and_nan_never_comes_out(rows: MixedRows, alpha: Any, missing: str) -> None:
    model = planned(alpha=alpha, missing=missing).fit(**rows.arguments)
    for found in (
        model.predict_joint_log_proba(rows.X),
        model.predict_log_proba(rows.X),
        model.loo_predict_log_proba(rows.X, rows.y, rows.weight),
        model.log_evidence(rows.X),
    ):
        assert not np.isnan(found).any()
    assert_allclose(model.predict_proba(rows.X).sum(axis=1), 1, rtol=CLOSE)
    assert_allclose(np.exp(model.loo_predict_log_proba(rows.X, rows.y, rows.weight)).sum(axis=1), 1, rtol=CLOSE)


@LAW
@given(mixed_rows((1, 8)))
def test_a_row_without_a_cell_has_the_prior(rows: MixedRows) -> None:
    model = planned().fit(**rows.arguments)
    empty = pd.DataFrame([dict.fromkeys(PLAN)]).astype(rows.X.dtypes)
    if not any(rows.X[name].nunique() == 1 and rows.X[name].hasnans for name in ("kind", "flag")):  # there, empty tells
        assert_allclose(model.predict_log_proba(empty)[0], model.class_log_prior_, rtol=CLOSE)
    untyped = pd.DataFrame([dict.fromkeys(PLAN)])  # as a file may give it: no cell, no type
    assert_array_equal(model.predict_log_proba(untyped), model.predict_log_proba(empty))


@LAW
@given(mixed_rows((2, 8)))
def test_a_model_of_the_plan_of_another_reads_and_counts_as_it_does(rows: MixedRows) -> None:
    model = planned().fit(**rows.arguments)
    same = NaiveBayes(columns=model.columns_).fit(**rows.arguments)
    assert same.statistics_ == model.statistics_


def test_families_that_were_chosen_and_those_that_are_told_count_the_same() -> None:
    table, y = real_table(200)
    for kind in (np.float64, np.float32):
        frame = table.astype({"size": kind, "wage": kind})
        chosen = NaiveBayes().fit(frame, y)
        require_same_groups(NaiveBayes(columns=chosen.columns_).fit(frame, y), chosen, exactly=True)
    for family in ("gaussian", "lognormal", "binned"):
        chosen = NaiveBayes(family=family).fit(table[["wage"]], y)
        assert chosen.columns_["wage"].family == family
        require_same_groups(NaiveBayes(columns=chosen.columns_).fit(table[["wage"]], y), chosen, exactly=True)
