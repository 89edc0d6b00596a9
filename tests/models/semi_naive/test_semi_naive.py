"""SPODE, TAN and AODE as a user meets them: golden values, mixed tables, bad input, reasons, samples, networks."""

import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from sklearn.base import clone
from tests.models.semi_naive.judged_cars import CARS, VERDICTS

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SPODE,
    TAN,
    BayesWarning,
    DataError,
    ImpossibleEvidenceWarning,
    ModelFileError,
    NaiveBayes,
    ParameterError,
    ResourceLimitError,
    SchemaError,
    UnseenCategoryWarning,
    limits,
    save,
)
from bayeswater.models.semi_naive import aode
from bayeswater.structure.mutual_information import conditional_mutual_information, mutual_information

MODELS = [AODE(), AODE(select=True), AODE(weighting="mi", subsumption=3), SPODE(), TAN(), TAN(penalty="aic")]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)

# ---------------------------------------------------------------------- golden values, a small twin of UCI's cars


def test_the_information_of_the_cars_is_as_computed_once():
    counts = TAN().fit(CARS, VERDICTS).statistics_.columns.groups["pairs"]
    np.testing.assert_allclose(mutual_information(counts), [0.13614268, 0.17441605, 0.00368391, 0.23047673], atol=5e-9)
    found = conditional_mutual_information(counts)[np.triu_indices(4, 1)]
    expected = [0.0168158, 0.02430909, 0.09284451, 0.00103253, 0.04198603, 0.00728775]
    np.testing.assert_allclose(found, expected, atol=5e-9)


def test_the_tree_of_the_cars_hangs_on_their_safety():
    model = TAN().fit(CARS, VERDICTS)
    assert model.parents_ == {"price": "safety", "seats": "safety", "boot": "price", "safety": None}
    assert TAN(root="boot").fit(CARS, VERDICTS).parents_ == {
        "price": "boot",
        "seats": "safety",
        "boot": None,
        "safety": "price",
    }
    assert set(TAN(penalty="bic").fit(CARS, VERDICTS).parents_.values()) == {None}


@pytest.mark.parametrize(
    ("smoothing", "expected"),
    [
        ("laplace", [0.13806714029137276, 0.6127340250966382, 0.24919883461198905]),
        ("m-estimate", [0.0804157425275217, 0.6793125196753138, 0.2402717377971645]),
    ],
)
def test_the_probabilities_of_a_car_are_as_computed_in_fractions(smoothing, expected):
    model = AODE(smoothing=smoothing).fit(CARS, VERDICTS)
    np.testing.assert_allclose(model.predict_proba(CARS)[15], expected, rtol=1e-13)
    # All cells of the domain are rows here, and every value is a parent: the joints are those of a distribution.
    np.testing.assert_allclose(np.exp(model.predict_joint_log_proba(CARS)).sum(), 1.0, rtol=1e-12)


def test_five_hundred_columns_are_scored_without_underflow():
    rng = np.random.default_rng(1)
    codes = rng.integers(0, 2, (30, 500))
    labels = np.repeat([0, 1], 15)
    model = AODE(columns=dict.fromkeys(range(500), "categorical")).fit(codes, labels)
    row = codes[3]
    expected = []
    for y in range(2):
        same = (codes[labels == y] == row).astype(np.float64)  # which cells agree with the row, in one class
        together, own = same.T @ same, same.sum(axis=0)  # N(y, x_i, x_j), N(y, x_i)
        terms = np.log((together + 0.5) / (own[:, None] + 1))
        np.fill_diagonal(terms, 0.0)
        spodes = np.log((own + 0.25) / 31) + terms.sum(axis=1)
        assert spodes.max() < np.log(np.finfo(np.float64).tiny) / 4
        expected.append(np.logaddexp.reduce(spodes) - np.log(500))
    # Five hundred logarithms, each rounded, are added up.
    np.testing.assert_allclose(model.predict_joint_log_proba(codes[3:4])[0], expected, rtol=1e-13)
    assert np.isfinite(model.predict_log_proba(codes[:3])).all()


# ---------------------------------------------------------------------- mixed tables


