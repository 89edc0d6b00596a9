"""The plan of every fitted model is sound, and no other plan is."""

from dataclasses import replace

import pytest
from tests.models.mixed_rows import mixed_frame, mixed_labels, number_rows, sparse_frame, word_counts

from bayeswater import NaiveBayes, SchemaError
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.families.plan_consistency import is_block, require_sound_plan

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.errors.BayesWarning")  # of identifiers

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
SOUND = (HEIGHT, SHARE, *BORN, NOTE)

UNSOUND = {
    "no column": ((), "no column to learn from"),
    "no column that is used": ((replace(HEIGHT, family="ignored"),), "no column to learn from"),
    "a name twice": ((HEIGHT, HEIGHT), "'height' stands more than once"),
    "an open family": ((replace(HEIGHT, family="auto"),), "family 'auto', which is none of"),
    "bins without cuts": ((replace(SHARE, cuts=None),), "'share' has bins, but no cuts"),
    "cuts that fall": ((replace(SHARE, cuts=(1.0, 0.5)),), "rising order"),
    "an infinite cut": ((replace(SHARE, cuts=(1.0, float("inf"))),), "rising order"),
    "too few spans": ((replace(SHARE, spans=((0.0, 0.4),)),), "the spans of column 'share'"),
    "a span beyond its bin": ((replace(SHARE, spans=((0.0, 0.5), (0.5, 0.9), (1.0, 1.0))),), "the spans of column"),
    "spans of no bins": ((replace(HEIGHT, spans=((0.0, 1.0),)),), "the spans of column 'height'"),
    "words that are not found": ((replace(NOTE, analyser=None),), "'note' does not say its words"),
    "words of a number": ((replace(HEIGHT, analyser=TextAnalyser()),), "words are read from it"),
    "a date without a month": (BORN[:2], "cannot be read from column 'born'"),
    "a date in another order": ((BORN[0], BORN[2], BORN[1]), "cannot be read from column 'born'"),
    "a date that is torn apart": ((BORN[0], HEIGHT, *BORN[1:]), "does not stand together"),
    "a date of words": ((replace(BORN[0], family="categorical"), *BORN[1:]), "parts of the date 'born'"),
    "another name": ((replace(HEIGHT, name="width"),), "cannot be read from column 'height'"),
}


def test_a_plan_of_all_kinds_of_columns_is_sound():
    require_sound_plan(ColumnPlan(SOUND))
    require_sound_plan(ColumnPlan((replace(SHARE, spans=((0.0, 0.4), (0.5, 0.9), (1.0, 1.0))),)))


@pytest.mark.parametrize(("columns", "problem"), UNSOUND.values(), ids=UNSOUND.keys())
def test_an_unsound_plan_is_refused_for_its_fault(columns, problem):
    with pytest.raises(SchemaError, match=problem):
        require_sound_plan(ColumnPlan(columns))
