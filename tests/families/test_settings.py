"""The plan of `NaiveBayes`: what each column is taken for, what `columns=` can say, and what it refuses."""

import datetime
import re
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from tests.laws.mixed import require_same_groups

from bayeswater import AODE, BayesWarning, Beta, Dirichlet, NaiveBayes, NormalInverseGamma, load, save
from bayeswater.data.reading.column_plan import Column, ColumnPlan
from bayeswater.data.reading.text import TextAnalyser
from bayeswater.errors import DataError, ParameterError, SchemaError, UnseenCategoryWarning
from bayeswater.families.registry import FAMILIES
from bayeswater.families.settings import settings_like

N = 40
Y = np.array(["a", "b"] * (N // 2))


def table() -> pd.DataFrame:
    """A column of every kind."""
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], N),
            "grade": pd.Categorical(rng.choice(["A", "B"], N), categories=["A", "B", "C"]),
            "member": rng.random(N) < 0.5,
            "bit": rng.integers(0, 2, N),
            "weight": rng.normal(70, 8, N),
            "born": pd.date_range("1990-01-01", periods=N, freq="9D"),
            "opens": [datetime.time(int(h), 30) for h in rng.integers(6, 12, N)],
            "note": [
                f"{text} {i // 6}"
                for i, text in enumerate(["please call me back", "no time for this today"] * (N // 2))
            ],
            "serial": [f"SN{i:05}" for i in range(N)],
            "nothing": [None] * N,
        }
    )


@pytest.fixture(scope="module")
def model() -> NaiveBayes:
    with pytest.warns(BayesWarning, match="column 'serial' is left out"):
        return NaiveBayes().fit(table(), Y)


# ---------------------------------------------------------------------- what is chosen


def test_every_kind_of_column_gets_its_family_and_a_reason(model: NaiveBayes) -> None:
    families = {column.name: column.family for column in model.columns_}
    assert families["note"] in ("multinomial", "complement", "marks")
    assert families["weight"] == "gaussian"
    del families["note"], families["weight"], families["born"], families["opens"]
    assert families == {
        "city": "categorical",
        "grade": "categorical",
        "member": "bernoulli",
        "bit": "bernoulli",
        "born (weekday)": "categorical",
        "born (month)": "categorical",
        "serial": "ignored",
        "nothing": "ignored",
    }
    why = {column.name: column.why for column in model.columns_}
    assert why["city"] == "3 distinct among 40 strings"
    assert why["grade"] == "3 declared"
    assert why["bit"] == "only 0 and 1"
    assert why["serial"] == "100 % of 40 strings are distinct, without blanks"
    assert why["nothing"] == "no cell has a value"
    assert why["born (month)"] == "a date: its month"
    assert why["weight"].startswith("log-evidence per row: Gaussian -3.")
    assert re.search(r"leave-one-out of \d+ rows: multinomial \d+\.\d % right \(log-loss \d\.\d{3}\)", why["note"])


def test_a_column_that_is_left_out_does_not_count(model: NaiveBayes) -> None:
    other = table().assign(serial=None, nothing=["something"] * N)
    assert_array_equal(model.predict_proba(other), model.predict_proba(table()))
    assert "serial" not in model.tables()


def test_an_identifier_is_named_with_the_way_to_keep_it() -> None:
    frame = table()[["serial", "weight"]]
    with pytest.warns(BayesWarning, match=r"'serial' is left out: 100 % .* to keep it, say columns=\{'serial': 'cat"):
        NaiveBayes().fit(frame, Y)
    kept = NaiveBayes(columns={"serial": "categorical"}).fit(frame, Y)
    assert kept.columns_["serial"].family == "categorical"
    assert NaiveBayes(columns={"serial": "ignored"}).fit(frame, Y).columns_["serial"].why == "as given"
    assert NaiveBayes(columns={"serial": "text"}).fit(frame, Y).columns_["serial"].analyser == TextAnalyser()