def mixed_table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["ant", "bee", "cat"])[rng.integers(0, 3, n_rows)]
    frame = pd.DataFrame(
        {
            "colour": np.where(labels == "bee", "yellow", rng.choice(["red", "blue", "yellow"], n_rows)),
            "size": rng.normal(size=n_rows) + 2 * (labels == "cat"),
            "legs": np.where(labels == "cat", 4, 6) + rng.integers(0, 2, n_rows),
            "wings": pd.array(rng.random(n_rows) < 0.2 + 0.6 * (labels == "bee"), dtype="boolean"),
            "seen": pd.Timestamp("2026-01-01") + pd.to_timedelta(rng.integers(0, 300, n_rows), unit="D"),
            "grade": pd.Categorical(rng.choice(["a", "b"], n_rows), categories=["a", "b", "c"]),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return frame, labels


def test_every_column_of_a_mixed_table_gets_states():
    frame, labels = mixed_table()
    plan = AODE().fit(frame, labels).columns_
    families = {column.name: column.family for column in plan}
    assert families == {
        "colour": "categorical",
        "size": "binned",
        "legs": "categorical",
        "wings": "bernoulli",
        "seen": "binned",
        "seen (weekday)": "categorical",
        "seen (month)": "categorical",
        "grade": "categorical",
    }
    assert "4 different" in plan["legs"].why
    assert "by mdl" in plan["size"].why


@every_model
@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_a_mixed_table_is_learned_and_predicted(model, library):
    frame, labels = mixed_table()
    X = frame if library == "pandas" else pa.Table.from_pandas(frame)
    model = model.fit(X, labels)
    proba = model.predict_proba(X)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    assert (model.predict(X) == labels).mean() > 0.7
    again = type(model)(**model.get_params()).fit(X, labels)
    assert (again.predict_proba(X) == proba).all()


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint64])
@pytest.mark.parametrize("place", ["far apart", "at the top"])
def test_few_whole_numbers_are_categories_however_large_and_far_apart_their_type_lets_them_be(dtype, place):
    limits = np.iinfo(dtype)
    values = [limits.min, 3, limits.max] if place == "far apart" else [limits.max - 2, limits.max - 1, limits.max]
    frame = pd.DataFrame({"x": np.array(values * 20, dtype=dtype), "y": ["p", "q", "q", "p"] * 15})
    labels = ["a", "b", "c"] * 20
    model = AODE().fit(frame, labels)
    assert model.columns_["x"].family == "categorical"
    assert (model.predict(frame) == labels).all()
    drawn, _ = model.sample(50, random_state=0)
    assert set(drawn["x"]) <= set(values)


def test_named_columns_are_realigned():
    frame, labels = mixed_table()
    model = AODE().fit(frame, labels)
    assert (model.predict_proba(frame[frame.columns[::-1]]) == model.predict_proba(frame)).all()


def test_text_and_identifiers_are_left_out_by_name():
    frame, labels = mixed_table()
    frame["note"] = [f"this is note number {i} of many" for i in range(len(frame))]
    frame["person"] = [f"id{i}" for i in range(len(frame))]
    with pytest.warns(BayesWarning) as told:
        model = AODE().fit(frame, labels)
    words = " ".join(str(one.message) for one in told)
    assert "'note' is left out: it is text" in words
    assert "'person' is left out" in words
    assert {column.name for column in model.columns_ if column.family == "ignored"} == {"note", "person"}
    assert model.predict(frame).shape == labels.shape


def test_what_is_said_of_columns_holds():
    frame, labels = mixed_table()
    columns = {"size": {"cuts": (0.0, 1.0)}, "legs": "binned", "seen": {"bins": 3}, "wings": "ignored"}
    plan = AODE(columns=columns).fit(frame, labels).columns_
    assert plan["size"].cuts == (0.0, 1.0)
    assert plan["legs"].family == "binned"
    assert len(plan["seen"].cuts) == 2
    assert plan["wings"].family == "ignored"
    again = AODE(columns=plan).fit(frame.iloc[:50], labels[:50])
    assert again.columns_ == plan


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"size": "gaussian"}, "every column of AODE has states"),
        ({"colour": "text"}, "every column of AODE has states"),
        ({"colour": {"alpha": 2.0}}, "smooths all tables alike"),
        ({"nothing": "categorical"}, "there is no such column"),
        ({"colour": "binned"}, "cannot be read as"),
    ],
)
def test_what_cannot_be_said_of_columns_is_refused(columns, words):
    with pytest.raises(ParameterError, match=words):
        AODE(columns=columns).fit(*mixed_table())


@pytest.mark.parametrize("discretize", ["mdl", "equal_frequency", "equal_width", "pkid", "fixed_frequency", "rounding"])
def test_every_way_to_cut_numbers_can_be_asked_for(discretize):
    frame, labels = mixed_table()
    model = AODE(discretize=discretize).fit(frame, labels)
    assert model.columns_["size"].why.endswith(f"bins by {discretize}")
    assert model.loo_predict_log_proba(frame, labels).shape == (len(labels), 3)


def test_the_plan_says_where_numbers_were_cut_otherwise_than_asked():
    rng = np.random.default_rng(1)
    frame, labels = pd.DataFrame({"noise": rng.normal(size=90), "one": 0.5, "kind": ["a", "b"] * 45}), [0, 1, 1] * 30
    pieces = [(frame[i : i + 40], labels[i : i + 40]) for i in (0, 40, 80)]
    for model in (AODE().fit(frame, labels), AODE().fit_batches(pieces)):
        assert model.columns_["noise"].why.endswith("; 5 bins by equal_frequency, since mdl finds no cut")
        assert "; 1 bin by equal_frequency" in model.columns_["one"].why


