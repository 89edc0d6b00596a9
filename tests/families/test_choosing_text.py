"""How the words of a text are read is chosen by rows from all of the first batch, and by more than noise."""

import re

import numpy as np
import pyarrow as pa
import pytest

from bayeswater import NaiveBayes
from bayeswater.families import choosing_text
from bayeswater.families.choosing_text import WordReport

TEXT = {"t": "text"}


def notes(n_rows: int, *, random_state: int = 0) -> tuple[list[str], list[str]]:
    """Texts of three classes; whether a word is there tells more than how often it stands there."""
    rng = np.random.default_rng(random_state)
    texts, labels = [], []
    for i in range(n_rows):
        k = i % 3
        there = rng.random(12) < np.where(np.arange(12) % 3 == k, 0.7, 0.3)
        times = rng.geometric(0.15, size=12)  # bursts, which tell nothing
        texts.append(" ".join(f"w{j} " * int(times[j]) for j in np.flatnonzero(there)) or "none")
        labels.append("abc"[k])
    return texts, labels


def read_as(texts: list[str], labels: list[str], **settings) -> tuple[str, str]:
    column = NaiveBayes(columns=TEXT).fit(pa.table({"t": texts}), labels, **settings).columns_["t"]
    return column.family, column.why


# ---------------------------------------------------------------------- which rows decide


def test_rows_that_are_sorted_by_class_are_judged_on_all_classes(monkeypatch):
    monkeypatch.setattr(choosing_text, "COMPARED_ROWS", 60)
    texts, labels = notes(300)
    order = np.argsort(labels, kind="stable")
    seen = {}
    compare = choosing_text.compare_words

    def watched(words, class_count, column, settings, table, labels, *rest):
        seen["labels"] = np.bincount(labels.codes, minlength=3)
        return compare(words, class_count, column, settings, table, labels, *rest)

    monkeypatch.setattr(choosing_text, "compare_words", watched)
    read_as([texts[i] for i in order], [labels[i] for i in order])
    assert seen["labels"].tolist() == [20, 20, 20]


def test_it_is_said_on_how_many_rows_the_readings_were_compared(monkeypatch):
    monkeypatch.setattr(choosing_text, "COMPARED_ROWS", 50)
    assert "; leave-one-out of 50 rows: multinomial " in read_as(*notes(120))[1]
    assert "; leave-one-out of 30 rows: multinomial " in read_as(*notes(30))[1]
    weight = [1.5] + [1.0] * 29
    assert "; leave-one-out of 30.5 rows: multinomial " in read_as(*notes(30), sample_weight=weight)[1]


def test_the_share_that_is_right_is_that_of_models_of_each_reading_with_every_row_left_out():
    texts, labels = notes(60)
    why, table = read_as(texts, labels)[1], pa.table({"t": texts})
    for family in choosing_text.OF_TEXT:
        model = NaiveBayes(columns={"t": family}).fit(table, labels)
        answers = model.classes_[model.loo_predict_log_proba(table, labels).argmax(axis=1)]
        assert f"{family} {100 * (answers == labels).mean():.1f} % right" in why


def test_a_row_of_weight_zero_is_not_compared():
    texts, labels = notes(40)
    with_none = read_as([*texts, "w1 w2 w3"], [*labels, "a"], sample_weight=[1.0] * 40 + [0.0])
    assert with_none == read_as(texts, labels)


def test_a_row_of_weight_two_is_compared_as_two_rows():
    texts, labels = notes(60)
    weighted, repeated = read_as(texts, labels, sample_weight=[2.0] * 60), read_as(texts * 2, labels * 2)
    assert weighted[0] == repeated[0]
    assert weighted[1].split("; ")[-1] == repeated[1].split("; ")[-1]


def test_where_every_row_is_alone_in_its_class_words_are_counted_and_no_figure_is_made_up():
    family, why = read_as(["a b c", "d e f"], ["x", "y"])
    assert family == "multinomial"
    assert "nan" not in why
    assert "no class has a second row" in why


# ---------------------------------------------------------------------- by how much


def test_marks_are_taken_where_they_are_clearly_better():
    assert read_as(*notes(300))[0] == "marks"


def test_a_better_figure_within_its_noise_leaves_words_counted():
    """Texts that are drawn word by word, as counts suppose: what looks better does so by chance."""
    better = taken = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        shares = rng.dirichlet(np.ones(30), size=3)
        texts = [" ".join(f"w{word}" for word in rng.choice(30, size=6, p=shares[i % 3])) for i in range(45)]
        family, why = read_as(texts, ["abc"[i % 3] for i in range(45)])
        loss = dict(re.findall(r"(\w+) [\d.]+ % right \(log-loss ([\d.]+)\)", why))
        better += min(loss, key=lambda name: float(loss[name])) != "multinomial"
        taken += family != "multinomial"
    assert better >= 3
    assert taken == 0


@pytest.mark.parametrize(
    ("counted", "other", "is_worse"),
    [
        ([1.0, 1.0, 1.0, 1.0], [0.5, 0.5, 0.5, 0.5], True),  # better in every row: no noise at all
        ([1.0, 1.0, 1.0, 1.0], [0.0, 2.0, 0.0, 1.9], False),  # mean gain 0.025, standard error 0.49
        ([1.0, 1.0, 1.0, 1.0], [1.0 - 1e-12] * 4, False),  # the last digits
        ([1.0, 2.0], [1.0, 2.0], False),
        ([np.inf, 1.0], [np.inf, 0.5], True),  # impossible for both; mean gain 0.25, standard error 0.18
        ([np.inf, 1.0], [3.0, 1.0], True),  # what happened is impossible for one of them
        ([3.0, 1.0], [np.inf, 0.0], False),
    ],
)
def test_another_reading_has_to_be_better_by_more_than_the_standard_error(counted, other, is_worse):
    a, b = (WordReport(0.5, np.array(losses), None) for losses in (counted, other))
    assert a.is_worse_than(b) is is_worse


def test_the_standard_error_counts_a_row_by_its_weight():
    counted, other = np.array([1.0, 1.0]), np.array([0.0, 1.2])  # mean gain 0.4, standard deviation 0.6
    for weight, is_worse in (([1, 1], False), ([3, 3], True)):  # 0.6 / sqrt(2) = 0.42, 0.6 / sqrt(6) = 0.24
        a, b = (WordReport(0.5, losses, np.array(weight)) for losses in (counted, other))
        assert a.is_worse_than(b) is is_worse
