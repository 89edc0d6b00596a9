"""An explanation adds up to the log-odds it explains, names what it leaves out, and prints well."""

import json
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.explain.tables import CLASSES, COLUMNS, fruit, fruit_model, loan_model

from bayeswater import NaiveBayes
from bayeswater.data.display_width import display_width
from bayeswater.data.reading.text import TextAnalyser

READINGS = ["multinomial", "complement", "marks"]


def log_odds_by_joint(model, X, explained):
    """Difference of the log-joints of the two classes compared, and the size of what was subtracted."""
    joint = model.predict_joint_log_proba(X)
    rows = np.arange(len(explained))
    code = {label: k for k, label in enumerate(model.classes_.tolist())}
    chosen = joint[rows, [code[label] for label in explained.prediction.tolist()]]
    against = joint[rows, [code[label] for label in explained.against.tolist()]]
    return chosen - against, np.maximum(np.abs(chosen), np.abs(against))


# ---------------------------------------------------------------------- sums


@pytest.mark.parametrize("reading", READINGS)
@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_intercept_and_contributions_add_up_to_the_log_odds(reading, missing):
    model = fruit_model(reading, missing=missing)
    X, _ = fruit(80, random_state=1)
    explained = model.explain(X)
    expected, size = log_odds_by_joint(model, X, explained)
    total = explained.intercept + explained.contributions.sum(axis=1)
    assert np.abs(total - explained.log_odds).max() <= 1e-15 * np.abs(explained.log_odds).max()
    # The log-joints are rounded to 1e-16 of their own size before they are subtracted.
    assert (np.abs(explained.log_odds - expected) <= 1e-12 * np.maximum(size, 1.0)).all()


def test_the_classes_compared_are_the_prediction_and_the_runner_up():
    for model, X in ((fruit_model(), fruit(80, random_state=1)[0]), loan_model()):
        explained, proba = model.explain(X), model.predict_proba(X)
        assert np.array_equal(explained.prediction, model.predict(X))
        assert np.array_equal(explained.against, model.classes_[np.argsort(-proba, axis=1)[:, 1]])


def test_calibrated_probabilities_stand_beside_those_before_calibration():
    model, X = loan_model()
    explained, proba = model.explain(X), model.predict_proba(X)
    assert np.array_equal(explained.calibrated_probability, proba.max(axis=1))
    one = explained[3]
    assert one.calibrated_log_odds == pytest.approx(np.log(proba[3].max() / proba[3].min()), rel=1e-12)
    joint = model.predict_joint_log_proba(X)
    plain = np.exp(joint - np.logaddexp.reduce(joint, axis=1)[:, None])
    chosen = np.searchsorted(model.classes_, explained.prediction)
    # Both round log-joints of about 50 before they are subtracted: 1e-14 absolute, and as much relative after exp.
    assert explained.probability == pytest.approx(plain[np.arange(len(plain)), chosen], rel=1e-12)
    assert not np.allclose(explained.probability, explained.calibrated_probability, atol=0.01)
    assert f"{one.calibrated_probability:.2f} calibrated" in str(one)


def test_without_calibration_there_is_no_calibrated_probability():
    explained = fruit_model().explain(fruit(2, random_state=1)[0])
    assert explained.calibrated_probability is None
    assert explained[0].calibrated_probability is None
    assert explained[0].calibrated_log_odds is None


@pytest.mark.parametrize("reading", READINGS)
def test_words_add_up_to_the_contribution_of_their_text(reading):
    model = fruit_model(reading)
    X, _ = fruit(60, random_state=2)
    for one in model.explain(X)[:]:
        if "note" not in one.words:
            continue
        assert (one.absent_words["note"] != 0) == (reading == "marks")
        total = sum(part for _, part in one.words["note"]) + one.absent_words["note"]
        assert total == pytest.approx({c.column: c.contribution for c in one.contributions}["note"], abs=1e-12)
        sizes = [abs(part) for _, part in one.words["note"]]
        assert sizes == sorted(sizes, reverse=True)


def test_a_marked_word_counts_by_its_own_presence_and_the_rest_is_told():
    """Two words, of which one class always has the second: its absence speaks, not the presence of the first."""
    texts = ["bar foo", "bar foo", "bar foo", "bar", "bar", "foo"]
    model = NaiveBayes(columns={"t": "marks"}, alpha=1.0).fit(pa.table({"t": texts}), ["a", "a", "a", "b", "b", "b"])
    one = model.explain(pa.table({"t": ["bar"]}), against="a")[0]
    assert one.prediction == "b"
    assert dict(one.words["t"]) == pytest.approx({"bar": np.log((3 / 5) / (4 / 5))})
    assert one.absent_words["t"] == pytest.approx(np.log((3 / 5) / (1 / 5)))
    assert "('bar' x 1/1.3, absent words x 3)" in str(one)
    assert json.loads(json.dumps(one.to_dict()))["absent_words"] == {"t": pytest.approx(np.log(3))}