# ---------------------------------------------------------------------- bad input


def test_a_table_without_columns_is_refused():
    with pytest.raises(DataError, match="0 feature"):
        AODE().fit(np.empty((3, 0)), [0, 1, 1])


def test_a_table_of_which_every_column_is_left_out_is_refused():
    with pytest.warns(BayesWarning), pytest.raises(DataError, match="no column is left to learn from"):
        AODE().fit(pd.DataFrame({"note": ["to be or not to be"] * 3}), [0, 1, 1])


@every_model
def test_one_column_is_naive_bayes(model):
    frame = pd.DataFrame({"a": ["x", "y", "x", None, "z"]})
    labels = np.array([0, 0, 1, 1, 1])
    found = model.fit(frame, labels).predict_proba(pd.DataFrame({"a": ["x", "z", None]}))
    if isinstance(model, SPODE):
        prior = np.array([2 + 0.5, 2 + 0.5])  # of the rows that have a value
        cells = np.array([[1, 1], [0, 1]]) + 1 / 6
        expected = np.vstack([cells, prior])
    else:
        expected = np.array([2 + 0.5, 3 + 0.5]) * np.vstack([(np.array([[1, 1], [0, 1]]) + 1 / 3) / 3, [1.0, 1.0]])
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-13)


def test_a_column_without_a_value_is_left_out_and_named():
    frame, labels = mixed_table()
    frame["empty"] = np.nan
    with pytest.warns(BayesWarning, match="'empty' is left out: no cell has a value"):
        model = AODE().fit(frame, labels)
    assert model.columns_["empty"].family == "ignored"


@pytest.mark.parametrize("model", [AODE(), SPODE(), SPODE("empty"), TAN(), TAN(parents={"colour": "empty"})], ids=str)
def test_a_column_that_is_told_to_be_a_category_may_have_its_first_value_later(model):
    frame, labels = mixed_table()
    frame = frame[["colour", "legs"]].assign(empty=None)
    model = type(model)(**{**model.get_params(), "columns": {"empty": "categorical"}}).fit(frame, labels)
    assert (model.predict(frame) == labels).mean() > 0.5
    assert model.sample(3, random_state=0)[0]["empty"].isna().all()
    assert np.isfinite(model.loo_predict_log_proba(frame, labels)).all()
    later = pd.DataFrame({"colour": ["red"] * 50, "legs": [4] * 50, "empty": ["full"] * 50})
    model.partial_fit(later, ["dog"] * 50)
    assert model.predict(later[:1]).tolist() == ["dog"]


def test_a_best_super_parent_cannot_be_asked_for_after_the_fit():
    model = SPODE("price").fit(CARS, VERDICTS).set_params(super_parent="best")
    with pytest.raises(ParameterError, match="fit again"):
        model.predict(CARS)


@every_model
@pytest.mark.parametrize("value", ["same", 3, 0.5, True])
def test_a_constant_column_changes_no_decision(model, value):
    frame, labels = mixed_table()
    proba = model.fit(frame[["colour", "legs"]], labels).predict_proba(frame[["colour", "legs"]])
    found = model.fit(frame[["colour", "legs"]].assign(constant=value), labels)
    assert found.columns_["constant"].family in ("categorical", "binned", "bernoulli")
    assert np.isfinite(found.predict_log_proba(frame[["colour", "legs"]].assign(constant=value))).all()
    if isinstance(model, TAN) and value is not True:  # a flag could also be False
        again = found.predict_proba(frame[["colour", "legs"]].assign(constant=value))
        np.testing.assert_allclose(again, proba, rtol=1e-9)


def test_a_column_with_as_many_values_as_rows_is_named():
    frame, labels = mixed_table(40)
    frame["name"] = pd.Categorical([f"row {i}" for i in range(40)])
    with pytest.warns(BayesWarning, match="'name' has as many values as rows, 40"):
        AODE().fit(frame, labels)


@every_model
def test_more_cells_than_the_limit_are_refused_with_their_number_and_a_way_out(model, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 1000)
    with pytest.raises(ResourceLimitError, match=r"all pairs of 4 columns .* KiB, over the limit .* bin these columns"):
        model.fit(CARS, VERDICTS)


MANY = pd.DataFrame({"town": np.arange(600) % 300, "size": np.arange(600) % 7, "sort": np.arange(600) % 3}).astype(
    {"town": "category", "size": "category", "sort": "category"}
)
OF_TOWN = np.where(np.arange(600) % 300 < 140, "near", "far")


