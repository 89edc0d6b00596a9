"""Weights on words: machines of folds never see the rows that they score, and what rows say is what they have."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import csr_array

from bayeswater.decision.word_weights import FOLDS, Machine, TextRows, TextWeights, WordReading, log_ratios

RNG = np.random.default_rng(5)
CODES = np.arange(180) % 3
TOPIC = np.where(RNG.random(180) < 0.7, CODES, RNG.integers(0, 3, 180))  # nine words go together, three speak alone
OWN = np.where(np.arange(12) < 9, TOPIC[:, None], CODES[:, None])
COUNTS = RNG.poisson(np.where(np.arange(12) % 3 == OWN, 1.2, 0.3))
PRIOR = np.log([0.5, 0.25, 0.25])


def texts(counts: np.ndarray, codes: np.ndarray, *, is_marked: bool = True) -> TextRows:
    weight = np.where(np.arange(len(codes)) % 5 == 0, 2.0, 1.0)
    return TextRows(csr_array(counts.astype(np.float64)), codes, weight, np.arange(len(codes)) // 2 % FOLDS, is_marked)


@pytest.fixture(scope="module", params=[2, 3], ids=["two classes", "three classes"])
def rows(request: pytest.FixtureRequest) -> TextRows:
    own = request.param > CODES
    return texts(COUNTS[own], CODES[own])


def learned(rows: TextRows) -> TextWeights:
    n_classes = int(rows.codes.max()) + 1
    return TextWeights.fit(rows, rows.sums(n_classes), PRIOR[:n_classes])


@pytest.mark.parametrize("is_marked", [True, False], ids=["marks", "counts"])
def test_sums_count_rows_with_a_word_or_words(is_marked: bool) -> None:
    rows = texts(COUNTS, CODES, is_marked=is_marked)
    cells = (COUNTS > 0) if is_marked else COUNTS
    expected = [[rows.weight[k == CODES] @ cells[k == CODES, j] for j in range(12)] for k in range(3)]
    assert rows.sums(3).tolist() == expected


def test_a_word_that_no_other_fold_has_is_none_to_its_machine(rows: TextRows) -> None:
    alone = np.zeros((len(rows), 1))
    alone[rows.fold == 1] = 1.0
    wider = replace(rows, words=csr_array(np.hstack([rows.words.toarray(), alone])))
    left = np.stack([wider.take(np.flatnonzero(wider.fold != fold)).sums(3).sum(axis=0) for fold in range(FOLDS)])
    known = wider.known_words(left).toarray()
    assert not known[:, -1].any()
    assert known[:, :-1].tolist() == rows.words.toarray().tolist()


def test_a_machine_has_not_seen_the_rows_of_its_fold() -> None:
    rows = texts(COUNTS[CODES < 2], CODES[CODES < 2])
    found = learned(rows)
    assert len(found.folds) == FOLDS and found.n_used == len(rows)
    for fold in range(FOLDS):
        out = rows.fold == fold
        shuffled = replace(rows, codes=np.where(out, rows.codes[::-1], rows.codes))  # other labels in the fold alone
        others = shuffled.take(np.flatnonzero(~out))
        ratios = log_ratios(others.sums(len(found.shift)))
        machine = Machine.fit(found.reading.scaled(others.words), others.codes, others.weight, ratios)
        own, drawn = machine.weight - machine.weight.mean(), found.folds[fold].weight
        drawn = drawn - drawn.mean()
        share = (own * drawn).sum() / (own * own).sum()  # weights are drawn towards one size
        np.testing.assert_allclose(drawn, share * own, atol=1e-5)
        assert 0.01 < share <= 1


def test_held_out_rows_are_told_apart_and_weights_say_so(rows: TextRows) -> None:
    found = learned(rows)
    assert found.accuracy is not None and found.log_loss is not None
    assert found.accuracy > 1.2 / len(found.shift)
    assert 0 < found.log_loss < np.log(len(found.shift))
    words = f"held-out rows {100 * found.accuracy:.1f} % right, log-loss {found.log_loss:.4f}, {len(rows)} texts"
    assert str(found).endswith(words)
    assert str(replace(found, is_stale=True)) == f"{found}; learned from other rows than are counted now: refresh " + (
        "learns them again"
    )
    assert "held-out" not in str(replace(found, log_loss=None))
    n_machines = 1 if len(found.shift) == 2 else 3
    assert found.n_parameters == n_machines * (12 + 1) + len(found.shift)  # shifts are free but for one; and a slope


def test_what_a_text_says_is_the_sum_over_its_words(rows: TextRows) -> None:
    found = learned(rows)
    ratios = log_ratios(rows.sums(len(found.shift)))
    scaled = found.reading.scaled(rows.words)
    said = found.class_log_ratios(found.machine.scores(scaled, ratios))
    np.testing.assert_allclose(said, scaled @ found.coefficients(ratios) + found.constant, atol=1e-6)


def test_a_new_class_and_a_new_word_have_no_weight_and_the_class_no_better_start_than_others(rows: TextRows) -> None:
    found, n_classes = learned(rows), int(rows.codes.max()) + 1
    is_known = np.append(np.ones(n_classes, dtype=bool), False)

    def with_class(own: np.ndarray) -> np.ndarray:
        return np.concatenate([own, np.zeros((1, *own.shape[1:]))])

    more = found.laid_out(with_class, is_known, lambda weight: np.hstack([weight, np.zeros((len(weight), 1))]))
    assert more.is_stale and "refresh" in str(more)
    for old, new in zip((found.machine, *found.folds), (more.machine, *more.folds), strict=True):
        assert new.weight.tolist() == [*([*own, 0.0] for own in old.weight.tolist()), [0.0] * 13]
        assert new.intercept.tolist() == [*old.intercept.tolist(), min(0.0, old.intercept.min())]


def test_no_text_and_no_weight_teach_nothing() -> None:
    rows = texts(COUNTS, CODES)
    for none in (replace(rows, weight=np.zeros(len(rows))), replace(rows, words=csr_array(rows.words.shape))):
        found = TextWeights.fit(none, none.sums(3), PRIOR)
        assert (found.n_used, found.log_loss, found.accuracy) == (0, None, None)


def test_the_root_of_the_length_lets_long_texts_say_more() -> None:
    words = csr_array(np.array([[1.0, 0, 0, 0], [1.0, 1, 1, 1]]))
    assert np.square(WordReading().scaled(words).toarray()).sum(axis=1).tolist() == [1.0, 1.0]
    assert np.square(WordReading(by_root=True).scaled(words).toarray()).sum(axis=1) == pytest.approx([1.0, 2.0])
    assert str(WordReading("counts", by_root=True, alone=True)) == "counts, by the root of the length, no pairs"
