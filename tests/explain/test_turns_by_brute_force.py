"""What is offered to turn a decision can be, turns it, and is the nearest: every number and state is tried."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayeswater import (
    AODE,
    TAN,
    GaussianClassifier,
    NaiveBayes,
    NormalInverseGamma,
    NormalInverseWishart,
    load,
    save,
)
from bayeswater.families.view import NumberOptions

FAMILIES = {"x": "gaussian", "price": "lognormal", "seeds": "poisson"}
PRIOR = {"family": "gaussian", "prior": NormalInverseGamma(mean=0.0, strength=0.5, shape=2.0, scale=2.0)}


def drawn(seed: int, n_classes: int, n_rows: int = 80) -> tuple[pd.DataFrame, np.ndarray]:
    """Rows with numbers of three families, categories of which one is declared and never seen, and holes."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, n_classes, n_rows)
    shift = rng.normal(size=(4, n_classes))
    frame = pd.DataFrame(
        {
            "x": rng.normal(2 * shift[0, y], np.exp(rng.normal(size=n_classes))[y]),
            "price": np.exp(rng.normal(shift[1, y], 0.7)),
            "seeds": rng.poisson(np.exp(1 + shift[2, y])).astype(float),
            "kind": pd.Categorical(
                np.where(rng.random(n_rows) < 0.3 + 0.5 * (shift[3, y] > 0), "a", rng.choice(["b", "c"], n_rows)),
                categories=["a", "b", "c", "never"],
            ),
        }
    )
    return frame.mask(rng.random(frame.shape) < 0.05), y


def assert_offers_are_right(model, X, rows):
    """Try all that is offered for some rows, and on a grid all that could be."""
    for i, one in enumerate(model.explain(rows)):
        row = rows.iloc[i : i + 1]
        predicted = model.predict(row)[0]
        for turns in ([turn] for turn in one.turns):
            assert_turns(model, X, row, turns, predicted)
        assert not (one.turns and one.turns_together)
        if one.turns_together:
            assert len({turn.column for turn in one.turns_together}) == 2
            assert_turns(model, X, row, one.turns_together, predicted)
        nearest = {column: nearest_by_trying(model, X, row, column, predicted) for column in X}
        possible = {column: distance for column, distance in nearest.items() if distance is not None}
        assert bool(one.turns) or not possible, (one, possible)
        for turn in one.turns:
            if turn.column in possible and X[turn.column].dtype.kind == "f" and not row[turn.column].isna().iloc[0]:
                offered = abs(
                    scaled(model, turn.column, turn.value) - scaled(model, turn.column, row[turn.column].iloc[0])
                )
                assert offered <= possible[turn.column] * (1 + 1e-9) + 2e-3 * (abs(offered) + abs(turn.value))


def assert_turns(model, X, row, turns, predicted):
    changed = row.copy()
    for turn in turns:
        column = X[turn.column]
        if column.dtype.kind == "f":
            assert column.min() <= turn.value <= column.max()
        else:
            assert turn.value in set(column.dropna())
        changed[turn.column] = pd.Series([turn.value], index=row.index, dtype=column.dtype)
    after = model.predict(changed)[0]
    assert after == turns[0].prediction != predicted


def scaled(model, column, value):
    return np.log(value) if FAMILIES.get(column) == "lognormal" and isinstance(model, NaiveBayes) else value