def test_the_plan_prints_in_columns_that_stand_under_each_other_in_any_script() -> None:
    plan = ColumnPlan((Column("年龄", "年龄", "gaussian", "数"), Column("job", "job", "categorical", "")))
    assert str(plan) == "column  family       why\n年龄    gaussian     数\njob     categorical"
    assert plan["job"].family == plan[1].family == "categorical"
    assert [column.name for column in plan] == ["年龄", "job"]
    assert len(plan) == 2
    with pytest.raises(SchemaError, match="there is no column 'age'; there are"):
        plan["age"]


def test_families_of_numbers_can_be_told_for_all_that_are_not_named() -> None:
    frame = pd.DataFrame({"x": np.arange(1, N + 1), "y": np.arange(1, N + 1) * 2, "flag": [0, 1] * (N // 2)})
    plan = NaiveBayes(family="poisson", columns={"y": "lognormal"}).fit(frame, Y).columns_
    assert [column.family for column in plan] == ["poisson", "lognormal", "bernoulli"]


# ---------------------------------------------------------------------- what can be told

TOLD: dict[str, tuple[str, Any, str]] = {
    "categories of numbers": ("bit", "categorical", "categorical"),
    "numbers of flags": ("bit", "gaussian", "gaussian"),
    "whatever numbers are": ("bit", "auto", "poisson|negative_binomial|gaussian|binned|lognormal"),
    "counts of flags": ("bit", "poisson", "poisson"),
    "counts that spread": ("bit", "negative_binomial", "negative_binomial"),
    "a time of day": ("opens", {"family": "von_mises", "period": 86_400}, "von_mises"),
    "flags as categories": ("member", "categorical", "categorical"),
    "log-normal": ("weight", "lognormal", "lognormal"),
    "bins": ("weight", "binned", "binned"),
    "so many bins": ("weight", {"bins": 3}, "binned"),
    "cuts": ("weight", {"cuts": [60, 70.5]}, "binned"),
    "cuts of an array": ("weight", {"cuts": np.array([60, 70.5])}, "binned"),
    "bins of dates": ("born", {"bins": 4}, "binned"),
    "dates as they are": ("born", "categorical", "categorical"),
    "dates left out": ("born", "ignored", "ignored"),
    "text": ("city", "text", "multinomial|complement|marks"),
    "counted": ("note", "multinomial", "multinomial"),
    "complemented": ("note", "complement", "complement"),
    "marked": ("note", "marks", "marks"),
    "text by a vectoriser": ("note", {"analyser": CountVectorizer(ngram_range=(1, 2))}, "multinomial|complement|marks"),
    "text by rarity": ("note", {"analyser": TfidfVectorizer(norm=None), "family": "complement"}, "complement"),
    "hashed": ("note", {"analyser": TextAnalyser(n_hash=64)}, "multinomial|complement|marks"),
    "sentences as categories": ("note", "categorical", "categorical"),
    "an empty column": ("nothing", "gaussian", "gaussian"),
    "an empty text": ("nothing", "text", "multinomial|complement|marks"),
    "smoothing": ("city", {"alpha": 3}, "categorical"),
    "no smoothing": ("city", {"alpha": 0}, "categorical"),
    "a prior of categories": ("grade", {"prior": Dirichlet({"A": 1, "B": 2, "C": 3})}, "categorical"),
    "a prior of flags": ("member", {"prior": Beta(2, 8)}, "bernoulli"),
    "a prior of a flag by number": ("bit", {"prior": Beta({1: 2, 0: 8})}, "bernoulli"),
    "a prior of numbers": ("weight", {"family": "gaussian", "prior": NormalInverseGamma(70.0)}, "gaussian"),
}


@pytest.mark.filterwarnings("ignore:column 'serial' is left out")
@pytest.mark.parametrize(("name", "said", "family"), TOLD.values(), ids=TOLD)
def test_what_is_said_about_a_column_is_done(name: str, said: Any, family: str) -> None:
    model = NaiveBayes(columns={name: said}).fit(table(), Y)
    assert re.fullmatch(family, model.columns_[name].family)
    is_told = isinstance(said, str) or "family" in said
    assert model.columns_[name].why.startswith("as given") or not is_told or said in ("auto", "text")
    proba = model.predict_proba(table())
    assert np.isfinite(proba).all()


def test_all_families_can_be_told() -> None:
    told = {said if isinstance(said, str) else said.get("family") for _, said, _ in TOLD.values()}
    assert told >= set(FAMILIES) - {"bernoulli", "beta"}  # of these there are none in the table
    assert NaiveBayes(columns={"bit": "bernoulli"}).fit(table()[["bit"]], Y).columns_["bit"].why.startswith("as given")


def test_bins_and_cuts_are_as_told() -> None:
    frame = table()
    bins = NaiveBayes(columns={"weight": {"bins": 3}}).fit(frame[["weight"]], Y)
    counts = bins.statistics_.columns.groups["bins"]
    assert len(bins.columns_["weight"].cuts) == 2
    assert counts.of_column(0).sum(axis=1).tolist() == [13, 14, 13]
    cuts = NaiveBayes(columns={"weight": {"cuts": (70, 75)}}).fit(frame[["weight"]], Y)
    assert cuts.columns_["weight"].cuts == (70.0, 75.0)
    below = int((frame["weight"] < 70).sum())
    assert cuts.statistics_.columns.groups["bins"].of_column(0).sum(axis=1)[0] == below
    assert cuts.tables()["weight"]["weight"].tolist() == ["under 70", "70 to 75", "from 75 on"]


def test_a_date_may_do_without_its_weekday() -> None:
    model = NaiveBayes(columns={"born (weekday)": "ignored"}).fit(table()[["born"]], Y)
    assert [column.name for column in model.columns_.used] == ["born", "born (month)"]
    assert list(model.tables()) == ["class", "born", "born (month)"]


def test_positions_name_the_columns_of_an_array() -> None:
    X = np.arange(2 * N).reshape(N, 2)
    model = NaiveBayes(columns={0: "categorical", np.int64(1): "gaussian"}).fit(X, Y)
    assert [(column.name, column.family) for column in model.columns_] == [("x0", "categorical"), ("x1", "gaussian")]
    with pytest.raises(
        ParameterError, match=r"columns names 'x2', but there is no such column; there are \['x0', 'x1'\]"
    ):
        NaiveBayes(columns={2: "categorical"}).fit(X, Y)


# ---------------------------------------------------------------------- what is refused

REFUSED: dict[str, tuple[Any, str]] = {
    "no dict": ([("city", "text")], r"columns is \[.*\]; give a dict such as"),
    "an unknown column": (
        {"town": "text"},
        r"columns names 'town', but there is no such column; there are \['city', 'g",
    ),
    "an unknown family": ({"city": "normal"}, r"columns\['city'\] says family 'normal'; it can be one of"),
    "an unknown setting": ({"city": {"smooth": 1}}, r"columns\['city'\] is \{'smooth': 1\}; give a family, one of"),
    "something else": ({"city": 3}, r"columns\['city'\] is 3; give a family"),
    "no prior": ({"city": {"prior": 3}}, "the prior of column 'city' is 3; it must be a Dirichlet, a Beta or a Normal"),
    "a prior of numbers for categories": (
        {"city": {"prior": NormalInverseGamma()}},
        r"column 'city' cannot be read as 'gaussian': it is a category \(3 distinct among 40 strings\)",
    ),
    "a prior of categories for numbers": (
        {"weight": {"family": "gaussian", "prior": Dirichlet(1)}},
        "the prior of column 'weight' is Dirichlet.*; of a gaussian column it is a NormalInverseGamma",
    ),
    "a prior of counts": (
        {"bit": {"family": "poisson", "prior": Beta(1, 1)}},
        r"the prior of column 'bit' is Beta\(\(1, 1\)\), but a poisson column takes none; give alpha",
    ),
    "a prior of words": (
        {"note": {"family": "marks", "prior": Beta(1, 1)}},
        "the prior of column 'note' is .*, but words take none; give alpha",
    ),
    "a prior that does not know a state": (
        {"city": {"prior": Dirichlet({"Ulm": 1})}},
        "the prior of column 'city' has no pseudo-count for state",
    ),
    "a negative alpha": ({"city": {"alpha": -1}}, "the alpha of column 'city' is -1; it must be 'auto' or a number"),
    "an alpha that is none": ({"city": {"alpha": "much"}}, "the alpha of column 'city' is 'much'"),
    "an array of alphas": ({"city": {"alpha": np.ones(3)}}, "the alpha of column 'city' is array"),
    "one bin": ({"weight": {"bins": 1}}, "column 'weight' is to have 1 bins; give a whole number, 2 or more"),
    "half a bin": ({"weight": {"bins": 2.5}}, "column 'weight' is to have 2.5 bins"),
    "true bins": ({"weight": {"bins": True}}, "column 'weight' is to have True bins"),
    "falling cuts": (
        {"weight": {"cuts": [2, 1]}},
        r"the cuts of column 'weight' are \[2, 1\]; give finite numbers in ri",
    ),
    "equal cuts": ({"weight": {"cuts": [1, 1]}}, "the cuts of column 'weight'"),
    "no cuts": ({"weight": {"cuts": []}}, "the cuts of column 'weight'"),
    "infinite cuts": ({"weight": {"cuts": [0, np.inf]}}, "the cuts of column 'weight'"),
    "cuts of letters": ({"weight": {"cuts": "abc"}}, "the cuts of column 'weight'"),
    "numbers of strings": (
        {"city": "gaussian"},
        r"column 'city' cannot be read as 'gaussian': it is a category \(3 dist",
    ),
    "flags of numbers": ({"weight": "bernoulli"}, "column 'weight' cannot be read as 'bernoulli': it is a number"),
    "text of numbers": ({"weight": "text"}, "column 'weight' cannot be read as 'text': it is a number"),
    "text of dates": ({"born": "text"}, "column 'born' cannot be read as 'text': it is a date"),
    "a weekday as a number": (
        {"born (weekday)": "gaussian"},
        r"column 'born \(weekday\)' cannot be read as 'gaussian'",
    ),
    "a vectoriser that is none": ({"note": {"analyser": "words"}}, "words"),
}


@pytest.mark.filterwarnings("ignore:column 'serial' is left out")
@pytest.mark.parametrize(("columns", "message"), REFUSED.values(), ids=REFUSED)
def test_what_cannot_be_done_is_refused_by_name_and_changes_nothing(columns: Any, message: str) -> None:
    model = NaiveBayes(columns=columns)
    with pytest.raises(ParameterError, match=message):
        model.fit(table(), Y)
    assert not hasattr(model, "statistics_")


PARAMETERS: dict[str, tuple[dict[str, Any], str]] = {
    "alpha": ({"alpha": -0.5}, "alpha is -0.5; it must be 'auto' or a number from 0 to"),
    "alphas": ({"alpha": np.ones(2)}, "alpha is array"),
    "word": ({"alpha": "best"}, "alpha is 'best'"),
    "class_alpha": ({"class_alpha": -1}, "class_alpha is -1; it must be a number from 0 to"),
    "class_alpha of text": ({"class_alpha": "1"}, "class_alpha is '1'"),
    "class_prior": ({"class_prior": [0.2, 0.3, 0.5]}, "Number of priors must match number of classes"),
    "missing": ({"missing": "skip"}, "missing is 'skip'; it can be 'ignore' or 'state' or 'error'"),
    "unseen": ({"unseen": "skip"}, "unseen is 'skip'; it can be 'ignore' or 'error'"),
    "family": ({"family": "normal"}, "family is 'normal'; it can be one of"),
    "calibrate": ({"calibrate": "yes"}, "calibrate is 'yes'; it must be True or False"),
    "variance_floor": ({"variance_floor": 0}, "variance_floor is 0; it must be a number over 0"),
}


@pytest.mark.filterwarnings("ignore:column 'serial' is left out")
@pytest.mark.parametrize(("given", "message"), PARAMETERS.values(), ids=PARAMETERS)
def test_parameters_out_of_their_range_are_refused(given: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        NaiveBayes(**given).fit(table(), Y)
    fitted = NaiveBayes().fit(table(), Y).set_params(**given)
    with pytest.raises(ParameterError, match=message):
        fitted.predict(table())


def test_a_table_without_a_column_to_learn_from_is_refused() -> None:
    frame = pd.DataFrame({"serial": [f"SN{i}" for i in range(N)], "nothing": [None] * N})
    with (
        pytest.warns(BayesWarning, match="serial"),
        pytest.raises(DataError, match=r"no column is left to learn from:\ncolumn +family +why\nserial +ignored"),
    ):
        NaiveBayes().fit(frame, Y)


def test_a_column_called_as_a_part_of_a_date_is_refused() -> None:
    frame = table()[["born"]].assign(**{"born (month)": 1.5})
    with pytest.raises(SchemaError, match=r"column name 'born \(month\)' occurs more than once"):
        NaiveBayes().fit(frame, Y)


@pytest.mark.parametrize(
    ("family", "message"),
    [
        ("lognormal", "column 'x' is lognormal, for numbers over 0, but row 0 has 0.0; correct it, or fit again with"),
        (
            "poisson",
            r"column 'x' is poisson, for counts, whole, from 0 on and below 2\*\*53, but row 1 has 0.5; correct it",
        ),
    ],
)
def test_numbers_that_a_family_cannot_have_are_refused(family: str, message: str) -> None:
    with pytest.raises(DataError, match=message):
        NaiveBayes(family=family).fit(pd.DataFrame({"x": [0.0, 0.5, 2.0, 3.0]}), list("aabb"))


def test_a_number_too_large_to_count_anything_is_no_count() -> None:
    model = NaiveBayes(family="poisson").fit(pd.DataFrame({"x": [0.0, 1.0, 2.0, 3.0]}), list("aabb"))
    with pytest.warns(UnseenCategoryWarning, match=r"below 2\*\*53, but row 0 has 1e\+200: such cells are left out"):
        assert model.predict_proba(pd.DataFrame({"x": [1e200]})).tolist() == [[0.5, 0.5]]
    with pytest.raises(DataError, match="row 3 has 1e\\+200; correct it"):
        NaiveBayes(family="poisson").fit(pd.DataFrame({"x": [0.0, 1.0, 2.0, 1e200]}), list("aabb"))


# ---------------------------------------------------------------------- the plan of another


@pytest.mark.filterwarnings("ignore:column 'serial' is left out")
def test_the_plan_of_a_model_makes_another_read_as_it_does(model: NaiveBayes) -> None:
    same = NaiveBayes(columns=model.columns_).fit(table(), Y)
    require_same_groups(same, model, exactly=True)
    first = table().iloc[:1]  # from which nobody would guess the families
    one = NaiveBayes(columns=model.columns_).fit(first, Y[:1])
    assert one.columns_ == model.columns_
    assert ((model - one) + one).columns_ == model.columns_


@pytest.mark.filterwarnings("ignore:column 'serial' is left out")
@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_batch_without_a_single_cell_fits_the_plan_of_a_model(model: NaiveBayes, library: str) -> None:
    names = list(table())
    empty: Any = pd.DataFrame([dict.fromkeys(names)] * 2)
    if library == "polars":
        empty = pl.DataFrame({name: [None, None] for name in names})
    if library == "pyarrow":
        empty = pa.table({name: pa.nulls(2) for name in names})
    nothing = NaiveBayes(columns=model.columns_).fit(empty, ["a", "b"])
    assert nothing.columns_ == model.columns_
    both = model + nothing
    assert_array_equal(both.class_count_, model.class_count_ + 1)
    more = NaiveBayes(columns=model.columns_).fit(table(), Y).partial_fit(empty, ["a", "b"])
    assert more.statistics_ == both.statistics_
    prior = model.predict_log_proba(empty)
    np.testing.assert_allclose(prior, [model.class_log_prior_] * 2, rtol=1e-14)


DIFFERENT = {
    "family": (
        {"weight": "gaussian"},
        {"weight": "lognormal"},
        "column 'weight' is read as gaussian here and as lognormal there; fit the second model with columns=first",
    ),
    "cuts": (
        {"weight": {"cuts": (1, 2)}},
        {"weight": {"cuts": (1, 3)}},
        r"column 'weight' is read as binned with cuts at \[1.0, 2.0\] here and as binned with cuts at \[1.0, 3.0\]",
    ),
    "words": (
        {"note": {"analyser": TextAnalyser(n_hash=8)}},
        {"note": {"analyser": TextAnalyser(n_hash=16)}},
        "column 'note' is read as",
    ),
    "left out": (
        {"weight": "gaussian"},
        {"weight": "ignored"},
        "column 'weight' is read as gaussian here and as ignored",
    ),
}


@pytest.mark.parametrize(("here", "there", "message"), DIFFERENT.values(), ids=DIFFERENT)
def test_models_of_different_plans_refuse_to_merge_and_name_the_difference(here: Any, there: Any, message: str) -> None:
    frame = table()[["weight", "note"]]
    a, b = NaiveBayes(columns=here).fit(frame, Y), NaiveBayes(columns=there).fit(frame[:9], Y[:9])
    with pytest.raises(SchemaError, match=message):
        a + b
    with pytest.raises(SchemaError, match=message):
        a - b


def test_models_of_different_columns_refuse_to_merge() -> None:
    frame = table()
    a, b = (NaiveBayes().fit(frame[names], Y) for names in (["weight", "city"], ["weight", "bit"]))
    with pytest.raises(
        SchemaError, match=r"the models know different columns: \['city'\] only here, \['bit'\] only there"
    ):
        a + b
    with pytest.raises(SchemaError, match="the same columns in another order"):
        a + NaiveBayes().fit(frame[["city", "weight"]], Y)
    date = NaiveBayes().fit(frame[["born"]], Y)
    with pytest.raises(SchemaError, match="column 'born' is read as"):
        date + NaiveBayes(columns={"born": "categorical"}).fit(frame[["born"]], Y)


def test_ways_to_read_the_same_words_merge_and_the_left_one_stays() -> None:
    frame = table()[["note"]]
    a, b = (NaiveBayes(columns={"note": family}).fit(frame, Y) for family in ("marks", "complement"))
    assert (a + b).columns_["note"].family == "marks"
    assert (a + b).statistics_.columns.groups["words note"] == (b + a).statistics_.columns.groups["words note"]


def test_a_block_of_sparse_counts_is_read_as_words() -> None:
    counts = sparse.csr_array(np.random.default_rng(0).poisson(0.5, (N, 6)))
    for said, family in ((None, "multinomial|complement|marks"), ("marks", "marks"), ("complement", "complement")):
        plan = NaiveBayes(columns=said and {"(counts)": said}).fit(counts, Y).columns_
        assert re.fullmatch(family, plan["(counts)"].family)
    for said in ("gaussian", "categorical", {"analyser": TextAnalyser()}):
        with pytest.raises(
            ParameterError, match=r"column '\(counts\)' cannot be read as .*: it is a block of sparse cou"
        ):
            NaiveBayes(columns={"(counts)": said}).fit(counts, Y)


@pytest.mark.parametrize("cut", [pd.cut, pd.qcut])
def test_intervals_of_pandas_are_categories_by_their_text(cut):
    numbers = np.arange(30.0)
    intervals = pd.DataFrame({"size": cut(numbers, 4)})
    spelled = pd.DataFrame({"size": intervals["size"].cat.rename_categories(str)})
    y = numbers > 12
    model = NaiveBayes().fit(intervals, y)
    assert model.columns_["size"].family == "categorical"
    assert_array_equal(model.predict_proba(intervals[3:20]), NaiveBayes().fit(spelled, y).predict_proba(spelled[3:20]))
    assert_array_equal(model.predict_proba(intervals), model.predict_proba(spelled))


# ---------------------------------------------------------------------- time zones


INSTANTS = pd.date_range("2024-01-01", periods=40, freq="7h", tz="UTC")
EVEN = np.arange(40) % 2


def at(zone: Any) -> pd.DataFrame:
    """The same instants by the clock of a zone; without one, by that of Greenwich."""
    return pd.DataFrame({"paid": INSTANTS.tz_localize(None) if zone is None else INSTANTS.tz_convert(zone)})


EAST = datetime.timezone(datetime.timedelta(hours=8))


@pytest.mark.parametrize("fitted", ["Asia/Shanghai", EAST])
@pytest.mark.parametrize("given", ["UTC", "America/New_York", EAST])
def test_the_same_instants_are_the_same_weekdays_whatever_zone_they_come_in(fitted, given):
    weekday = (at(fitted)["paid"].dt.day_of_week < 3).to_numpy()
    model = NaiveBayes(columns={"paid": "gaussian"}).fit(at(fitted), weekday)
    assert_array_equal(model.predict_proba(at(given)), model.predict_proba(at(fitted)))
    again = NaiveBayes(columns={"paid": "gaussian"}).fit(at(fitted), weekday)
    assert model.partial_fit(at(given), weekday).statistics_ == again.partial_fit(at(fitted), weekday).statistics_


def test_time_stamps_with_and_without_a_zone_are_not_mixed():
    aware, naive = NaiveBayes().fit(at("Asia/Shanghai"), EVEN), NaiveBayes().fit(at(None), EVEN)
    with pytest.raises(DataError, match=r"'paid' holds timestamp\[.*\], without a time zone, .* zone 'Asia/Shanghai'"):
        aware.predict(at(None))
    with pytest.raises(DataError, match=r"'paid' holds time stamps of the zone 'UTC', but .* without a zone; take the"):
        naive.predict(at("UTC"))


@pytest.mark.parametrize("zone", ["UTC", None])
def test_models_whose_days_begin_at_other_times_are_not_added(zone):
    columns = {"paid": "gaussian"}
    first, second = (NaiveBayes(columns=columns).fit(at(zone), EVEN) for zone in ("Asia/Shanghai", zone))
    with pytest.raises(SchemaError, match=r"'paid' has the time zone 'Asia/Shanghai' here and .* there, where"):
        first + second


@pytest.mark.parametrize("given", ["UTC", "America/New_York"])
def test_a_model_that_reads_as_another_one_begins_its_days_in_the_same_zone(given, tmp_path):
    first = NaiveBayes(columns={"paid": "gaussian"}).fit(at("Asia/Shanghai"), EVEN)
    for columns in (first.columns_, settings_like(first.columns_, first.columns)):
        second = NaiveBayes(columns=columns).fit(at(given), EVEN)
        assert second.statistics_ == NaiveBayes(columns=first.columns_).fit(at("Asia/Shanghai"), EVEN).statistics_
        assert (first + second).class_count_.sum() == 80
        save(second, tmp_path / "second.bayes")
        again = load(tmp_path / "second.bayes")
        assert again.fit(at(given), EVEN).statistics_ == second.statistics_
        with pytest.raises(DataError, match="without a time zone"):
            again.fit(at(None), EVEN)


def test_numbers_with_decimal_commas_are_not_dropped_without_a_hint():
    cells = ["~3", *(f"{i},5" for i in range(40))]
    X = pa.table({"price": cells, "other": [0, *EVEN]})
    with pytest.warns(BayesWarning, match=r"'price' is left out: .* look like numbers with a decimal comma: read"):
        model = NaiveBayes().fit(X, [0, *EVEN])
    assert "decimal comma" in model.columns_["price"].why
    with pytest.warns(BayesWarning, match=r"'price' is read as categorical: .* with a decimal comma: read the"):
        NaiveBayes().fit(X.slice(0, 12), [0, *EVEN[:11]])


# ---------------------------------------------------------------------- numbers


def test_numbers_far_from_zero_are_told_apart_as_near_it() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 400, 4000)
    y = x // 50 % 2
    near, far = (NaiveBayes().fit(pd.DataFrame({"x": x + offset}), y) for offset in (0, 1_000_000))
    assert near.score(pd.DataFrame({"x": x}), y) > 0.95
    assert_array_equal(far.predict(pd.DataFrame({"x": x + 1_000_000})), near.predict(pd.DataFrame({"x": x})))


def test_days_of_dates_are_normal_or_binned_whatever_the_first_of_all_days_is() -> None:
    days = np.ceil(np.exp(np.random.default_rng(0).normal(3, 1, 300)))
    y = np.arange(300) % 2
    assert NaiveBayes().fit(pd.DataFrame({"x": days}), y).columns_["x"].family == "lognormal"
    dates = pd.DataFrame({"x": pd.Timestamp("1970-01-01") + pd.to_timedelta(days, unit="D")})
    column = NaiveBayes().fit(dates, y).columns_["x"]
    assert column.family in ("gaussian", "binned")
    assert "Poisson" not in column.why


def test_cuts_of_a_column_that_may_be_anything_are_taken() -> None:
    told = NaiveBayes(columns={"x": {"family": "auto", "cuts": [3, 7]}}).fit(pd.DataFrame({"x": np.arange(N)}), Y)
    assert (told.columns_["x"].family, told.columns_["x"].cuts) == ("binned", (3.0, 7.0))


def bits(last: float = 1, seed: int = 0) -> pd.DataFrame:
    x = np.random.default_rng(seed).integers(0, 2, N).astype(float)
    return pd.DataFrame({"b": np.arange(N) % 3 == 0, "x": [*x[:-2], np.nan, last], "city": ["Ulm", "Bonn"] * (N // 2)})


@pytest.mark.parametrize("said", [{}, {"prior": Beta(2, 8)}, {"alpha": 3}])
def test_numbers_that_are_only_0_and_1_are_counted_as_flags_are(said: dict[str, Any]) -> None:
    as_numbers = NaiveBayes(columns={"x": said}).fit(bits(), Y)
    as_flags = NaiveBayes(columns={"x": {"family": "bernoulli", **said}}).fit(bits(), Y)
    assert (as_numbers.columns_["x"].family, as_numbers.columns_["x"].why) == ("bernoulli", "only 0 and 1")
    require_same_groups(as_numbers, as_flags, exactly=True)
    assert_array_equal(as_numbers.predict_proba(bits(seed=1)), as_flags.predict_proba(bits(seed=1)))


@pytest.mark.parametrize("family", ["auto", "gaussian"])
@pytest.mark.parametrize("last", [1, 2, -0.5])
def test_what_comes_after_a_batch_of_0_and_1_may_be_another_number(last: float, family: str) -> None:
    batches = [bits(), bits(last)]
    whole = NaiveBayes(family=family).fit(pd.concat(batches), [*Y, *Y])
    streamed = NaiveBayes(family=family).fit_batches((batch, Y) for batch in batches)
    assert (streamed.columns_["x"].family == "bernoulli") == (last == 1)
    assert streamed.columns_ == whole.columns_
    require_same_groups(streamed, whole, exactly=True)


@pytest.mark.parametrize("model", [NaiveBayes(), AODE(), AODE(discretize="equal_frequency")], ids=str)
@pytest.mark.parametrize("n_high", [1, 10, 100])
def test_two_values_are_a_pair_of_states_at_once_and_in_pieces(model: Any, n_high: int) -> None:
    x = np.random.default_rng(0).permutation(np.repeat([0.48, 1.0], [300 - n_high, n_high]))
    when = pd.to_datetime(np.where(x > 0.5, "2024-01-01", "2025-03-05"))
    frame, y = pd.DataFrame({"x": x, "when": when}), np.arange(300) % 3
    pieces = [(frame[:100], y[:100]), (frame[100:], y[100:])]
    for fitted in (clone(model).fit(frame, y), clone(model).fit_batches(pieces)):
        assert fitted.columns_["x"].cuts == (0.74,)
        assert len(fitted.columns_["when"].cuts) == 1