def test_absent_words_that_a_class_always_has_make_it_impossible():
    texts = ["bar foo", "bar foo", "bar", "foo"]
    model = NaiveBayes(columns={"t": "marks"}, alpha=0.0).fit(pa.table({"t": texts}), ["a", "a", "b", "b"])
    one = model.explain(pa.table({"t": ["bar"]}))[0]
    assert (one.prediction, one.absent_words["t"]) == ("b", np.inf)
    assert dict(one.words["t"]) == pytest.approx({"bar": np.log(0.5)})


def test_a_factor_next_to_one_is_called_one():
    texts = ["foo bar"] * 100 + ["foo bar"] * 99 + ["foo foo"]
    model = NaiveBayes(columns={"t": "multinomial"}, alpha=1.0).fit(pa.table({"t": texts}), ["a"] * 100 + ["b"] * 100)
    told = [str(model.explain(pa.table({"t": ["foo bar"]}), against=other)) for other in ("a", "b")]
    assert not any("1/1" in text.replace("1/1.", "") for text in told)


def test_contributions_of_one_row_are_sorted_by_size_and_are_those_of_the_matrix():
    X, _ = fruit(20, random_state=3)
    explained = fruit_model().explain(X)
    for i, one in enumerate(explained):
        sizes = [abs(c.contribution) for c in one.contributions]
        assert all(a >= b for a, b in pairwise(sizes))
        by_column = {c.column: c.contribution for c in one.contributions}
        assert [by_column[name] for name in explained.columns] == explained.contributions[i].tolist()


def test_columns_are_in_the_order_of_the_table():
    explained = fruit_model().explain(fruit(1)[0])
    names = ["colour", "sweet", "size", "price", "seeds", "age", "picked", "picked (weekday)", "picked (month)", "note"]
    assert list(explained.columns) == names


# ---------------------------------------------------------------------- against


def test_the_class_to_compare_with_can_be_named_for_all_rows_or_for_each():
    model = fruit_model()
    X, _ = fruit(30, random_state=4)
    for_all = model.explain(X, against="plum")
    predicted = model.predict(X)
    assert (for_all.against[predicted != "plum"] == "plum").all()
    runner_up = model.explain(X).against
    assert (for_all.against[predicted == "plum"] == runner_up[predicted == "plum"]).all()
    labels = ["apple" if label != "apple" else "pea" for label in predicted]
    for given in (labels, np.array(labels), pd.Series(labels), tuple(labels)):
        assert model.explain(X, against=given).against.tolist() == labels
    expected, size = log_odds_by_joint(model, X, for_all)
    assert (np.abs(for_all.log_odds - expected) <= 1e-12 * np.maximum(size, 1.0)).all()


def test_labels_that_are_numbers_can_be_named():
    X, y = fruit(100)
    model = NaiveBayes().fit(X, [CLASSES.index(label) for label in y])
    explained = model.explain(X.slice(0, 5), against=1)
    assert set(explained.against.tolist()) <= {0, 1, 2}
    assert (explained.against[explained.prediction != 1] == 1).all()


# ---------------------------------------------------------------------- impossible cells


def zeros():
    """A model without smoothing, in which 'red' is impossible for peas and 'green' for apples."""
    X = pa.table({"colour": ["red", "red", "green", "green"], "sweet": [True, False, True, False]})
    return NaiveBayes(alpha=0.0, class_alpha=0.0).fit(X, ["apple", "apple", "pea", "pea"])


def test_a_cell_that_is_impossible_in_the_other_class_decides_alone():
    one = zeros().explain(pa.table({"colour": ["red"], "sweet": [True]}))[0]
    assert one.prediction == "apple"
    assert one.log_odds == np.inf
    assert one.contributions[0] == ("colour", "red", np.inf)
    assert one.reasons == ["colour = red: impossible among 'pea'"]
    assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["log_odds"] == "inf"
    assert one.turns[0][:3] == ("colour", "= green", "green")
    assert "infinitely many to 1" in str(one)