@pytest.mark.parametrize("settings", [{}, {"weighting": "mi"}, {"calibrate": True}], ids=str)
def test_aode_needs_no_room_for_a_column_of_many_states_beside_itself(settings, monkeypatch):
    settings = {"super_parents": "all", **settings}
    model = AODE(**settings).fit(MANY, OF_TOWN)
    expected = model.predict_proba(MANY), model.loo_predict_log_proba(MANY, OF_TOWN), model.explain(MANY[:9])
    monkeypatch.setattr(limits, "TABLE_BYTES", 300 * 300 * 8)
    other = AODE(**settings).fit(MANY, OF_TOWN)
    assert other.statistics_ == model.statistics_
    found = other.predict_proba(MANY), other.loo_predict_log_proba(MANY, OF_TOWN), other.explain(MANY[:9])
    # the same sums of logarithms in another order; a temperature is searched for
    rounded = dict(rtol=1e-6 if "calibrate" in settings else 1e-12, atol=1e-12)
    np.testing.assert_allclose(found[0], expected[0], **rounded)
    np.testing.assert_allclose(found[1], expected[1], **rounded)
    np.testing.assert_allclose(found[2].contributions, expected[2].contributions, **rounded)
    assert len(other.sample(5, random_state=0)[0]) == 5


@pytest.mark.parametrize("settings", [{"select": True}, {"subsumption": True}], ids=str)
def test_what_looks_at_all_pairs_of_states_is_refused_where_these_have_no_room(settings, monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 300 * 300 * 8)
    with pytest.raises(ResourceLimitError, match=r"the probabilities of all pairs of 3 columns .* over the limit"):
        AODE(**settings).fit(MANY, OF_TOWN)


