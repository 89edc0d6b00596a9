"""`NaiveBayes` on small mixed tables against exact arithmetic: log-joints, and leave-one-out in every case."""

import datetime
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.oracles.mixed import FLOOR, Column, Mixed, floats

from bayeswater import Beta, Dirichlet, NaiveBayes, NormalInverseGamma
from bayeswater.data.reading.dates import MONTHS, WEEKDAYS
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.estimate.smoothing import best_alpha, best_binary_alpha

pytestmark = [
    pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning"),
    pytest.mark.filterwarnings("ignore::bayeswater.errors.PrecisionWarning"),
]

# A log-joint sums some dozens of logarithms, each right to its last bit, and as many sums right to theirs.
SHARE = 1e-13

TEXT_FAMILIES = ("multinomial", "complement", "marks")


def told(column: Column, name: str = "") -> dict[str, Any]:
    """What `columns=` says about a column, so that the model reads it as the oracle does."""
    said: dict[str, Any] = {"family": column.family}
    if column.family in TEXT_FAMILIES:
        return {**said, "alpha": column.alpha, "analyser": TextAnalyser(idf=column.idf)}
    if column.family == "binned":
        return {**said, "alpha": column.alpha, "cuts": column.cuts}
    if column.prior is not None:
        return {**said, "prior": column.prior}
    if column.pseudo_counts is not None:
        return {**said, "prior": Dirichlet(dict(column.pseudo_counts))}
    return {**said, "alpha": column.alpha}


def frame_of(columns: dict[str, Column]) -> pd.DataFrame:
    """The cells in a frame; categories declare their domain."""
    return pd.DataFrame({name: _series(column) for name, column in columns.items()})


def _series(column: Column) -> Any:
    if column.family == "categorical":
        return pd.Categorical(column.cells, categories=list(column.states))
    if column.family == "bernoulli":
        return pd.array(column.cells, dtype="boolean")
    kind = object if column.family in TEXT_FAMILIES else np.float64
    return pd.Series(column.cells, dtype=kind)


def model_of(rows: Mixed, **given: Any) -> tuple[NaiveBayes, pd.DataFrame]:
    """Fit a model that reads the columns as the oracle does."""
    given = {"variance_floor": FLOOR, **given}
    model = NaiveBayes(columns={name: told(column) for name, column in rows.columns.items()}, **given)
    frame = frame_of(dict(rows.columns))
    weight = None if all(w == 1 for w in rows.weight) else [float(w) for w in rows.weight]
    return model.partial_fit(frame, rows.y, classes=rows.classes, sample_weight=weight), frame


def require_close(found: Any, expected: Any, share: float) -> None:
    """Infinite together, and else within `share` of the largest one."""
    assert not np.isnan(found).any()
    np.testing.assert_array_equal(np.isneginf(found), np.isneginf(expected))
    possible = np.isfinite(expected)
    size = np.abs(expected[possible]).max(initial=1.0)
    np.testing.assert_allclose(found[possible], expected[possible], rtol=0, atol=share * size)


def require_exact(rows: Mixed, share: float = SHARE, loo_share: float = SHARE, **given: Any) -> None:
    """Log-joints of all rows, and their posteriors with each left out, as exact arithmetic has them."""
    model, frame = model_of(rows, **given)
    joint = model.predict_joint_log_proba(frame)
    weight = [float(w) for w in rows.weight]
    without = model.loo_predict_log_proba(frame, rows.y, sample_weight=weight)
    for i in range(len(rows.y)):
        require_close(joint[i], floats(rows.log_joint(rows.row(i))), share)
        left = rows.without(i)
        expected = floats(left.log_posterior(rows.row(i)))
        size = np.abs(floats(left.log_joint(rows.row(i))))
        assert not np.isnan(without[i]).any()
        np.testing.assert_array_equal(np.isneginf(without[i]), np.isneginf(expected))
        possible = np.isfinite(expected)
        bound = loo_share * size[np.isfinite(size)].max(initial=1.0)
        np.testing.assert_allclose(without[i][possible], expected[possible], rtol=0, atol=bound)