def nearest_by_trying(model, X, row, column, predicted):
    """Distance of the nearest cell of a column that turns it, on the scale on which it is read; None if none does."""
    seen = X[column].dropna()
    is_number = X[column].dtype.kind == "f"
    if is_number:
        cells = np.arange(seen.min(), seen.max() + 1) if column == "seeds" else np.linspace(seen.min(), seen.max(), 200)
    else:
        cells = np.array(sorted(set(seen)))
    if isinstance(model, GaussianClassifier) and row[column].isna().iloc[0]:
        return None  # of a missing number among others nothing is offered
    rows = pd.concat([row] * len(cells), ignore_index=True)
    rows[column] = pd.Series(cells, dtype=X[column].dtype)
    turned = model.predict(rows) != predicted
    # what is decided by less than rounding is not offered
    top = np.sort(model.predict_log_proba(rows), axis=1)
    turned &= top[:, -1] - top[:, -2] > 1e-6
    if not turned.any():
        return None
    if not is_number or row[column].isna().iloc[0]:
        return 0.0
    here = scaled(model, column, row[column].iloc[0])
    return float(np.abs(scaled(model, column, cells[turned]) - here).min())


@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), n_classes=st.integers(2, 4), prior=st.booleans())
def test_naive_bayes_offers_the_nearest_cells_that_can_be(seed, n_classes, prior):
    X, y = drawn(seed, n_classes)
    model = NaiveBayes(columns={**FAMILIES, **({"x": PRIOR} if prior else {})}).fit(X, y)
    assert_offers_are_right(model, X, X[:4])


@settings(max_examples=8)
@given(
    seed=st.integers(0, 10**6),
    n_classes=st.integers(2, 4),
    form=st.sampled_from(["full", "shared", "diagonal", "spherical", "prior", "diagonal prior"]),
)
def test_gaussian_classes_offer_the_nearest_numbers_that_can_be(seed, n_classes, form):
    X, y = drawn(seed, n_classes)
    X = X.drop(columns="kind")
    prior = NormalInverseWishart() if "prior" in form else None
    model = GaussianClassifier(covariance=form.replace("prior", "").strip() or "full", prior=prior).fit(X, y)
    assert_offers_are_right(model, X, X[:4])


@settings(max_examples=6)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from([AODE, TAN]))
def test_states_that_depend_on_one_another_offer_states_that_occur(seed, kind):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, 90)
    codes = (y[:, None] + rng.integers(0, 3, size=(90, 5))) % 4
    X = pd.DataFrame({f"c{j}": pd.Categorical.from_codes(codes[:, j], list("abcd")) for j in range(5)})
    X = X.apply(lambda column: column.cat.add_categories("never"))
    assert_offers_are_right(kind().fit(X, y), X, X[:4])


def test_a_row_beyond_the_range_is_offered_numbers_within_it():
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 50)
    X = pd.DataFrame({"x": rng.normal(3.0 * y)})
    for model in (NaiveBayes(family="gaussian"), GaussianClassifier()):
        model.fit(X, y)
        (turn,) = model.explain(pd.DataFrame({"x": [1e6]}))[0].turns
        assert X["x"].min() <= turn.value <= X["x"].max()
        assert model.predict(pd.DataFrame({"x": [turn.value]}))[0] == turn.prediction == 0


def test_an_end_is_forgotten_with_its_row_and_offers_stay_within_those_that_remain():
    rng = np.random.default_rng(1)
    y = np.repeat([0, 1], 50)
    X = pd.DataFrame({"x": rng.normal(1.5 * y), "z": rng.normal(1.0 * y)})
    last = int(X["x"].argmax())
    for model in (NaiveBayes(family="gaussian"), GaussianClassifier()):
        model.fit(X, y).forget(X[last : last + 1], y[last : last + 1])
        rest = X.drop(index=last)
        assert "x" not in model.statistics_.seen.high and "x" in model.statistics_.seen.low
        for i, one in enumerate(model.explain(rest[:40])):
            for turn in one.turns:
                assert_turns(model, rest, rest.iloc[i : i + 1], [turn], one.prediction)
        model.partial_fit(X[last : last + 1], y[last : last + 1])
        # To know whether the row is the last again, the model would have to keep the number that it has forgotten.
        assert "x" not in model.statistics_.seen.high and "x" in model.statistics_.seen.low