def test_a_row_that_is_impossible_in_both_classes_is_decided_by_the_class_frequencies():
    X = pa.table({"colour": ["red", "red", "green", "green"], "size": ["s", "s", "l", "l"]})
    model = NaiveBayes(alpha=0.0, class_prior=[0.7, 0.3]).fit(X, ["apple", "apple", "pea", "pea"])
    one = model.explain(pa.table({"colour": ["red"], "size": ["l"]}))[0]
    assert one.prediction == "apple"
    assert one.is_impossible
    assert one.log_odds == one.intercept == pytest.approx(np.log(7 / 3), rel=1e-15)
    assert sorted(c.contribution for c in one.contributions) == [-np.inf, np.inf]
    assert one.turns == []
    assert "impossible in both" in one.summary
    assert "impossible in both" in str(one)


def test_a_class_of_probability_zero_is_ruled_out_before_the_row_is_looked_at():
    X = pa.table({"colour": ["red", "green"]})
    model = NaiveBayes(alpha=1.0, class_prior=[1.0, 0.0]).fit(X, ["apple", "pea"])
    one = model.explain(pa.table({"colour": ["green"]}))[0]
    assert (one.prediction, one.against) == ("apple", "pea")
    assert one.intercept == one.log_odds == np.inf
    assert "'pea' has probability 0" in str(one)
    assert one.turns == []


def test_nothing_is_ever_not_a_number_however_many_cells_are_impossible():
    X, y = fruit(60)
    model = NaiveBayes(alpha=0.0, columns=COLUMNS).fit(X, y)
    rows, _ = fruit(60, random_state=9)
    explained = model.explain(rows)
    assert not np.isnan(explained.contributions).any()
    assert not np.isnan(explained.log_odds).any()
    assert "nan" not in "".join(map(str, explained))


# ---------------------------------------------------------------------- what is left out


def test_missing_columns_are_named_and_contribute_nothing():
    model = fruit_model()
    X, _ = fruit(60, random_state=5)
    explained = model.explain(X)
    for i, row in enumerate(X.to_pylist()):
        one = explained[i]
        sources = {name.split(" (")[0] for name in one.missing}
        assert sources == {name for name, value in row.items() if value is None}
        assert all(c.contribution == 0 and c.value is None for c in one.contributions if c.column in one.missing)
        if one.missing:
            assert f"missing, left out: {', '.join(one.missing)}" in str(one)


def test_a_missing_cell_that_is_a_state_is_a_reason_like_any_other():
    X = pa.table({"colour": ["red", "red", None, None, None, "red"]})
    model = NaiveBayes(missing="state", alpha=1.0).fit(X, [0, 0, 1, 1, 1, 1])
    one = model.explain(pa.table({"colour": pa.array([None], pa.string())}))[0]
    assert one.missing == []
    assert one.contributions[0].contribution == pytest.approx(np.log((4 / 6) / (1 / 4)), rel=1e-12)
    assert one.reasons[0].startswith("colour is empty: 2.7 times as likely among 1 as among 0")


def test_a_category_that_was_never_seen_is_named():
    model = fruit_model()
    X, _ = fruit(1, random_state=5)
    X = X.set_column(0, "colour", pa.array(["ultraviolet"]))
    with pytest.warns(UserWarning, match="ultraviolet"):
        one = model.explain(X)[0]
    assert one.unseen == ["colour"]
    assert "never seen, left out: colour = ultraviolet" in str(one)
    assert {c.column: c.contribution for c in one.contributions}["colour"] == 0


def test_a_number_without_a_logarithm_is_named_as_never_seen():
    model = fruit_model()
    X, _ = fruit(1, random_state=5)
    X = X.set_column(3, "price", pa.array([-1.0]))
    with pytest.warns(UserWarning, match="price"):
        one = model.explain(X)[0]
    assert one.unseen == ["price"]


# ---------------------------------------------------------------------- in words


def test_reasons_are_told_with_the_value_as_given_and_how_the_model_reads_it():
    X = pd.DataFrame({"income": [51000.0, 52000.0, 58000.0, 71000.0, 72000.0, 53000.0]})
    y = ["late", "late", "late", "repaid", "repaid", "repaid"]
    model = NaiveBayes(columns={"income": {"cuts": [50000, 60000]}}, alpha=1.0).fit(X, y)
    one = model.explain(pd.DataFrame({"income": [52000.0]}))[0]
    assert one.reasons == ["income = 52000 (binned 50000 to 60000): 2 times as likely among 'late' as among 'repaid'"]
    assert one.summary == "'late' (0.67) rather than 'repaid' for income = 52000"
    assert one.contributions == [("income", 52000.0, pytest.approx(np.log(2), rel=1e-12))]


def test_scores_of_complement_counts_are_not_called_likelihoods():
    X, _ = fruit(20, random_state=1)
    row = next(i for i, text in enumerate(X["note"].to_pylist()) if text is not None)
    counted, complement = (str(fruit_model(reading).explain(X)[row]) for reading in ("multinomial", "complement"))
    assert "speaks for" in next(line for line in complement.splitlines() if "note = " in line)
    assert "times as likely" in next(line for line in counted.splitlines() if "note = " in line)