def test_a_sparse_table_is_refused_with_a_way_out():
    from scipy import sparse

    with pytest.raises(DataError, match=r"toarray\(\)"):
        AODE().fit(sparse.csr_array(np.eye(3)), [0, 1, 1])


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (AODE(min_support=0), "min_support is 0"),
        (AODE(subsumption=-1), "subsumption is -1"),
        (AODE(subsumption=0), "subsumption is 0; it must be True, False, or a number of rows over 0"),
        (AODE(weighting="gain"), "weighting is 'gain'"),
        (AODE(select=1), "select is 1"),
        (AODE(alpha=-1), "alpha is -1"),
        (AODE(smoothing="none"), "smoothing is 'none'"),
        (AODE(discretize="mdlp"), "discretize is 'mdlp'"),
        (AODE(missing="drop"), "missing is 'drop'"),
        (AODE(unseen="drop"), "unseen is 'drop'"),
        (AODE(calibrate="yes"), "calibrate is 'yes'"),
        (AODE(class_prior=[1.0]), "class_prior has shape"),
        (SPODE("weight"), "super_parent names 'weight'"),
        (TAN(root="weight"), "root names 'weight'"),
        (TAN(penalty="mdl"), "penalty is 'mdl'"),
        (TAN(parents={"price": "weight"}), "parents names 'weight'"),
        (TAN(parents={"price": "seats", "seats": "price"}), "parents has a cycle"),
        (TAN(parents={"price": "price"}), "parents has a cycle"),
        (TAN(parents=["price"]), "give a dict"),
        (TAN(parents={}, root="price"), "neither a root nor a penalty"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused_and_change_nothing(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(CARS, VERDICTS)
    assert not hasattr(model, "statistics_")


def test_a_missing_cell_is_refused_where_that_is_asked_for():
    frame, labels = mixed_table()
    with pytest.raises(DataError, match="missing"):
        AODE(missing="error").fit(frame, labels)


@every_model
def test_an_unseen_category_is_left_out_with_one_warning_or_refused(model):
    model = model.fit(CARS, VERDICTS)
    row = pd.DataFrame({"price": ["free"], "seats": ["4"], "boot": ["big"], "safety": ["high"]})
    with pytest.warns(UnseenCategoryWarning, match="'price' = 'free' in 1 of 1 rows"):
        found = model.predict_proba(row)
    row["price"] = None
    np.testing.assert_array_equal(found, model.predict_proba(row))
    row["price"] = "free"
    with pytest.raises(DataError, match="never counted"):
        type(model)(**{**model.get_params(), "unseen": "error"}).fit(CARS, VERDICTS).predict(row)


@pytest.mark.parametrize("library", [np.asarray, pa.Table.from_pandas, pd.DataFrame], ids=["numpy", "arrow", "pandas"])
@pytest.mark.parametrize("model", [AODE(), AODE(missing="error"), TAN(), SPODE(), NaiveBayes()], ids=str)
def test_infinity_is_no_unseen_category_but_refused_with_its_column_in_fit_and_in_predict(model, library):
    frame = pd.DataFrame({"doors": [2.0, 4.0, 3.0, 2.0] * 5, "seats": [4.0, 5.0, 4.0, 2.0] * 5})
    y = ["n", "p", "p", "n"] * 5
    bad = frame.copy()
    bad.iloc[3, 1] = -np.inf
    refused = pytest.raises(DataError, match=r"Input X contains infinity: -inf in row 3, column '(seats|x1)'")
    fitted = clone(model).fit(library(frame), y)
    with refused:
        fitted.predict(library(bad))
    with refused:
        clone(model).fit(library(bad), y)
    told = clone(model).set_params(columns=dict.fromkeys(fitted.columns_.sources, "categorical"))
    with refused:
        told.fit(library(bad), y)


def test_log_odds_that_are_no_line_are_not_written_as_one():
    with pytest.raises(ParameterError, match="columns depend on each other"):
        AODE().fit(CARS, VERDICTS).to_linear()


# ---------------------------------------------------------------------- learning on


@every_model
def test_new_classes_and_categories_may_come_at_any_time(model):
    model = model.fit(CARS[:30], VERDICTS[:30])
    later = pd.DataFrame({"price": ["free"] * 3, "seats": ["9"] * 3, "boot": ["big"] * 3, "safety": ["low"] * 3})
    model.partial_fit(later, ["dream"] * 3)
    assert "dream" in model.classes_
    assert model.predict(later).tolist() == ["dream"] * 3


def test_the_tree_is_read_again_from_the_sums():
    model = TAN().fit(CARS[:20], VERDICTS[:20])
    first = model.parents_
    model.partial_fit(CARS[20:], VERDICTS[20:])
    assert model.parents_ == TAN().fit(CARS, VERDICTS).parents_ != first


def test_models_with_other_cuts_refuse_to_be_merged():
    frame, labels = mixed_table()
    a, b = AODE().fit(frame[:100], labels[:100]), AODE().fit(frame[100:], labels[100:])
    with pytest.raises(SchemaError, match="column 'size' is read as binned with cuts"):
        a + b
    merged = a + AODE(columns=a.columns_).fit(frame[100:], labels[100:])
    assert merged.class_count_.sum() == 200


def test_smoothing_that_is_changed_takes_effect_without_a_refit():
    model = AODE().fit(CARS, VERDICTS)
    model.set_params(smoothing="laplace", alpha=2.0)
    again = AODE(smoothing="laplace", alpha=2.0).fit(CARS, VERDICTS)
    assert (model.predict_proba(CARS) == again.predict_proba(CARS)).all()


def test_the_best_super_parent_has_the_least_leave_one_out_log_loss():
    frame, labels = mixed_table(80)
    best = SPODE().fit(frame, labels)
    codes = np.searchsorted(best.classes_, labels)
    losses = {
        column.name: -SPODE(column.name).fit(frame, labels).loo_predict_log_proba(frame, labels)[range(80), codes].sum()
        for column in best.columns_.used
    }
    assert best.super_parent_ == min(losses, key=losses.__getitem__)


def test_cells_that_others_imply_are_left_out():
    # Whoever is pregnant is female: with the one cell known, the other says nothing.
    sex = np.array(["f"] * 60 + ["m"] * 60)
    pregnant = np.array(["yes"] * 20 + ["no"] * 100)
    age = np.tile(["old", "young", "young"], 40)
    labels = (np.arange(120) % 7 > 2).astype(int)
    frame = pd.DataFrame({"sex": sex, "pregnant": pregnant, "age": age})
    row = pd.DataFrame({"sex": ["f"], "pregnant": ["yes"], "age": ["old"]})
    resolved = AODE(subsumption=10).fit(frame, labels).predict_proba(row)
    np.testing.assert_array_equal(resolved, AODE().fit(frame, labels).predict_proba(row.assign(sex=None)))
    np.testing.assert_array_equal(
        AODE(subsumption=21).fit(frame, labels).predict_proba(row), AODE().fit(frame, labels).predict_proba(row)
    )


def test_a_choice_of_columns_that_is_asked_for_after_the_fit_is_refused_and_one_that_was_made_can_be_left_out(tmp_path):
    model = AODE().fit(CARS, VERDICTS).set_params(select=True)
    with pytest.raises(ParameterError, match="select is True, but the rows were learned without a choice"):
        model.predict(CARS)
    with pytest.raises(ModelFileError, match=r"its structure is None, which no fit .* set them back"):
        save(model, tmp_path / "model.bayes")
    chosen = AODE(select=True).fit(CARS, VERDICTS)
    assert len(chosen.structure_[0]) < CARS.shape[1] or len(chosen.structure_[1]) < CARS.shape[1]
    before = chosen.predict_proba(CARS)
    of_all = chosen.set_params(select=False).predict_proba(CARS)
    np.testing.assert_array_equal(of_all, AODE().fit(CARS, VERDICTS).predict_proba(CARS))
    np.testing.assert_array_equal(chosen.set_params(select=True).predict_proba(CARS), before)


def test_rows_that_choose_columns_are_drawn_by_their_cells_so_that_neither_order_nor_weights_matter(monkeypatch):
    monkeypatch.setattr(aode, "LEAST_CHOOSING_ROWS", 40)
    monkeypatch.setattr(aode, "CHOOSING_TERMS", 0)
    weight = np.random.default_rng(3).integers(1, 4, len(VERDICTS))
    repeated = np.random.default_rng(4).permutation(np.repeat(np.arange(len(VERDICTS)), weight))
    weighted = AODE(select=True).fit(CARS, VERDICTS, weight)
    assert weighted.structure_ == AODE(select=True).fit(CARS.iloc[repeated], VERDICTS[repeated]).structure_


def test_a_flag_of_numpy_is_a_flag():
    found = AODE(subsumption=np.False_).fit(CARS, VERDICTS).predict_proba(CARS)
    np.testing.assert_array_equal(found, AODE().fit(CARS, VERDICTS).predict_proba(CARS))


def test_choosing_the_super_parent_says_nothing_of_candidates_that_were_not_chosen():
    frame, labels = mixed_table()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ImpossibleEvidenceWarning)
        SPODE("best", alpha=0).fit(frame, labels)


# ---------------------------------------------------------------------- calibration


def test_a_temperature_is_learned_from_rows_that_had_no_say_in_the_tree():
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 30)), rng.integers(0, 2, 200)  # nothing to be learned, and much to be found
    model = TAN(calibrate=True).fit(X, y)
    judged_by_itself = TAN().fit(X, y).leave_one_out([(X, y)])
    assert judged_by_itself.accuracy > 0.7  # the tree knows the labels by heart
    assert model.calibration_.n_used == 200
    assert model.calibration_.before.accuracy < 0.6
    assert model.calibration_.after.log_loss < 0.75 < judged_by_itself.log_loss
    assert np.exp(model.predict_log_proba(rng.integers(0, 4, (500, 30)))).max() < 0.75


