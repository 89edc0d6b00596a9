"""The plan and the sums of every fitted model fulfil what is asked of those from elsewhere, and no others do."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models.mixed_rows import N_ROWS, mixed_frame, mixed_labels, number_rows, sparse_frame, word_counts

from bayeswater import KDB, GaussianNB, NaiveBayes, SchemaError, StatisticsError
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.families.plan_consistency import is_block, require_planned, require_sound_plan
from bayeswater.statistics.column_groups import ColumnGroups
from bayeswater.statistics.parent_counts import ParentCounts
from bayeswater.statistics.sums import Sums

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")  # of identifiers

CHOSEN = ["colour", "truth", "height", "visits", "share", "note"]
TOLD = {"columns": {"visits": "poisson", "share": {"cuts": [0.25, 0.5]}}}


@settings(max_examples=10)
@given(seed=st.integers(0, 99), cut=st.integers(5, N_ROWS - 5), whole=st.booleans(), factor=st.sampled_from([1, 0.1]))
def test_sums_that_were_merged_decayed_and_forgotten_are_consistent(seed, cut, whole, factor):
    rng = np.random.default_rng(seed)
    frame, labels = mixed_frame("pyarrow", seed=seed % 3).select(CHOSEN), mixed_labels(seed=seed % 3)
    weight = rng.integers(1, 4, N_ROWS) if whole else rng.choice([0.1, 1 / 3, 2.5, 1e6], N_ROWS)
    first, later = slice(0, cut), slice(cut, None)
    model = NaiveBayes(**TOLD).fit(frame.slice(0, cut), labels[first], weight[first]).decay(factor)
    remaining = frame.slice(0, cut), labels[first], weight[first] * factor
    model.partial_fit(frame.slice(cut), labels[later], sample_weight=weight[later])
    require_planned(model.statistics_)
    model.forget(frame.slice(cut), labels[later], weight[later], remaining=remaining)
    require_planned(model.statistics_)
    require_planned((model + model).statistics_)


FITTED = NaiveBayes(**TOLD).fit(mixed_frame("pyarrow").select(CHOSEN), mixed_labels()).statistics_


def with_groups(**groups: Any) -> Any:
    """The sums with other groups."""
    return Sums(FITTED.class_count, replace(FITTED.columns, groups={**FITTED.columns.groups, **groups}))


def test_sums_of_columns_in_another_order_are_refused():
    swapped = FITTED.columns.groups["categories"].take([1, 0])
    with pytest.raises(StatisticsError, match="do not stand in the order of the columns"):
        require_planned(with_groups(categories=swapped))


def test_sums_of_unknown_columns_are_refused():
    renamed = replace(FITTED.columns.groups["normal"], names=("width",))
    with pytest.raises(StatisticsError, match=r"there are sums of \['width'\]"):
        require_planned(with_groups(normal=renamed))


def test_counts_of_rows_that_lose_their_digits_are_refused():
    fitted = GaussianNB(missing="ignore").fit([[0.0], [1.0], [np.nan]], [0, 1, 1], [0.5, 1.5, 1.0]).statistics_
    faint = np.where(fitted.columns.weight > 1, 5e-324, fitted.columns.weight)
    with pytest.raises(StatisticsError, match="weight counts 5e-324 rows, a number without all its digits"):
        require_planned(replace(fitted, columns=replace(fitted.columns, weight=faint)))


def test_columns_without_sums_are_refused():
    groups = {key: group for key, group in FITTED.columns.groups.items() if key != "poisson"}
    with pytest.raises(StatisticsError, match="there are sums of"):
        require_planned(Sums(FITTED.class_count, replace(FITTED.columns, groups=groups)))


def test_columns_summed_as_another_family_are_refused():
    plan = FITTED.columns.plan
    other = plan.with_columns({"height": replace(plan["height"], family="poisson")})
    with pytest.raises(StatisticsError, match="'height' of family 'poisson' is summed as Moments"):
        require_planned(Sums(FITTED.class_count, ColumnGroups(FITTED.classes, other, FITTED.columns.groups)))


def test_words_of_a_block_may_count_less_than_once():
    sums = NaiveBayes().fit(word_counts(scale=0.1), mixed_labels()).statistics_
    (words,) = sums.columns.groups.values()
    assert (words.word_count < words.present).any()
    require_planned(sums)


def test_columns_counted_with_their_parents_from_other_rows_than_in_pairs_are_refused():
    cells = np.random.default_rng(0).integers(0, 2, (40, 3)).astype(str)
    sums, other = (KDB().fit(rows, np.arange(40) % 2).statistics_ for rows in (cells, cells[::-1]))
    require_planned(sums)
    (parents,) = (key for key, group in sums.columns.groups.items() if isinstance(group, ParentCounts))
    of_others = replace(sums.columns, groups={**sums.columns.groups, parents: other.columns.groups[parents]})
    with pytest.raises(StatisticsError, match="not counted with their parents as often as in pairs"):
        require_planned(Sums(sums.class_count, of_others))


# ---------------------------------------------------------------------- plans

ROWS = {
    "pandas": lambda: mixed_frame("pandas"),
    "polars": lambda: mixed_frame("polars"),
    "pyarrow": lambda: mixed_frame("pyarrow"),
    "numbers": number_rows,
    "sparse": word_counts,
    "sparse beside dense": sparse_frame,
}


@pytest.mark.parametrize("rows", ROWS.values(), ids=ROWS.keys())
def test_the_plan_of_a_fitted_model_is_sound(rows):
    require_sound_plan(NaiveBayes().fit(rows(), mixed_labels()).columns_)


def test_the_block_of_sparse_columns_is_told_from_a_text_of_its_name():
    plan = NaiveBayes(columns={"(counts)": "ignored"}).fit(sparse_frame(), mixed_labels()).columns_
    assert [is_block(column) for column in plan] == [False, False, True]
    assert not is_block(Column("(counts)", "(counts)", "marks", analyser=TextAnalyser()))


HEIGHT = Column("height", "height", "gaussian")
SHARE = Column("share", "share", "binned", cuts=(0.5, 1.0))
BORN = (
    Column("born", "born", "gaussian", part="days"),
    Column("born (weekday)", "born", "categorical", part="weekday"),
    Column("born (month)", "born", "ignored", part="month"),
)
NOTE = Column("note", "note", "marks", analyser=TextAnalyser())
HOUR = Column("hour", "hour", "von_mises", options=(("period", 24.0),))
SOUND = (HEIGHT, SHARE, *BORN, NOTE, HOUR)

UNSOUND = {
    "no column": ((), "no column to learn from"),
    "no column that is used": ((replace(HEIGHT, family="ignored"),), "no column to learn from"),
    "a name twice": ((HEIGHT, HEIGHT), "'height' occurs more than once"),
    "an open family": ((replace(HEIGHT, family="auto"),), "family 'auto', which is none of"),
    "bins without cuts": ((replace(SHARE, cuts=None),), "'share' has bins, but no cuts"),
    "cuts that fall": ((replace(SHARE, cuts=(1.0, 0.5)),), "rising order"),
    "an infinite cut": ((replace(SHARE, cuts=(1.0, float("inf"))),), "rising order"),
    "a cut twice": ((replace(SHARE, cuts=(0.5, 0.5)),), "rising order"),
    "a number on a circle without a period": ((replace(HOUR, options=()),), "of family 'von_mises' says"),
    "a period of nothing": ((replace(HOUR, options=(("period", 0.0),)),), "of family 'von_mises' says"),
    "a period and more": ((replace(HOUR, options=(("period", 24.0), ("width", 1.0))),), "of family 'von_mises' says"),
    "a period of a normal number": ((replace(HEIGHT, options=HOUR.options),), "of family 'gaussian' says"),
    "a period of what is left out": ((HEIGHT, replace(HOUR, family="ignored")), "of family 'ignored' says"),
    "too few spans": ((replace(SHARE, spans=((0.0, 0.4),)),), "the spans of column 'share'"),
    "a span beyond its bin": ((replace(SHARE, spans=((0.0, 0.5), (0.5, 0.9), (1.0, 1.0))),), "the spans of column"),
    "a span that falls": ((replace(SHARE, spans=((0.4, 0.0), (0.5, 0.9), (1.0, 1.0))),), "the spans of column"),
    "a span before its bin": ((replace(SHARE, spans=((0.0, 0.4), (0.4, 0.9), (1.0, 1.0))),), "the spans of column"),
    "spans of no bins": ((replace(HEIGHT, spans=((0.0, 1.0),)),), "the spans of column 'height'"),
    "spans of a share": ((Column("part", "part", "beta", spans=((0.0, 0.5),)),), "the spans of column 'part'"),
    "words that are not found": ((replace(NOTE, analyser=None),), "'note' does not say its words"),
    "words of a number": ((replace(HEIGHT, analyser=TextAnalyser()),), "words are read from it"),
    "a date without a month": (BORN[:2], "cannot be read from column 'born'"),
    "a date in another order": ((BORN[0], BORN[2], BORN[1]), "cannot be read from column 'born'"),
    "a date that is torn apart": ((BORN[0], HEIGHT, *BORN[1:]), "does not stand together"),
    "a date of words": ((replace(BORN[0], family="categorical"), *BORN[1:]), "parts of the date 'born'"),
    "a weekday that is a number": ((BORN[0], replace(BORN[1], family="gaussian"), BORN[2]), "parts of the date 'born'"),
    "a date of which the days are left out": ((replace(BORN[0], family="ignored"), *BORN[1:]), "parts of the date"),
    "another name": ((replace(HEIGHT, name="width"),), "cannot be read from column 'height'"),
}


def test_a_plan_of_all_kinds_of_columns_is_sound():
    require_sound_plan(ColumnPlan(SOUND))
    require_sound_plan(ColumnPlan((replace(SHARE, spans=((0.0, 0.4), (0.5, 0.9), (1.0, 1.0))),)))
    require_sound_plan(ColumnPlan((replace(HOUR, options=(("period", 0.5),)), replace(SHARE, cuts=()))))
    at = Column("born (time)", "born", "ignored", part="time")
    for family in ("ignored", "poisson", "binned"):
        time = replace(at, family=family, cuts=() if family == "binned" else None)
        require_sound_plan(ColumnPlan((*BORN, time)))


@pytest.mark.parametrize(("columns", "problem"), UNSOUND.values(), ids=UNSOUND.keys())
def test_an_unsound_plan_is_refused_for_its_fault(columns, problem):
    with pytest.raises(SchemaError, match=problem):
        require_sound_plan(ColumnPlan(columns))