def test_what_speaks_against_the_decision_is_told_too():
    X = pa.table({"a": ["x"] * 9 + ["y"] * 9, "b": ["u", "v", "v"] * 3 + ["u", "u", "v"] * 3})
    model = NaiveBayes(alpha=1.0).fit(X, [0] * 9 + [1] * 9)
    one = model.explain(pa.table({"a": ["x"], "b": ["u"]}))[0]
    assert one.summary == "0 (0.85) rather than 1 for a = x; against it b = u"
    assert one.reasons == [
        "a = x: 10 times as likely among 0 as among 1",
        "b = u: 1.8 times as likely among 1 as among 0",  # 7/11 by 4/11
    ]


def test_dates_are_shown_as_dates_wherever_they_are_binned():
    X, y = fruit(300)
    cut = float((np.datetime64("2024-06-01") - np.datetime64("1970-01-01")).astype(int))
    model = NaiveBayes(columns={"picked": {"cuts": [cut]}}).fit(X, y)
    row = next(i for i, cell in enumerate(X["picked"].to_pylist()) if cell is not None)
    one = model.explain(X.slice(row, 1))[0]
    given = X["picked"][row].as_py()
    side = "under 2024-06-01" if given.isoformat() < "2024-06-01" else "from 2024-06-01 on"
    assert f"picked = {given} (binned {side})" in str(one)
    values = {c.column: c.value for c in one.contributions}
    assert values["picked"] == given
    assert values["picked (weekday)"] == f"{given:%A}"
    assert values["picked (month)"] == f"{given:%B}"


def test_columns_line_up_with_chinese_labels_too():
    X = pd.DataFrame({"颜色": ["红", "红", "绿", "绿"], "size": ["large", "small", "small", "small"]})
    model = NaiveBayes(alpha=1.0).fit(X, ["苹果", "苹果", "豌豆", "豌豆"])
    lines = str(model.explain(X.head(1))).splitlines()
    assert "'苹果' rather than '豌豆'" in lines[0]
    table = [line for line in lines[1:] if "+" in line or "-0" in line]
    assert len(table) == 4
    numbers = [display_width(line[: line.index(".")]) for line in table]
    assert len(set(numbers)) == 1


def test_a_line_break_in_the_name_of_a_column_breaks_no_line():
    X = pd.DataFrame({"two\nlines": ["a", "a", "b", "b"], "gone\n": ["x", "y", "x", "y"]})
    model = NaiveBayes(alpha=1.0).fit(X, ["p", "p", "q", "q"])
    one = model.explain(pd.DataFrame({"two\nlines": ["a"], "gone\n": [None]}))[0]
    assert "\n  two\\nlines = a  " in str(one)
    assert "missing, left out: gone\\n\n" in str(one)
    assert "would turn it: two\\nlines = b" in str(one)
    assert "\n" not in one.summary
    assert [line.split()[0] for line in str(model.columns_).splitlines()] == ["column", "two\\nlines", "gone\\n"]


def test_of_many_columns_the_strongest_are_shown_and_the_rest_summed_up():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=200)
    X = rng.normal(size=(200, 12)) + 0.3 * y[:, None]
    one = NaiveBayes(family="gaussian").fit(X, y).explain(X[:1])[0]
    text = str(one)
    assert "four other columns" in text
    assert len([line for line in text.splitlines() if " = " in line]) == 8


def test_few_rows_are_printed_in_full_and_many_in_a_line_each():
    model = fruit_model()
    X, _ = fruit(30, random_state=6)
    assert str(model.explain(X.slice(0, 2))).count("log-odds") == 2
    lines = str(model.explain(X)).splitlines()
    assert lines[-1] == "and 10 more rows"
    assert lines[0] == f"0: {model.explain(X)[0].summary}"
    assert len(lines) == 21


# ---------------------------------------------------------------------- other forms


def test_an_explanation_is_ready_for_json():
    model, X = loan_model()
    for one in model.explain(X):
        told = json.loads(json.dumps(one.to_dict(), allow_nan=False))
        assert told["prediction"] == one.prediction
        assert told["summary"] == one.summary
        assert [c["contribution"] for c in told["contributions"]] == [c.contribution for c in one.contributions]
        assert len(told["turns"]) == len(one.turns) <= 3