def test_cuts_that_the_labels_chose_are_chosen_anew_by_a_part_of_the_rows():
    frame, labels = mixed_table()

    def is_scored_by_its_own_cuts(model):
        report = model.fit(frame, labels).calibration_
        assert report.n_used == len(labels)
        own = model.leave_one_out([(frame, labels)]).log_loss
        return report.before.log_loss == pytest.approx(own, rel=1e-9)  # a mean, summed in another order

    assert not is_scored_by_its_own_cuts(AODE(calibrate=True))
    assert is_scored_by_its_own_cuts(AODE(discretize="equal_frequency", calibrate=True))


def test_where_nothing_was_chosen_by_the_labels_all_rows_calibrate():
    model = AODE(calibrate=True).fit(CARS, VERDICTS)
    assert model.calibration_.n_used == len(CARS)


# ---------------------------------------------------------------------- reasons, tables, samples, networks


@every_model
@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_contributions_of_pairs_add_up_to_the_log_odds(model, missing):
    frame, labels = mixed_table()
    model = type(model)(**{**model.get_params(), "missing": missing}).fit(frame, labels)
    explanations = model.explain(frame[:40])
    joint = model.predict_joint_log_proba(frame[:40])
    chosen, against = (
        np.searchsorted(model.classes_, side) for side in (explanations.prediction, explanations.against)
    )
    row = np.arange(40)
    log_odds = joint[row, chosen] - joint[row, against]
    np.testing.assert_allclose(explanations.log_odds, log_odds, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(
        explanations.intercept + explanations.contributions.sum(axis=1), log_odds, rtol=1e-9, atol=1e-9
    )
    for i in (0, 7):
        pairs = explanations.pairs(i)
        np.testing.assert_allclose(
            explanations.intercept[i] + sum(one.contribution for one in pairs), log_odds[i], rtol=1e-9, atol=1e-9
        )
        assert str(explanations[i]).startswith(repr(str(explanations.prediction[i])))


@pytest.mark.parametrize("weight", [None, "balanced"])
@pytest.mark.parametrize("kind", [AODE, A2DE, TAN, KDB], ids=lambda kind: kind.__name__)
def test_what_is_said_before_the_row_is_looked_at_is_what_is_answered_of_a_row_of_which_nothing_is_known(kind, weight):
    rng = np.random.default_rng(0)
    rare = rng.random(600) < 0.06
    frame = pd.DataFrame({name: rng.choice(list("uvw"), 600) for name in "abcd"}).assign(
        told=np.where(rare, rng.choice(list("xyz"), 600), rng.choice(list("xxy"), 600))
    )
    model = kind(class_weight=weight).fit(frame, np.where(rare, "rare", "usual"))
    log_odds = np.log(model.predict_proba([{}])[0, 1] / model.predict_proba([{}])[0, 0])
    explanations = model.explain(frame[:50])
    sign = np.where(explanations.prediction == "usual", 1, -1)
    np.testing.assert_allclose(explanations.intercept, sign * log_odds, rtol=1e-9, atol=1e-12)
    said = "'usual' is 14 times as frequent as 'rare'" if weight is None else "is taken to be as frequent as"
    count = f"{int((~rare).sum()) / int(rare.sum()):.0f} times"
    assert said.replace("14 times", count) in str(explanations[0])


def test_with_learned_weights_the_shift_is_told_beside_the_class_frequencies():
    model = AODE(weights="learned").fit(CARS, VERDICTS)
    line = str(model.explain(CARS[:1])).splitlines()[1]
    assert line.endswith("class frequencies, and the shift learned with the weights")


@pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning")
def test_contributions_add_up_where_some_parents_are_impossible_in_a_class():
    model = AODE(alpha=0.0).fit(CARS, VERDICTS)
    explanations = model.explain(CARS)
    joint = model.predict_joint_log_proba(CARS)
    n_possible = np.isfinite(joint).sum(axis=1)
    assert {1, 2, 3} >= set(n_possible) > {1}
    told = explanations.intercept + explanations.contributions.sum(axis=1)
    assert not np.isnan(told).any()
    np.testing.assert_allclose(told, explanations.log_odds, rtol=1e-9, atol=1e-9)


def test_a_single_change_that_is_named_turns_the_decision():
    model = AODE().fit(CARS, VERDICTS)
    found = model.explain(CARS[:20])
    turned = 0
    for i in range(20):
        for turn in found[i].turns:
            changed = CARS.iloc[[i]].assign(**{turn.column: turn.value})
            assert model.predict(changed)[0] == turn.prediction != found.prediction[i]
            turned += 1
    assert turned > 10


@every_model
def test_samples_have_the_form_of_the_table_and_follow_the_model(model):
    frame, labels = mixed_table()
    model = model.fit(frame, labels)
    drawn, classes = model.sample(4000, random_state=0)
    assert list(drawn.columns) == list(frame.columns)
    assert drawn["grade"].dtype == frame["grade"].dtype
    expected = np.exp(model._joint().log_prior)
    share = (classes[:, None] == model.classes_).mean(axis=0)
    np.testing.assert_allclose(share, expected, atol=4 * 0.5 / np.sqrt(4000))  # four standard errors
    yellow = {k: (drawn["colour"][classes == k] == "yellow").mean() for k in model.classes_}
    assert yellow["bee"] > 0.8 > 0.6 > yellow["ant"]
    again, _ = model.sample(4000, random_state=0)
    pd.testing.assert_frame_equal(drawn, again)


@pytest.mark.parametrize("model", [SPODE("a"), SPODE(), SPODE("a", class_prior=[0.9, 0.1]), TAN(), AODE()], ids=str)
def test_the_prior_that_a_model_tells_is_the_one_it_decides_by(model):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["x", "y", "z"], 200) for name in "abc"})
    y = rng.choice(["no", "yes"], 200)
    frame.loc[(y == "no") & (rng.random(200) < 0.8), "a"] = None
    model = model.fit(frame, y)
    prior = np.exp(model.class_log_prior_)
    nothing_known = pd.DataFrame({name: pd.Series([None], dtype=object) for name in "abc"})
    np.testing.assert_allclose(model.predict_proba(nothing_known)[0], prior, rtol=1e-12)  # sums of a few logarithms
    np.testing.assert_array_equal(model.decide(frame, prior=prior), model.predict(frame))