# ---------------------------------------------------------------------- one table of everything

Y = ["a", "a", "a", "a", "b", "b", "b", "c", "c", "c", "c", "c"]
EVERYTHING = {
    "colour": Column(
        "categorical",
        ["red", "red", "blue", None, "blue", "green", "blue", "red", None, "green", "green", "green"],
        alpha=0.5,
        states=("blue", "green", "red", "never"),
    ),
    "coin": Column(
        "categorical",
        ["heads", "tails", None, "heads", "tails", "tails", "tails", "heads", "heads", "heads", None, "tails"],
        pseudo_counts={"heads": 2, "tails": 7, "edge": 0.25},
        states=("edge", "heads", "tails"),
    ),
    "flag": Column(
        "bernoulli",
        [True, True, None, False, False, False, True, True, None, True, False, False],
        alpha=2,
        states=(False, True),
    ),
    "height": Column("gaussian", [1.5, 1.75, 2.25, 1.625, 3.5, None, 3.25, 0.5, 0.25, 0.75, None, -1.5]),
    "level": Column("gaussian", [1.0, 1.0, 1.0, None, 2.0, 3.5, 2.25, 9.0, 9.0, 8.0, 8.5, 9.25], floor=1e-6),
    "price": Column("lognormal", [10.0, 12.5, 80.0, None, 1.5, 0.25, 2.0, 10.0, 1e3, 7.0, 3.0, 4.0]),
    "visits": Column("poisson", [0, 1, None, 2, 7, 9, 4, 0, 0, 0, 0, None], alpha=0.5),
    "age": Column("binned", [20, 31.5, 40, 64, None, 18, 19, 70, 80, 31, 18, 17.5], alpha=0.25, cuts=(18, 31.5, 65)),
    "belief": Column(
        "gaussian",
        [0.5, None, 0.75, 1.5, -2.0, 2.0, 8.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        prior=NormalInverseGamma(1.0, 0.5, 2.0, 3.0),
    ),
    "counted": Column(
        "multinomial", ["to be or", "not to be", None, "", "be be be", "or", "to", "not", "a", "a b", "be", "to"]
    ),
    "complemented": Column(
        "complement",
        ["to be or", "not to be", None, "", "be be be", "or", "to", "not", "a", "a b", "be", "to"],
        alpha=0.5,
    ),
    "marked": Column(
        "marks", ["to be or", "not to be", None, "", "be be be", "or", "to", "not", "a", "a b", "be", "to"], alpha=0.25
    ),
    "weighed": Column(
        "multinomial",
        ["to be or", "not to be", None, "", "be be be", "or", "to", "not", "a", "a b", "be", "to"],
        alpha=0.1,
        idf=True,
    ),
}
WEIGHTS = {
    "rows": None,
    "whole": [1, 2, 3, 1, 1, 1, 2, 1, 4, 1, 1, 1],
    "fractions": [0.5, 1.5, 1.0, 0.25, 2.75, 1.0, 0.125, 1.0, 3.0, 0.75, 1.0, 1.0],
}


@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("name", EVERYTHING)
def test_every_family_alone_is_exact_and_so_is_leave_one_out(name: str, weight: Any) -> None:
    require_exact(Mixed.of({name: EVERYTHING[name]}, Y, weight), loo_share=1e-12)


@pytest.mark.usefixtures("kernel")
@pytest.mark.parametrize("weight", WEIGHTS.values(), ids=WEIGHTS)
def test_a_table_of_all_families_is_the_product_of_its_columns(weight: Any) -> None:
    require_exact(Mixed.of(EVERYTHING, Y, weight, class_alpha=1), loo_share=1e-12)


def test_the_class_prior_may_be_smoothed_otherwise_or_given() -> None:
    some = {name: EVERYTHING[name] for name in ("colour", "height")}
    require_exact(Mixed.of(some, Y, class_alpha=0.125), class_alpha=0.125)
    require_exact(Mixed.of(some, Y, class_prior=[0.25, 0.25, 0.5]), class_prior=[0.25, 0.25, 0.5])
    require_exact(Mixed.of(some, Y, class_prior=[0.5, 0, 0.5]), class_prior=[0.5, 0, 0.5])


def test_a_class_without_rows_has_its_prior_and_the_densities_of_all_classes_together() -> None:
    some = {name: EVERYTHING[name] for name in ("colour", "height", "price", "visits", "age", "counted", "marked")}
    require_exact(Mixed.of(some, Y, classes=["a", "b", "c", "d"]), loo_share=1e-12)


def test_missing_cells_can_be_a_state_of_categories_and_bins() -> None:
    names = ("colour", "age", "height")
    some = {name: EVERYTHING[name] for name in names}
    states = {n: Column(**{**vars(c), "missing_is_state": c.family != "gaussian"}) for n, c in some.items()}
    require_exact(Mixed.of(states, Y), missing="state")


def test_maximum_likelihood_has_zeros_and_no_nan() -> None:
    names = ("colour", "flag", "visits", "age", "counted", "marked")
    some = {name: Column(**{**vars(EVERYTHING[name]), "alpha": 0}) for name in names}
    for name, column in some.items():
        require_exact(Mixed.of({name: column}, Y))
    require_exact(Mixed.of(some, Y))


def test_new_rows_with_unseen_categories_and_words_are_scored_by_what_is_known() -> None:
    rows = Mixed.of(EVERYTHING, Y)
    model, frame = model_of(rows)
    nothing = dict.fromkeys(EVERYTHING)
    new = [
        nothing,
        {**nothing, "colour": "never", "visits": 40.0, "age": -5.0},
        {**nothing, "counted": "to boldly go", "marked": "boldly", "complemented": "never seen", "weighed": "go to be"},
        {**nothing, "height": 1e6, "price": 1e-300, "belief": -1e9, "flag": False},
    ]
    table = pd.DataFrame(new).astype(frame.dtypes)
    joint = model.predict_joint_log_proba(table)
    for i, row in enumerate(new):
        require_close(joint[i], floats(rows.log_joint(row)), SHARE)


def test_automatic_smoothing_is_that_of_each_column_and_jeffreys_for_rates() -> None:
    names = ("colour", "flag", "age", "visits", "counted", "complemented", "marked")
    columns = {name: {**told(EVERYTHING[name]), "alpha": "auto"} for name in names}
    some = {name: EVERYTHING[name] for name in names}
    model = NaiveBayes(columns=columns).fit(frame_of(some), Y)
    groups = model.statistics_.columns.groups
    of_states = {
        v.name: best_alpha(groups[key].of_column(j))
        for key in ("categories", "bins")
        for j, v in enumerate(groups[key].schema)
    }
    of_words = {name: best_alpha(groups[f"words {name}"].word_count.T) for name in ("counted", "complemented")}
    marks = groups["words marked"]
    of_marks = {"marked": best_binary_alpha(marks.present, marks.observed[:, None])}
    alphas = of_states | of_words | of_marks | {"visits": 0.5}
    assert set(alphas) == set(names)
    rows = Mixed.of({name: Column(**{**vars(some[name]), "alpha": alphas[name]}) for name in names}, Y)
    joint, without = model.predict_joint_log_proba(frame_of(some)), model.loo_predict_log_proba(frame_of(some), Y)
    for i in range(len(Y)):
        require_close(joint[i], floats(rows.log_joint(rows.row(i))), SHARE)
        # The smoothing that all rows chose is held fixed, as domains and vocabularies are.
        require_close(without[i], floats(rows.without(i).log_posterior(rows.row(i))), 1e-12)


def test_a_date_is_its_days_its_weekday_and_its_month() -> None:
    dates = [datetime.date(2024, 2, 1 + 3 * i) if i != 5 else None for i in range(9)] + [
        None,
        datetime.date(1969, 12, 31),
    ]
    y = ["a", "b"] * 5 + ["b"]
    epoch = datetime.date(1970, 1, 1)
    days = [None if day is None else (day - epoch).days for day in dates]
    columns = {
        "day": Column("gaussian", days),
        "day (weekday)": Column("categorical", [d and WEEKDAYS[d.weekday()] for d in dates], 1, WEEKDAYS),
        "day (month)": Column("categorical", [d and MONTHS[d.month - 1] for d in dates], 1, MONTHS),
    }
    rows = Mixed.of(columns, y)
    frame = pd.DataFrame({"day": pd.array(dates, dtype="date32[pyarrow]")})
    model = NaiveBayes(columns={"day": "gaussian"}, alpha=1, variance_floor=FLOOR).fit(frame, y)
    assert [column.name for column in model.columns_] == list(columns)
    joint, without = model.predict_joint_log_proba(frame), model.loo_predict_log_proba(frame, y)
    for i in range(len(y)):
        require_close(joint[i], floats(rows.log_joint(rows.row(i))), SHARE)
        # Days count from 1970: a mean of 2e4 has its rounding, in units of a standard deviation of some thousand.
        require_close(without[i], floats(rows.without(i).log_posterior(rows.row(i))), 1e-11)


# ---------------------------------------------------------------------- any table

QUARTERS = st.integers(-32, 32).map(lambda quarters: quarters / 4)
CELLS = {
    "categorical": st.sampled_from("xyz"),
    "bernoulli": st.booleans(),
    "gaussian": QUARTERS,
    "lognormal": st.sampled_from([0.25, 0.5, 1.0, 1.5, 3.0, 20.0, 1e4]),
    "poisson": st.integers(0, 6).map(float),
    "binned": QUARTERS,
    **dict.fromkeys(TEXT_FAMILIES, st.lists(st.sampled_from(["to", "be", "or", "not"]), max_size=5).map(" ".join)),
}
DOMAIN = {"categorical": ("w", "x", "y", "z"), "bernoulli": (False, True)}
ALPHAS = st.sampled_from([1e-3, 0.5, 1.0, 1e3])


@st.composite
def any_column(draw: Any, family: str, n_rows: int) -> Column:
    """Draw a column of a family; any cell may be missing, few values make it constant in places."""
    cells = draw(st.lists(st.one_of(st.none(), CELLS[family]), min_size=n_rows, max_size=n_rows))
    if draw(st.booleans()):
        cells = [cell if cell is None or i % 3 else draw(CELLS[family]) for i, cell in enumerate(cells)]
    prior = NormalInverseGamma(1.0, 0.5, 2.0, 3.0) if family == "gaussian" and draw(st.booleans()) else None
    idf = draw(st.booleans()) if family in ("multinomial", "complement") else False
    cuts = (-2.0, 0.0, 5.5) if family == "binned" else ()
    domain = DOMAIN.get(family, ())
    if family == "categorical" and draw(st.booleans()):
        domain, cells = domain[:1], [cell and domain[0] for cell in cells]
    takes_one = len(set(cells) - {None}) == 1 and None in cells and (family == "bernoulli" or len(domain) == 1)
    return Column(family, cells, draw(ALPHAS), domain, None, cuts, prior, FLOOR, takes_one, idf)


@st.composite
def any_rows(draw: Any, families: Any, n_columns: tuple[int, int]) -> Mixed:
    """Draw a table of some columns, with weights or without."""
    n_rows = draw(st.integers(2, 7))
    chosen = draw(st.lists(families, min_size=n_columns[0], max_size=n_columns[1]))
    columns = {f"{family} {j}": draw(any_column(family, n_rows)) for j, family in enumerate(chosen)}
    y = draw(st.lists(st.sampled_from("ab" if draw(st.booleans()) else "abc"), min_size=n_rows, max_size=n_rows))
    weights = draw(st.sampled_from([None, st.integers(1, 3), st.sampled_from([0.25, 1 / 3, 1.0, 2.5])]))
    weight = None if weights is None else draw(st.lists(weights, min_size=n_rows, max_size=n_rows))
    return Mixed.of(columns, y, weight, classes=draw(st.sampled_from([None, ["a", "b", "c"]])))


# A scatter less one row loses the digits by which it shrinks, at most 1e6 of it here; a distance of many floors, 1e6
# variances each, then errs by as much.
SCATTER_SHARE = 1e-8


@pytest.mark.parametrize("family", CELLS)
@settings(max_examples=12)
@given(st.data())
def test_any_column_of_a_family_is_exact_and_so_is_leave_one_out(family: str, data: Any) -> None:
    rows = data.draw(any_rows(st.just(family), (1, 2)))
    moves = family in ("gaussian", "lognormal")
    require_exact(rows, SCATTER_SHARE if moves else SHARE, SCATTER_SHARE if moves else 1e-12)


@pytest.mark.usefixtures("kernel")
@settings(max_examples=12)
@given(st.data())
def test_any_mixed_table_is_exact_and_so_is_leave_one_out(data: Any) -> None:
    require_exact(data.draw(any_rows(st.sampled_from([*CELLS]), (2, 5))), SCATTER_SHARE, SCATTER_SHARE)


# ---------------------------------------------------------------------- where the floor of the variance bites

FLOORED = {
    "a class of equal values": [1, 1, 1, 1, 1, 5, 6, 7, 8, 9.5],
    "equal but for one": [1, 1, 1, 1, 2, 5, 6, 7, 8, 9.5],
    "both classes constant": [1, 1, 1, 1, 1, 2, 2, 2, 2, 2],
    "one value for all but one row": [1, 1, 1, 1, 1, 1, 1, 1, 1, 2],
    "one value for all": [1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
    "one row has a value": [None] * 9 + [3],
    "two rows of one class have values": [None] * 8 + [3, 4],
    "one row of each class has a value": [2, *[None] * 8, 3],
    "values nearly equal": [1, 1 + 2**-30, 1, 1, 1 + 2**-31, 5, 6, 7, 8, 9.5],
    "a far row": [1, 2, 3, 4, 1000, 5, 6, 7, 8, 9.5],
}


@pytest.mark.parametrize("weight", [None, [3, 1, 1, 2, 1, 1, 1, 5, 1, 1], [0.5, 1, 1, 2.25, 1, 1, 0.75, 1, 1, 1]])
@pytest.mark.parametrize("floor", [1e-6, 1e-2])
@pytest.mark.parametrize("cells", FLOORED.values(), ids=FLOORED)
def test_leave_one_out_is_exact_where_the_floor_bites(cells: Any, floor: float, weight: Any) -> None:
    columns = {"x": Column("gaussian", cells, floor=floor), "y": Column("lognormal", cells, floor=floor)}
    # Of a scatter that shrinks to the floor, a millionth, ten digits are left.
    require_exact(Mixed.of(columns, ["a"] * 5 + ["b"] * 5, weight), loo_share=1e-9, variance_floor=floor)


@pytest.mark.usefixtures("kernel")
def test_many_rows_take_the_same_way_as_few_columns_clear_of_the_floor_and_not() -> None:
    rng = np.random.default_rng(2)
    n = 60
    y = rng.choice(list("abc"), n)
    clear = rng.normal(size=n) * 3 + 10
    at_floor = np.where(y == "a", 1.0, rng.normal(size=n))
    rare = np.where((y == "b") & (np.arange(n) > 5), np.nan, rng.normal(size=n))
    with_holes = np.where(rng.random(n) < 0.3, np.nan, clear)

    def cells(x: Any) -> list[Any]:
        return [None if np.isnan(v) else float(v) for v in x]

    columns = {
        "clear": Column("gaussian", cells(clear)),
        "at the floor": Column("gaussian", cells(at_floor)),
        "rare": Column("gaussian", cells(rare)),
        "with holes": Column("lognormal", cells(with_holes)),
        "counts": Column("poisson", cells(rng.poisson(2, n).astype(float)), 0.5),
    }
    require_exact(Mixed.of(columns, y.tolist()), SHARE * 10, 1e-9)


# ---------------------------------------------------------------------- tables of parameters


def test_tables_show_the_parameters_that_exact_arithmetic_has() -> None:
    some = {name: EVERYTHING[name] for name in EVERYTHING if name != "weighed"}
    rows = Mixed.of(some, Y)
    model, _ = model_of(rows)
    tables = model.tables()
    assert list(tables) == ["class", *some]
    np.testing.assert_allclose(np.log(tables["class"]["probability"]), floats(rows.log_prior()), rtol=1e-14)
    for name in ("colour", "coin", "flag"):
        for state in some[name].states:
            alone = Mixed.of({name: some[name]}, Y, class_prior=[1, 1, 1])
            shown = tables[name].set_index(name).loc[state]
            np.testing.assert_allclose(np.log(shown), floats(alone.log_joint({name: state})), rtol=0, atol=1e-14)
    assert tables["age"]["age"].tolist() == ["under 18", "18 to 31.5", "31.5 to 65", "from 65 on"]
    bins = Mixed.of({"age": some["age"]}, Y, class_prior=[1, 1, 1])
    for label, value in zip(tables["age"]["age"], [0, 20, 40, 90], strict=True):
        shown = tables["age"].set_index("age").loc[label]
        np.testing.assert_allclose(np.log(shown), floats(bins.log_joint({"age": value})), rtol=0, atol=1e-14)
    rate = [Fraction(3 * 2 + 1, 3 * 2), Fraction(20 * 2 + 1, 3 * 2), Fraction(1, 4 * 2)]
    np.testing.assert_allclose(tables["visits"]["rate(visits)"], floats(rate), rtol=1e-15)
    np.testing.assert_allclose(tables["height"]["mean(height)"][0], (1.5 + 1.75 + 2.25 + 1.625) / 4, rtol=1e-15)
    assert [*tables["price"].columns] == ["class", "mean(log price)", "std(log price)"]
    np.testing.assert_allclose(tables["price"]["mean(log price)"][0], np.log([10, 12.5, 80]).mean(), rtol=1e-15)
    for name, what in (("counted", "P(word | {})"), ("complemented", "weight({})"), ("marked", "P(present | {})")):
        shown = tables[name].set_index("word")
        assert shown.index.tolist() == ["a", "b", "be", "not", "or", "to"]
        alone = Mixed.of({name: some[name]}, Y, class_prior=[1, 1, 1])
        values = floats(alone.log_joint({name: "be"}))
        found = shown.loc["be", [what.format(k) for k in "abc"]]
        if name == "marked":
            rest = shown.drop(index="be")[[what.format(k) for k in "abc"]]
            found = np.log(found) + np.log1p(-rest).sum()
        elif name == "counted":
            found = np.log(found)
        np.testing.assert_allclose(found, values, rtol=1e-13)


def test_priors_by_label_for_flags_and_bins() -> None:
    frame = pd.DataFrame({"flag": [True, False, True, True], "age": [1.0, 2.0, 3.0, 4.0]})
    columns = {
        "flag": {"prior": Beta(2, 8)},
        "age": {"cuts": (2.5,), "prior": Dirichlet([3, 1])},
    }
    model = NaiveBayes(columns=columns).fit(frame, ["a", "a", "b", "b"])
    flag = model.tables()["flag"].set_index("flag")
    np.testing.assert_allclose(flag.loc[True], [(1 + 2) / (2 + 10), (2 + 2) / (2 + 10)], rtol=1e-15)
    age = model.tables()["age"].set_index("age")
    np.testing.assert_allclose(age.loc["under 2.5"], [(2 + 3) / (2 + 4), (0 + 3) / (2 + 4)], rtol=1e-15)