def test_a_frame_comes_in_the_library_of_the_fit():
    X, y = fruit(60)
    plain = X.drop_columns(["picked"])
    for frame, kind in ((plain, pa.Table), (plain.to_pandas(), pd.DataFrame), (pl.from_arrow(plain), pl.DataFrame)):
        explained = NaiveBayes(columns=COLUMNS_WITHOUT_BINS).fit(frame, y).explain(frame)
        table = explained.to_frame()
        assert isinstance(table, kind)
        columns = table.column_names if isinstance(table, pa.Table) else list(table.columns)
        assert columns == ["prediction", "against", "probability", "log_odds", "intercept", *explained.columns]


COLUMNS_WITHOUT_BINS = {"size": "gaussian", "seeds": "poisson", "note": "multinomial"}


def test_the_frame_of_a_calibrated_model_has_both_probabilities():
    model, X = loan_model()
    table = model.explain(X).to_frame()
    assert table["calibrated_probability"].to_pylist() == model.predict_proba(X).max(axis=1).tolist()
    assert table["probability"].to_pylist() != table["calibrated_probability"].to_pylist()


def test_a_column_that_is_called_like_a_heading_keeps_its_name():
    X = pa.table({"prediction": ["a", "b", "a"]})
    table = NaiveBayes().fit(X, [0, 1, 0]).explain(X).to_frame()
    assert table.column_names[0] == "(prediction)"
    assert table.column_names[-1] == "prediction"


def test_rows_can_be_taken_from_the_end_and_in_slices():
    X, _ = fruit(5, random_state=8)
    explained = fruit_model().explain(X)
    assert len(explained) == 5
    assert explained[-1] == explained[4]
    assert explained[1:3] == [explained[1], explained[2]]
    with pytest.raises(IndexError, match="row 5"):
        explained[5]


def test_arrays_and_sparse_counts_are_explained_by_the_names_of_their_columns():
    from scipy import sparse

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=60)
    counts = rng.poisson(1.0 + 2 * np.outer(y, [1, 0, 0]), size=(60, 3))
    model = NaiveBayes().fit(sparse.csr_matrix(counts), y)
    one = model.explain(sparse.csr_matrix(counts[:1]))[0]
    assert {word for word, _ in one.words["(counts)"]} == {f"column {j}" for j in np.flatnonzero(counts[0])}
    assert one.contributions[0].value == counts[0].sum()
    array = NaiveBayes(family="poisson").fit(counts, y).explain(counts[:1])
    assert array.columns == ("x0", "x1", "x2")
    assert {c.column: c.value for c in array[0].contributions} == dict(
        zip(array.columns, counts[0].tolist(), strict=True)
    )


def test_sparse_columns_of_a_frame_are_named_as_they_are_there():
    X = pd.DataFrame({"free": [2, 1, 0, 0], "you": [0, 0, 1, 3]}).astype(pd.SparseDtype("int64", 0))
    model = NaiveBayes(alpha=1.0).fit(X, ["spam", "spam", "ham", "ham"])
    assert [word for word, _ in model.explain(X.head(1))[0].words["(counts)"]] == ["free"]


def test_hashed_words_are_named_by_their_hash():
    X, y = fruit(80)
    model = NaiveBayes(columns={"note": {"analyser": TextAnalyser(n_hash=64)}}).fit(X, y)
    words = [word for one in model.explain(X.slice(0, 10)) for word, _ in one.words.get("note", [])]
    assert words
    assert all(word.startswith("hash ") for word in words)


@pytest.mark.parametrize("setting", [{"class_weight": "balanced"}, {"class_prior": [0.5, 0.5]}])
def test_a_class_prior_that_was_set_is_not_told_as_a_frequency_of_rows(setting):
    rows, labels = pa.table({"colour": ["red", "red", "green", "red"]}), ["apple", "apple", "pea", "apple"]
    plain, model = NaiveBayes().fit(rows, labels), NaiveBayes(**setting).fit(rows, labels)
    assert "taken to be" not in str(plain.explain(rows)[0]) and "frequent as" in str(plain.explain(rows)[0])
    assert "is taken to be as frequent as" in str(model.explain(rows)[0])
    assert "被视为同样常见" in str(model.explain(rows, lang="zh")[0])


def test_one_explanation_is_a_frame_whose_contributions_add_up():
    X = pd.DataFrame({"a": [1.0, 2.0, 8.0, 9.0], "b": list("xxyx")}, index=[7, 8, 9, 10])
    one = NaiveBayes().fit(X, ["p", "p", "q", "q"]).explain(X)[2]
    frame = one.to_frame()
    assert isinstance(frame, pd.DataFrame) and set(frame["column"]) == {"a", "b"}
    assert frame["contribution"].sum() + one.intercept == pytest.approx(one.log_odds)