@pytest.mark.parametrize("model", [SPODE("seats"), TAN()], ids=str)
def test_the_network_of_a_model_has_its_joints(model):
    model = model.fit(CARS, VERDICTS)
    network = model.network_tables()
    assert network.names == ("class", "price", "seats", "boot", "safety")
    for table in network.tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)
    place = [{state: code for code, state in enumerate(states)} for states in network.states]
    joint = model.predict_joint_log_proba(CARS)
    for i in (0, 17, 53):
        for k in range(3):
            codes = [k, *(place[j + 1][cell] for j, cell in enumerate(CARS.iloc[i]))]
            share = np.prod(
                [
                    table[tuple(codes[p] for p in parents)][codes[j]]
                    for j, (table, parents) in enumerate(zip(network.tables, network.parents, strict=True))
                ]
            )
            np.testing.assert_allclose(share, np.exp(joint[i, k]), rtol=1e-12)


def test_tables_are_distributions():
    tan, aode = TAN().fit(CARS, VERDICTS), AODE().fit(CARS, VERDICTS)
    table = tan.tables()["price"]
    assert table.columns.tolist() == ["safety", "price", *(f"P(price | {k}, safety)" for k in ("good", "no", "yes"))]
    np.testing.assert_allclose(table.groupby("safety").sum(numeric_only=True), 1.0)
    np.testing.assert_allclose(aode.tables()["price"].drop(columns="price").to_numpy().sum(), 1.0)
    pd.testing.assert_frame_equal(aode.pair_table("price", "safety"), table)
    with pytest.raises(ParameterError, match="its own parent"):
        aode.pair_table("price", "price")