def test_ranges_are_the_same_in_pieces_merged_and_from_a_file(tmp_path):
    X, y = drawn(3, 2, n_rows=200)
    X = X.drop(columns="kind")
    for whole in (NaiveBayes(columns=FAMILIES).fit(X, y), GaussianClassifier().fit(X, y)):
        seen = whole.statistics_.seen
        assert dict(seen.low) == X.min().to_dict() and dict(seen.high) == X.max().to_dict()
        pieces = type(whole)(**whole.get_params()).fit(X[:70], y[:70])
        assert pieces.partial_fit(X[70:], y[70:]).statistics_.seen == seen
        save(whole, tmp_path / "model.bayes")
        assert load(tmp_path / "model.bayes").statistics_.seen == seen
        first, second = (type(whole)(**whole.get_params()).fit(X[a:b], y[a:b]) for a, b in ((0, 90), (90, 200)))
        if isinstance(whole, GaussianClassifier):
            assert (first + second).statistics_.seen == seen


def tried_finely(options):
    """Cells of a column and their distances."""
    if isinstance(options, NumberOptions):
        cells = np.linspace(options.low, options.high, 61)
        cells = np.unique(np.rint(cells)) if options.is_whole else cells
        return cells, options.distance_of(cells)
    return options.cells, options.distance


def least_of_two(search):
    """The least change of two columns that turns the decision, of all on a fine grid."""
    least, tried = np.inf, {j: tried_finely(one) for j, one in enumerate(search.land.options) if one is not None}
    for i, j in combinations(tried, 2):
        a, b = (part.ravel() for part in np.meshgrid(*(np.arange(len(tried[k][0])) for k in (i, j)), indexing="ij"))
        turned = search._is_turned(search.land.with_pairs(i, tried[i][0][a], j, tried[j][0][b]))
        least = min(least, (tried[i][1][a] + tried[j][1][b])[turned].min(initial=np.inf))
    return least


def distance_of(search, turn):
    options = search.land.options[list(search.land.names).index(turn.column)]
    if isinstance(options, NumberOptions):
        return options.distance_of(np.array([np.log(turn.value) if options.is_log else turn.value]))[0]
    return options.distance[[options.value(cell) for cell in options.cells].index(turn.value)]


@pytest.mark.parametrize("kind", [NaiveBayes, GaussianClassifier])
def test_two_columns_together_are_the_least_that_do_and_where_none_are_offered_none_do(kind):
    n_pairs = 0
    for seed in range(16):
        X, y = drawn(seed, 2 + seed % 3)
        whole = X.notna().all(axis=1).to_numpy()
        X, y = X[whole].drop(columns=["kind"] * (kind is GaussianClassifier)), y[whole]
        model = NaiveBayes(columns=FAMILIES) if kind is NaiveBayes else GaussianClassifier()
        for one in model.fit(X, y).explain(X[:12]):
            if one.turns:
                continue
            least = least_of_two(one._search)
            assert bool(one.turns_together) == bool(np.isfinite(least))
            if one.turns_together:
                total = sum(distance_of(one._search, turn) for turn in one.turns_together)
                assert total < 1.03 * least  # both are found on grids, and told with few digits
                n_pairs += 1
    assert n_pairs > 2


@pytest.mark.parametrize("form", ["shared", "shared_diagonal", "full"])
def test_a_row_far_away_is_offered_what_turns_it_too(form):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 60)
    X = pd.DataFrame({"a": rng.normal(3.0 * y), "b": rng.normal(0.5 * y), "c": rng.normal(size=120)})
    model = GaussianClassifier(covariance=form).fit(X, y)
    tried = 0
    for far in (1e3, 1e6, 1e9):
        row = pd.DataFrame({"a": [2.0], "b": [0.2], "c": [far]})
        one = model.explain(row)[0]
        for turns in (*([turn] for turn in one.turns), *([one.turns_together] if one.turns_together else [])):
            assert_turns(model, X, row, turns, model.predict(row)[0])
            tried += 1
    assert tried > 2
