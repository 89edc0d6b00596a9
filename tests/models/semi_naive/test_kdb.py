"""KDB, SKDB and A2DE as a user meets them: structure, laws, bad input, reasons, samples, networks."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.models.semi_naive.judged_cars import CARS, VERDICTS

from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesWarning,
    NaiveBayes,
    ParameterError,
    ResourceLimitError,
    StatisticsError,
    UnseenCategoryWarning,
    limits,
    threads,
)
from bayeswater.inference import dependence, missing_parents

MODELS = [KDB(), KDB(1, smoothing="m-estimate"), KDB(3, class_free=0.0), SKDB(), SKDB(2, smoothing="laplace"), A2DE()]
every_model = pytest.mark.parametrize("model", MODELS, ids=str)


def new(model, **changed):
    return type(model)(**{**model.get_params(), **changed})


def mixed_table(n_rows=200, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.array(["ant", "bee", "cat"])[rng.integers(0, 3, n_rows)]
    frame = pd.DataFrame(
        {
            "colour": np.where(labels == "bee", "yellow", rng.choice(["red", "blue", "yellow"], n_rows)),
            "size": rng.normal(size=n_rows) + 2 * (labels == "cat"),
            "legs": np.where(labels == "cat", 4, 6) + rng.integers(0, 2, n_rows),
            "wings": rng.random(n_rows) < 0.2 + 0.6 * (labels == "bee"),
            "grade": pd.Categorical(rng.choice(["a", "b"], n_rows), categories=["a", "b", "c"]),
        }
    )
    frame.loc[rng.random(n_rows) < 0.1, "size"] = np.nan
    frame.loc[rng.random(n_rows) < 0.1, "colour"] = None
    return frame, labels


# ---------------------------------------------------------------------- structure


def test_parents_are_those_that_tell_most_of_a_column_among_those_before_it():
    # MI(X; Y) falls from safety to seats, price, boot; CMI(price; safety) = .093 > CMI(price; seats) = .017.
    model = KDB(2).fit(CARS, VERDICTS)
    assert model.parents_ == {
        "price": ("safety", "seats"),
        "seats": ("safety",),
        "boot": ("price", "safety"),
        "safety": (),
    }
    assert KDB(1).fit(CARS, VERDICTS).parents_["price"] == ("safety",)
    assert KDB(2, theta=0.05).fit(CARS, VERDICTS).parents_["price"] == ("safety",)
    assert set(KDB(0).fit(CARS, VERDICTS).parents_.values()) == {()}


def test_one_parent_as_in_a_tree_gives_the_probabilities_of_the_tree():
    tree = {"price": "safety", "seats": "safety", "boot": "price", "safety": None}
    parents = {child: [] if parent is None else [parent] for child, parent in tree.items()}
    found = KDB(parents=parents, smoothing="m-estimate").fit(CARS, VERDICTS).predict_joint_log_proba(CARS)
    # All states of all parents occur, so no level is left out.
    expected = TAN(parents=tree).fit(CARS, VERDICTS).predict_joint_log_proba(CARS)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_parents_are_fixed_by_the_first_fit():
    model = KDB().fit(CARS[:30], VERDICTS[:30])
    first = model.parents_
    model.partial_fit(CARS[30:], VERDICTS[30:])
    assert model.parents_ == first != KDB().fit(CARS, VERDICTS).parents_
    held = KDB(parents=first).fit(CARS, VERDICTS)
    assert held.statistics_ == model.statistics_
    np.testing.assert_array_equal(held.predict_proba(CARS), model.predict_proba(CARS))


@pytest.mark.parametrize("model", [KDB(), SKDB()], ids=str)
def test_models_of_other_parents_refuse_to_be_merged_and_name_the_column(model):
    a, b = (new(model, parents={"price": [parent]}).fit(CARS, VERDICTS) for parent in ("safety", "seats"))
    with pytest.raises(StatisticsError, match=r"'price' has the parents \['safety'\] here and \['seats'\] there"):
        a + b
    assert (a + new(model, parents={"price": ["safety"]}).fit(CARS, VERDICTS)).class_count_.sum() == 2 * len(CARS)


@pytest.mark.parametrize("seed", range(3))
def test_models_of_two_shards_are_merged_by_the_parents_that_one_was_counted_with(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({name: rng.choice(["x", "y", "z"], 240) for name in "abcd"})
    y = ((X["a"] == "x") & (rng.random(240) < 0.9)).to_numpy()
    here = SKDB().fit(X[:120], y[:120])
    assert here.k_ < max(map(len, here.counted_parents_.values()))
    assert here.parents_ == {name: own[: here.k_] for name, own in here.counted_parents_.items()}
    with pytest.raises(StatisticsError, match=r"parents=first\.counted_parents_"):
        here + SKDB(parents=here.parents_).fit(X[120:], y[120:])
    there = SKDB(parents=here.counted_parents_).fit(X[120:], y[120:])
    merged = here + there
    assert merged.structure_ == here.structure_
    assert merged.statistics_ == here.partial_fit(X[120:], y[120:]).statistics_


def test_fewer_parents_can_be_read_than_were_counted_but_not_more():
    model = KDB(2).fit(CARS, VERDICTS).set_params(k=1)
    np.testing.assert_allclose(model.predict_proba(CARS), KDB(1).fit(CARS, VERDICTS).predict_proba(CARS), rtol=1e-6)
    with pytest.raises(ParameterError, match="counted with 2 parents at most; fit again"):
        model.set_params(k=3).predict(CARS)


@pytest.mark.parametrize("model", [TAN(), KDB(), KDB(1, smoothing="m-estimate")], ids=str)
def test_what_names_the_rows_has_no_say_in_what_is_predicted_for_others(model):
    frame, labels = mixed_table(300)
    seat, ticket = ([f"{kind} {i // each}" for i in range(300)] for kind, each in (("seat", 1), ("ticket", 2)))
    named = frame.assign(seat=pd.Categorical(seat), ticket=pd.Categorical(ticket))
    with pytest.warns(
        BayesWarning, match=r"depend on the class alone: 'seat' \(300 in 300 rows\), 'ticket' \(150 in"
    ) as told:
        found = new(model).fit(named, labels)
    assert sum("depend on the class alone" in str(one.message) for one in told) == 1
    unknown = frame.assign(seat=None, ticket=None)
    plain = new(model).fit(frame, labels)
    np.testing.assert_allclose(found.predict_proba(unknown), plain.predict_proba(frame), rtol=1e-9)
    told = {name: own for name, own in found.parents_.items() if name not in ("seat", "ticket")}
    assert told == plain.parents_
    given = (
        {"seat": "ticket", "colour": "ticket"} if isinstance(model, TAN) else {"seat": ["ticket"], "colour": ["ticket"]}
    )
    forced = new(model, parents=given).fit(named, labels)  # who knows better is believed
    assert forced.parents_["seat"] in ("ticket", ("ticket",))


def test_a_name_that_came_once_does_not_outweigh_all_other_columns():
    frame, labels = mixed_table(300)
    named = frame.assign(ticket=pd.Categorical([f"ticket {i // 2}" for i in range(300)]))
    with pytest.warns(BayesWarning, match="depend on the class alone: 'ticket'"):
        model = TAN().fit(named, labels)
    share = model.tables()["ticket"]["P(ticket | ant)"]
    assert share.max() / share.min() == pytest.approx(3)  # (2 + 1) / (0 + 1): every ticket is imagined once


def test_a_name_is_no_super_parent_unless_it_is_said_to_be():
    frame, labels = mixed_table(300)
    leak = [f"{label} {i // 2}" for i, label in enumerate(labels)]  # with the class in it, it has the least loss
    named = frame.assign(ticket=pd.Categorical(leak))
    with pytest.warns(BayesWarning, match="too many values to be the parent of another: 'ticket'"):
        model = SPODE(calibrate=True).fit(named, labels)
    assert model.super_parent_ != "ticket"
    assert SPODE("ticket").fit(named, labels).super_parent_ == "ticket"
    alone = named[["ticket"]].assign(seat=named["ticket"])
    with pytest.warns(BayesWarning, match="too many values"):
        assert SPODE().fit(alone, labels).super_parent_ == "ticket"  # one of them has to be


@pytest.mark.parametrize("model", [AODE(), TAN(), KDB(), SPODE()], ids=str)
def test_a_frame_is_read_once_however_many_passes_a_fit_makes(model, monkeypatch):
    from bayeswater.data.reading import raw_table

    frame, labels = mixed_table(300)
    read, original = [], raw_table.read_frame
    monkeypatch.setattr(raw_table, "read_frame", lambda X: [read.append(len(X)), original(X)][1])
    new(model, calibrate=True).fit(frame, labels)
    assert read.count(300) <= 2  # once more for the ranges that explanations speak of


@pytest.mark.parametrize("model", [AODE(), AODE(select=True), AODE(weights="learned"), A2DE()], ids=str)
def test_a_name_is_one_of_many_super_parents_only_if_all_are(model):
    frame, labels = mixed_table(300)
    named = frame.assign(ticket=pd.Categorical([f"ticket {i // 2}" for i in range(300)]))
    with pytest.warns(BayesWarning, match=r"the parent of another: 'ticket' \(150 in 300 rows\).*super_parents='all'"):
        found = new(model).fit(named, labels)
    unknown, plain = frame.assign(ticket=None), new(model).fit(frame, labels)
    if not model.get_params().get("weights"):  # these are learned with the ticket as a child
        np.testing.assert_allclose(found.predict_proba(unknown), plain.predict_proba(frame), rtol=1e-9)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        every = new(model, super_parents="all").fit(named, labels)
    assert not np.allclose(every.predict_proba(named), found.predict_proba(named))
    with pytest.raises(ParameterError, match=r"super_parents is 'ticket'; it can be None(,| or) 'all'"):
        new(model, super_parents="ticket").fit(named, labels)


@pytest.mark.parametrize("every", [False, True])
def test_a_name_as_a_child_is_imagined_once_in_each_class(every):
    rng = np.random.default_rng(0)
    cells, y = np.column_stack([rng.integers(0, 2, (60, 2)), np.arange(60) // 2]), rng.integers(0, 2, 60)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)
        model = AODE(super_parents="all" if every else None, columns=dict.fromkeys(range(3), "categorical"))
        model.fit(cells, y)
    v, cell = np.array([2, 2, 30]), np.array([0.5, 0.5, 1 / 30 if every else 1.0])
    joint = np.zeros((60, 2))
    for row, k, i in product(range(60), range(2), range(3 if every else 2)):
        above = (y == k) & (cells[:, i] == cells[row, i])
        part = (above.sum() + 1 / (2 * v[i])) / 61
        for j in {0, 1, 2} - {i}:
            same = (above & (cells[:, j] == cells[row, j])).sum()
            part *= (same + cell[j]) / (above.sum() + v[j] * cell[j])
        joint[row, k] += part
    np.testing.assert_allclose(model.predict_proba(cells), joint / joint.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("kind", [AODE, A2DE])
def test_where_all_columns_are_names_they_are_scored_by_naive_bayes(kind):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: pd.Categorical([f"{name} {i}" for i in rng.integers(0, 40, 60)]) for name in "abc"})
    labels = rng.choice(["no", "yes"], 60)
    with pytest.warns(BayesWarning, match="too many values"):
        model = kind().fit(frame, labels)
    told = NaiveBayes(alpha=1, columns=dict.fromkeys("abc", "categorical")).fit(frame, labels)
    told.set_params(class_prior=np.exp(model.class_log_prior_))
    np.testing.assert_allclose(model.predict_proba(frame), told.predict_proba(frame), rtol=1e-12)
    assert model.n_parameters == 1 + 2 * sum(frame[name].nunique() - 1 for name in "abc")
    drawn, _ = model.sample(20, random_state=0)
    assert all(set(drawn[name]) <= set(frame[name]) for name in "abc")
    assert np.isfinite(model.explain(frame[:3]).contributions).all()


@pytest.mark.parametrize(
    "model",
    [TAN(), KDB(), SKDB(), SPODE(), AODE(), AODE(select=True), AODE(weights="learned"), A2DE()],
    ids=str,
)
def test_columns_of_nearly_as_many_names_as_rows_cost_no_accuracy(model):
    rng = np.random.default_rng(5)
    n, learned = 900, 450
    y = rng.integers(0, 2, n)
    said = {f"c{j}": (y + (rng.random(n) < 0.3)) % 2 + rng.integers(0, 2, n) for j in range(6)}
    frame = pd.DataFrame({name: pd.Categorical(cells.astype(str)) for name, cells in said.items()})
    ticket = [f"t{i}" for i in rng.integers(0, 700, n)]
    cabin = [f"u{i}" if rng.random() < 0.3 else None for i in rng.integers(0, 300, n)]
    named = frame.assign(ticket=pd.Categorical(ticket), cabin=pd.Categorical(cabin))

    def error(table):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BayesWarning)
            fitted = new(model).fit(table[:learned], y[:learned])
        return (fitted.predict(table[learned:]) != y[learned:]).mean()

    assert error(named) <= error(frame) + 0.02  # of 450 rows, what chance moves


def test_a_table_of_names_has_no_parents_and_can_grow():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: pd.Categorical([f"{name} {i}" for i in rng.integers(0, 40, 60)]) for name in "abc"})
    labels = rng.choice(["no", "yes"], 60)
    with pytest.warns(BayesWarning, match="depend on the class alone"):
        model = KDB().fit(frame, labels)
    assert set(model.parents_.values()) == {()}
    for _ in range(20):  # in the end every name has rows enough, and the parents stay those of the first fit
        model.partial_fit(frame, labels)
    assert set(model.parents_.values()) == {()}


def test_the_choice_of_skdb_leaves_out_what_tells_nothing():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.choice(["no", "yes"], 400) for name in "abcdef"})
    labels = (frame["a"] == frame["b"]).to_numpy()
    model = SKDB().fit(frame, labels)
    assert model.k_ >= 1
    assert {"a", "b"} <= set(model.selected_)
    assert (model.predict(frame) == labels).mean() > 0.95
    noise = SKDB().fit(frame[["c", "d"]], labels)
    assert noise.structure_ == (0, noise.selected_)
    chosen = model.structure_
    assert model.partial_fit(frame, ~labels).structure_ == chosen  # later rows move the sums only


def test_a_level_that_tells_all_is_trusted_and_one_that_tells_nothing_is_not():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 4, (2, 500))
    frame = pd.DataFrame({"a": a, "b": a, "noise": b})
    model = KDB(parents={"b": ["a", "noise"]}).fit(frame, rng.integers(0, 2, 500))
    trust = model.concentrations_
    assert trust["without_class"][1] < 0.1  # b is a
    assert trust["with_class"][0] > 100  # the class says nothing of any column


# ---------------------------------------------------------------------- laws


@every_model
def test_rows_can_be_learned_in_pieces_merged_and_forgotten(model):
    frame, labels = mixed_table()
    first = new(model).fit(frame[:120], labels[:120])
    held = {"columns": first.columns_} | ({"parents": first.parents_} if hasattr(first, "parents_") else {})
    if isinstance(model, KDB | SKDB):
        families = first.statistics_.columns.groups["families"]
        names = families.schema.names
        held["parents"] = {name: [names[p] for p in own] for name, own in zip(names, families.parents, strict=True)}
    second = new(model, **held).fit(frame[120:], labels[120:])
    whole = new(model, **held).fit(frame, labels)
    assert (first + second).statistics_ == whole.statistics_
    assert new(model).fit(frame[:120], labels[:120]).partial_fit(frame[120:], labels[120:]).statistics_ == (
        whole.statistics_
    )
    assert (whole - second).statistics_ == first.statistics_
    forgotten = whole.forget(frame[120:], labels[120:])
    assert forgotten.statistics_ == first.statistics_


@every_model
def test_a_row_of_weight_two_is_two_rows(model):
    frame, labels = mixed_table(80)
    weight = np.random.default_rng(1).integers(0, 3, 80)
    weighted = new(model).fit(frame, labels, weight)
    kept = np.repeat(np.arange(80), weight)
    repeated = new(model, columns=weighted.columns_).fit(frame.iloc[kept], labels[kept])
    assert weighted.statistics_ == repeated.statistics_
    np.testing.assert_array_equal(weighted.predict_proba(frame), repeated.predict_proba(frame))
    left_out = weighted.loo_predict_log_proba(frame[weight > 0], labels[weight > 0], weight[weight > 0])
    again = repeated.loo_predict_log_proba(frame.iloc[kept], labels[kept])
    np.testing.assert_array_equal(np.repeat(left_out, weight[weight > 0], axis=0), again)


@every_model
def test_the_number_of_threads_never_shows(model):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 3, (40_000, 4)), rng.integers(0, 2, 40_000)
    with threads(1):
        one = new(model).fit(X, y)
        alone = one.predict_log_proba(X)
    with threads(3):
        many = new(model).fit(X, y)
        assert many.statistics_ == one.statistics_
        np.testing.assert_array_equal(many.predict_log_proba(X), alone)


@every_model
def test_new_classes_and_categories_may_come_at_any_time(model):
    model = new(model).fit(CARS[:30], VERDICTS[:30])
    later = pd.DataFrame({"price": ["free"] * 30, "seats": ["9"] * 30, "boot": ["big"] * 30, "safety": ["low"] * 30})
    model.partial_fit(later, ["dream"] * 30)
    assert model.predict(later).tolist() == ["dream"] * 30


# ---------------------------------------------------------------------- bad input


@every_model
def test_one_column_is_naive_bayes(model):
    frame, labels = pd.DataFrame({"a": ["x", "y", "x", None, "z"]}), np.array([0, 0, 1, 1, 1])
    flat = new(model, smoothing="m-estimate").fit(frame, labels)
    if isinstance(model, SKDB):
        flat.structure_ = (0, ("a",))
    found = flat.predict_proba(pd.DataFrame({"a": ["x", "z", None]}))
    expected = np.array([2 + 0.5, 3 + 0.5]) * np.vstack([(np.array([[1, 1], [0, 1]]) + 1 / 3) / 3, [1.0, 1.0]])
    np.testing.assert_allclose(found, expected / expected.sum(axis=1, keepdims=True), rtol=1e-13)


@every_model
def test_constant_and_empty_columns_and_names_of_rows_are_borne(model):
    frame, labels = mixed_table(60)
    frame = frame.assign(constant="same", empty=np.nan, name=pd.Categorical([f"row {i}" for i in range(60)]))
    with pytest.warns(BayesWarning, match="'empty' is left out|'name' has as many values as rows"):
        model = new(model).fit(frame, labels)
    assert np.isfinite(model.predict_log_proba(frame)).all()
    assert np.isfinite(model.loo_predict_log_proba(frame, labels)).all()


@pytest.mark.parametrize("model", [KDB(), SKDB(), A2DE()], ids=str)
def test_a_column_that_is_told_to_be_a_category_may_have_its_first_value_later(model):
    frame, labels = mixed_table()
    frame = frame[["colour", "legs"]].assign(empty=None)
    model = new(model, columns={"empty": "categorical"}).fit(frame, labels)
    assert np.isfinite(model.loo_predict_log_proba(frame, labels)).all()
    assert model.sample(3, random_state=0)[0]["empty"].isna().all()
    model.partial_fit(pd.DataFrame({"colour": ["red"] * 50, "legs": [4] * 50, "empty": ["full"] * 50}), ["dog"] * 50)
    assert np.isfinite(model.predict_log_proba(frame)).all()


@pytest.mark.parametrize("model", [KDB(), SKDB(), A2DE()], ids=str)
def test_a_column_beside_one_without_values_can_be_learned_and_drawn(model):
    frame, labels = mixed_table()
    frame = frame[["legs"]].assign(empty=None)
    columns = {"empty": "categorical"}
    model = new(model, columns=columns).fit(frame, labels)
    if isinstance(model, A2DE):  # no two columns are there together in any row
        expected = AODE(columns=columns).fit(frame, labels).predict_proba(frame)
    else:
        expected = new(model, columns=None).fit(frame[["legs"]], labels).predict_proba(frame[["legs"]])
    np.testing.assert_allclose(model.predict_proba(frame), expected, rtol=1e-12)
    assert model.sample(5, random_state=0)[0]["empty"].isna().all()
    assert model.explain(frame[:2]).contributions.shape == (2, 2)


def test_more_cells_than_the_limit_are_refused_with_their_number_and_a_way_out(monkeypatch):
    monkeypatch.setattr(limits, "TABLE_BYTES", 5000)
    with pytest.raises(ResourceLimitError, match=r"all triples of 4 columns .* KiB, over the limit .* take AODE"):
        A2DE().fit(CARS, VERDICTS)
    monkeypatch.setattr(limits, "TABLE_BYTES", 2400)
    with pytest.raises(ResourceLimitError, match=r"columns with their parents .* take fewer parents"):
        KDB(3).fit(CARS, VERDICTS)
    monkeypatch.undo()
    model = KDB(2).fit(CARS, VERDICTS)
    monkeypatch.setattr(limits, "TABLE_BYTES", 100)
    with pytest.raises(ResourceLimitError, match="take a smaller k"):
        model.tables()


def test_too_many_missing_parents_are_refused_with_their_number_and_a_way_out(monkeypatch):
    model = KDB().fit(CARS, VERDICTS)
    monkeypatch.setattr(dependence, "MOST_FILLED", 8)
    row = CARS[:1].assign(price=None, safety=None)
    assert model.predict(row).shape == (1,)
    monkeypatch.setattr(missing_parents, "MOST_TERMS", 20)
    with pytest.raises(ResourceLimitError, match=r"misses 2 cells .* takes 27 terms .* over the limit of 20"):
        model.predict(row)
    assert model.predict(CARS[:1].assign(boot=None)).shape == (1,)  # nothing depends on it


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (KDB(-1), "k is -1"),
        (KDB(1.5), "k is 1.5"),
        (KDB(True), "k is True"),
        (KDB(theta="much"), "theta is 'much'"),
        (KDB(smoothing="none"), "smoothing is 'none'; it can be one of .*back-off"),
        (KDB(class_free=1.5), "class_free is 1.5"),
        (KDB(alpha=-1), "alpha is -1"),
        (KDB(parents={"price": ["weight"]}), "parents names 'weight'"),
        (KDB(parents={"price": "seats"}), "give a list of columns"),
        (KDB(parents={"price": ["seats"], "seats": ["price"]}), r"parents has a cycle among the columns"),
        (KDB(parents={"price": ["price"]}), "parents has a cycle"),
        (KDB(parents={"price": ["seats", "seats"]}), "give different columns"),
        (KDB(parents=["price"]), "give a dict"),
        (SKDB(-1), "max_k is -1"),
        (A2DE(min_support=0), "min_support is 0"),
        (A2DE(smoothing="back-off"), "smoothing is 'back-off'"),
        (A2DE(class_prior=[1.0]), "class_prior has shape"),
    ],
    ids=str,
)
def test_parameters_out_of_range_are_refused_and_change_nothing(model, words):
    with pytest.raises(ParameterError, match=words):
        model.fit(CARS, VERDICTS)
    assert not hasattr(model, "statistics_")


@every_model
def test_an_unseen_category_is_as_a_missing_one(model):
    model = new(model).fit(CARS, VERDICTS)
    row = pd.DataFrame({"price": ["free"], "seats": ["4"], "boot": ["big"], "safety": ["high"]})
    with pytest.warns(UnseenCategoryWarning, match="'price' = 'free' in 1 of 1 rows"):
        found = model.predict_proba(row)
    np.testing.assert_array_equal(found, model.predict_proba(row.assign(price=None)))


# ---------------------------------------------------------------------- calibration, reasons, tables, samples, networks


@pytest.mark.parametrize("model", [KDB(calibrate=True), SKDB(2, calibrate=True)], ids=str)
def test_a_temperature_is_learned_from_rows_that_had_no_say_in_the_parents(model):
    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, (200, 30)), rng.integers(0, 2, 200)  # nothing to be learned, and much to be found
    model = model.fit(X, y)
    assert model.calibration_.n_used == 200
    assert model.calibration_.before.accuracy < 0.62
    assert model.calibration_.after.log_loss < 0.75


@every_model
def test_a_table_in_pieces_is_learned_as_all_its_rows_at_once(model):
    frame, labels = mixed_table()
    batches = [(frame[i::3], labels[i::3]) for i in range(3)]
    found = new(model, calibrate=True).fit_batches(batches)
    expected = new(model, calibrate=True).fit(frame, labels)
    assert found.statistics_ == expected.statistics_
    assert found.calibration_.n_used == expected.calibration_.n_used == 200
    np.testing.assert_array_equal(found.predict_proba(frame), expected.predict_proba(frame))


@every_model
@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_contributions_of_pairs_add_up_to_the_log_odds(model, missing):
    frame, labels = mixed_table()
    model = new(model, missing=missing).fit(frame, labels)
    found = model.explain(frame[:40])
    joint = model.predict_joint_log_proba(frame[:40])
    chosen, against = (np.searchsorted(model.classes_, side) for side in (found.prediction, found.against))
    row = np.arange(40)
    log_odds = joint[row, chosen] - joint[row, against]
    # Sums of some hundred terms, in another order.
    np.testing.assert_allclose(found.intercept + found.contributions.sum(axis=1), log_odds, rtol=1e-9, atol=1e-9)
    pairs = found.pairs(0)
    told = found.intercept[0] + sum(one.contribution for one in pairs)
    np.testing.assert_allclose(told, log_odds[0], rtol=1e-9, atol=1e-9)


@pytest.mark.filterwarnings("ignore::bayeswater.errors.ImpossibleEvidenceWarning")
def test_contributions_add_up_where_some_pairs_are_impossible_in_a_class():
    found = A2DE(alpha=0.0).fit(CARS, VERDICTS).explain(CARS)
    told = found.intercept + found.contributions.sum(axis=1)
    assert not np.isnan(told).any()
    np.testing.assert_allclose(told, found.log_odds, rtol=1e-9, atol=1e-9)


@every_model
def test_samples_have_the_form_of_the_table_and_follow_the_model(model):
    frame, labels = mixed_table()
    model = new(model).fit(frame, labels)
    drawn, classes = model.sample(2000, random_state=0)
    assert list(drawn.columns) == list(frame.columns)
    assert drawn["grade"].dtype == frame["grade"].dtype
    share = (classes[:, None] == model.classes_).mean(axis=0)
    np.testing.assert_allclose(share, np.exp(model._joint().log_prior), atol=4 * 0.5 / np.sqrt(2000))  # 4 std. errors
    yellow = {k: (drawn["colour"][classes == k] == "yellow").mean() for k in model.classes_}
    assert yellow["bee"] > 0.75 > 0.65 > yellow["ant"]
    pd.testing.assert_frame_equal(drawn, model.sample(2000, random_state=0)[0])


@pytest.mark.parametrize("model", [KDB(), KDB(3, smoothing="m-estimate"), SKDB()], ids=str)
def test_the_network_of_a_model_has_its_joints(model):
    model = new(model).fit(CARS, VERDICTS)
    network = model.network_tables()
    for table in network.tables:
        np.testing.assert_allclose(table.sum(axis=-1), 1.0, rtol=1e-12)
    place = [{state: code for code, state in enumerate(states)} for states in network.states]
    joint = model.predict_joint_log_proba(CARS)
    for i, k in product((0, 17, 53), range(3)):
        codes = [k, *(place[at][CARS[name].iloc[i]] for at, name in enumerate(network.names[1:], start=1))]
        share = np.prod(
            [
                table[tuple(codes[p] for p in parents)][codes[j]]
                for j, (table, parents) in enumerate(zip(network.tables, network.parents, strict=True))
            ]
        )
        np.testing.assert_allclose(share, np.exp(joint[i, k]), rtol=1e-12)


def test_tables_are_distributions():
    table = KDB().fit(CARS, VERDICTS).tables()["price"]
    classes = ("good", "no", "yes")
    titles = [f"P(price | {k}, safety, seats)" for k in classes]
    assert table.columns.tolist() == ["safety", "seats", "price", *titles]
    np.testing.assert_allclose(table.groupby(["safety", "seats"]).sum(numeric_only=True), 1.0)
    model = A2DE().fit(CARS, VERDICTS)
    np.testing.assert_allclose(model.tables()["price"].drop(columns="price").to_numpy().sum(), 1.0)
    both = model.pair_table("price", "safety")
    np.testing.assert_allclose(both[[f"P({k}, price, safety)" for k in classes]].to_numpy().sum(), 1.0)
    turned = model.pair_table("safety", "price").sort_values(["price", "safety"], ignore_index=True)
    np.testing.assert_array_equal(turned["P(no, safety, price)"], both["P(no, price, safety)"])
    flat = KDB(parents={"price": ["safety", "seats"]}, smoothing="m-estimate").fit(CARS, VERDICTS)
    pd.testing.assert_frame_equal(model.triple_table("price", ("safety", "seats")), flat.tables()["price"])
    with pytest.raises(ParameterError, match="names a column twice"):
        model.pair_table("price", "price")


@pytest.mark.parametrize("model", [SPODE(), TAN(), AODE(), A2DE(), KDB(), SKDB(), NaiveBayes()], ids=str)
def test_columns_may_have_any_name(model):
    names = ["{0}", "class", "(class)", "%s"]
    frame = CARS.set_axis(names, axis="columns")
    model.fit(frame, VERDICTS)
    used = model.selected_ if isinstance(model, SKDB) else names
    told = ["((class))", *sorted(used, key=names.index)]
    assert list(model.tables()) == told
    if isinstance(model, A2DE):
        table = model.triple_table("{0}", ("class", "%s"))
        assert table.columns.tolist()[3:] == [f"P({{0}} | {k}, class, %s)" for k in model.classes_]
    elif not isinstance(model, AODE):
        assert model.to_network().names == tuple(told)


def test_parameters_are_counted():
    # Three classes; columns of 3, 3, 2 and 3 states.
    assert KDB(0).fit(CARS, VERDICTS).n_parameters == 2 + 3 * (2 + 2 + 1 + 2)
    assert KDB(2).fit(CARS, VERDICTS).n_parameters == 2 + 3 * (9 * 2 + 3 * 2 + 9 * 1 + 2)
    pairs = [(v, w, 7 - (v - 1) - (w - 1)) for v, w in ((3, 3), (3, 2), (3, 3), (3, 2), (3, 3), (2, 3))]
    expected = sum(3 * v * w - 1 + 3 * v * w * others for v, w, others in pairs)
    assert A2DE().fit(CARS, VERDICTS).n_parameters == expected


def test_three_columns_together_say_what_no_two_do():
    rng = np.random.default_rng(0)
    flags = rng.integers(0, 2, (600, 3))
    labels = flags.sum(axis=1) % 2
    frame = pd.DataFrame(flags, columns=list("abc"))
    assert (AODE().fit(frame, labels).predict(frame) == labels).mean() < 0.7
    for model in (A2DE(), KDB(2), SKDB()):
        assert (model.fit(frame, labels).predict(frame) == labels).all()