def test_parameters_are_counted():
    # Three classes; columns of 3, 3, 2 and 3 states.
    assert TAN(parents={}).fit(CARS, VERDICTS).n_parameters == 2 + 3 * (2 + 2 + 1 + 2)
    assert TAN().fit(CARS, VERDICTS).n_parameters == 2 + 3 * (3 * 2 + 3 * 2 + 3 * 1 + 2)
    assert SPODE("boot").fit(CARS, VERDICTS).n_parameters == 3 * 2 - 1 + 3 * 2 * (2 + 2 + 2)
    of_three, of_boot = 3 * 3 - 1 + 3 * 3 * (2 + 2 + 1), 3 * 2 - 1 + 3 * 2 * 6
    assert AODE().fit(CARS, VERDICTS).n_parameters == 3 * of_three + of_boot


def test_aode_sees_what_naive_bayes_is_blind_to():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["no", "yes"], 400) for name in "ab"})
    labels = (frame["a"] == frame["b"]).to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        naive = (NaiveBayes().fit(frame, labels).predict(frame) == labels).mean()
    assert naive < 0.7
    for model in (AODE(), TAN(), SPODE()):
        assert (model.fit(frame, labels).predict(frame) == labels).all()


# ---------------------------------------------------------------------- pieces


def pieces(frame, labels, n=3):
    return [(frame[i::n], labels[i::n]) for i in range(n)]


@every_model
def test_a_table_in_pieces_is_learned_as_all_its_rows_at_once(model):
    frame, labels = mixed_table()
    at_once = type(model)(**model.get_params()).fit(frame, labels)
    found = type(model)(**model.get_params()).fit_batches(pieces(frame, labels))
    assert found.statistics_ == at_once.statistics_
    assert (found.predict_proba(frame) == at_once.predict_proba(frame)).all()


@pytest.mark.parametrize("n_different", [3, 12, 13, 2000])
@pytest.mark.parametrize("first", [2**53, 2**62, 2.0**70, -(2**62)])
def test_hashes_are_categories_or_bins_alike_whether_rows_come_at_once_or_in_pieces(n_different, first):
    rng = np.random.default_rng(0)
    step = 1 if isinstance(first, int) else 2.0**30  # whole numbers that floats do not tell apart, and floats that do
    hashes = np.array([3, *(first + step * i for i in range(n_different - 1))])
    frame = pa.table({"hash": rng.choice(hashes, 4000), "y": rng.choice(["p", "q"], 4000)})
    labels = np.where(rng.random(4000) < 0.8, np.asarray(frame["hash"]) == 3, rng.random(4000) < 0.5)
    whole = AODE().fit(frame, labels)
    pieces = AODE().fit_batches([(frame.slice(i, 1500), labels[i : i + 1500]) for i in range(0, 4000, 1500)])
    assert whole.columns_["hash"].family == ("categorical" if n_different <= 12 else "binned")
    assert pieces.statistics_ == whole.statistics_


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int8, np.uint64])
def test_small_numbers_of_any_type_are_categories_in_pieces_as_well(dtype):
    frame, labels = pd.DataFrame({"x": np.arange(60, dtype=dtype) % 5, "y": ["p", "q"] * 30}), ["a", "b", "c"] * 20
    pieces = AODE().fit_batches([(frame[i : i + 30], labels[i : i + 30]) for i in (0, 30)])
    assert pieces.columns_["x"].family == "categorical"
    assert pieces.statistics_ == AODE().fit(frame, labels).statistics_


@every_model
def test_pieces_are_calibrated_as_all_their_rows_at_once(model):
    frame, labels = mixed_table()
    model = type(model)(**{**model.get_params(), "calibrate": True})
    expected = model.fit(frame, labels).predict_proba(frame)
    for batches in (pieces(frame, labels), [(frame, labels)]):
        np.testing.assert_array_equal(model.fit_batches(batches).predict_proba(frame), expected)


def test_pieces_that_cannot_be_learned_from_are_refused_and_change_nothing():
    frame, labels = mixed_table()
    model = AODE()
    with pytest.raises(DataError, match="the batches are empty"):
        model.fit_batches([])
    with pytest.raises(ParameterError, match="can be read only once"):
        AODE().fit_batches(iter(pieces(frame, labels)))
    with pytest.raises(SchemaError, match="'size', which AODE was fitted with, is missing"):
        model.fit_batches([(frame, labels), (frame.drop(columns="size"), labels)])
    assert not hasattr(model, "statistics_")


def test_a_time_of_day_is_cut_the_same_at_once_and_in_pieces():
    rng = np.random.default_rng(3)
    hours = pd.to_timedelta(rng.integers(0, 400 * 24, 160), unit="h")
    X = pd.DataFrame({"at": pd.Timestamp("2024-01-01") + hours})
    y = np.where(X["at"].dt.hour > 12, "late", "early")
    whole = AODE().fit(X, y)
    pieces = AODE().fit_batches([(X[:70], y[:70]), (X[70:], y[70:])])
    assert [column.cuts for column in pieces.columns_] == [column.cuts for column in whole.columns_]
    np.testing.assert_array_equal(pieces.predict_proba(X), whole.predict_proba(X))
    assert AODE(calibrate=True).fit(X, y).score(X, y) > 0.9
