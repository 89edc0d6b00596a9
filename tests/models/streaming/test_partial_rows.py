"""Partial rows: what a dict does not name is not known, and all that answers for rows takes them."""

import json
import warnings

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from bayeswater import (
    AODE,
    TAN,
    BayesEnsemble,
    BayesianNetwork,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    MixedNetwork,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
)
from bayeswater.errors import BayesWarning, DataError, ReadingWarning, SchemaError

FRAME = pd.DataFrame(
    {
        "colour": ["red", "red", "green", "green", "red", "green"] * 5,
        "size": [1.0, 2.0, 3.5, 4.0, 1.5, 3.0] * 5,
        "shape": ["round", "flat", "round", "flat", "round", "round"] * 5,
    }
)
Y = ["apple", "apple", "pea", "pea", "apple", "pea"] * 5


@pytest.fixture(scope="module", params=[NaiveBayes, AODE, TAN])
def model(request):
    return request.param().fit(FRAME, Y)


def table(*rows):
    return pa.table({name: pa.array([row.get(name) for row in rows]) for name in FRAME.columns})


ROWS = [{"colour": "red"}, {"size": 3.5, "shape": "flat"}, {}, dict(FRAME.iloc[0])]


def test_a_dict_a_list_of_dicts_and_a_series_are_rows(model):
    expected = model.predict_proba(table(*ROWS))
    for method in ("predict", "predict_proba", "predict_log_proba", "log_evidence", "decide", "expected_loss"):
        whole = getattr(model, method)(table(*ROWS))
        assert np.array_equal(getattr(model, method)(ROWS), whole)
        for row, answer in zip(ROWS, whole, strict=True):
            assert np.array_equal(getattr(model, method)(row)[0], answer)
    series = pd.Series({"colour": "red"})
    assert np.array_equal(model.predict_proba(series), expected[:1])
    assert np.array_equal(model.predict_proba(FRAME.iloc[0]), expected[3:])
    assert [str(one) for one in model.explain(ROWS)] == [str(one) for one in model.explain(table(*ROWS))]
    assert str(model.next_best(series)) == str(model.next_best({"colour": "red"}))


@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_intervals_and_novelty_take_dicts_lists_of_them_series_and_files(missing, tmp_path):
    model = NaiveBayes(missing=missing).fit(FRAME, Y)
    known = [{**dict.fromkeys(FRAME), **row} for row in ROWS]
    for ask in (model.novelty, lambda X: model.credible_interval(X).to_frame()):
        whole = ask(known)
        if missing == "ignore":  # else an empty cell is known to be empty
            assert np.array_equal(ask(ROWS), ask(table(*ROWS)))
        assert np.array_equal(whole, ask(table(*ROWS)))
        assert np.array_equal(ask([ROWS[0]]), ask(ROWS[0]))
        assert np.array_equal(ask(FRAME.iloc[0]), ask(FRAME[:1]))
        path = tmp_path / "rows.parquet"
        FRAME.to_parquet(path)
        assert np.array_equal(ask(path), ask(FRAME))
    assert model.novelty({}) == [1.0]  # as usual as any row of which nothing is known
    unknown = model.credible_interval({})
    assert unknown.probability == pytest.approx(model.predict_proba({}))
    assert (unknown.low < unknown.high).all()


def test_names_that_no_column_has_are_refused_with_the_nearest(model):
    with pytest.raises(SchemaError, match=r"a row names 'color', but there is no such column; did you mean 'colour'"):
        model.predict([{"colour": "red"}, {"color": "red"}])
    with pytest.raises(DataError, match="a dict is no table"):
        model.predict({"colour": ["red", "green"]})


def test_cells_of_several_kinds_in_a_column_are_refused_by_name(model):
    with pytest.raises(DataError, match="the cells of 'size' are of several kinds"):
        model.predict([{"size": 1.0}, {"size": object()}])


def test_a_model_that_refuses_missing_cells_takes_rows_that_do_not_have_them():
    drop_in = GaussianNB().fit(FRAME[["size"]].assign(other=np.arange(30.0)), Y)
    assert drop_in.predict([{"size": 1.0}, {"size": 4.0}]).tolist() == ["apple", "pea"]
    nameless = GaussianNB().fit(np.array([[1.0, 0.0], [2.0, 1.0], [8.0, 0.0], [9.0, 1.0]]), [0, 0, 1, 1])
    assert nameless.predict({"x0": 1.5}).tolist() == [0]
    coded = CategoricalNB().fit(FRAME[["colour", "shape"]], Y)
    assert coded.predict({"colour": "green"}).tolist() == ["pea"]


@pytest.mark.parametrize("kind", [NaiveBayes, AODE])
def test_a_cell_that_is_none_is_empty_and_one_that_is_not_there_is_not_known(kind):
    baskets = pd.DataFrame({"beer": ["t", None] * 20, "bread": (["t"] * 3 + [None]) * 10})
    with pytest.warns(BayesWarning, match="empty is a state"):
        shopper = kind().fit(baskets, ["late", "early"] * 20)
    empty, unknown = {"beer": None, "bread": "t"}, {"bread": "t"}
    proba = shopper.predict_proba([empty, unknown])
    assert proba[0, 0] > 0.9  # early, who buys no beer
    assert 0.2 < proba[1, 0] < 0.8
    assert np.array_equal(proba, np.concatenate([shopper.predict_proba(row) for row in (empty, unknown)]))
    told = shopper.explain([empty, unknown])
    assert (told[0].missing, told[1].missing, told[1].unseen) == ([], ["beer"], [])


def test_json_lines_may_lack_keys_in_some_lines_or_in_all(model, tmp_path):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in ROWS[:2]))
    found = pa.concat_tables(model.predict_proba(path))
    assert np.array_equal(
        np.stack([column.to_numpy() for column in found.columns], axis=1), model.predict_proba(ROWS[:2])
    )
    assert str(model.explain(path)) == str(model.explain(table(*ROWS[:2])))
    path.write_text('{"colour": "red"}\n')
    with pytest.warns(ReadingWarning, match="no row has 'size', 'shape': not known"):
        (answer,) = model.predict_proba(path)
    assert np.array_equal([column[0].as_py() for column in answer.columns], model.predict_proba({"colour": "red"})[0])
    assert str(model.next_best(path)) == str(model.next_best(table({"colour": "red"})))
    path.write_text('{"color": "red"}\n')
    with pytest.raises(SchemaError, match="there is no column 'colour'"):
        list(model.predict_proba(path))


def test_a_column_that_no_line_of_a_file_has_is_not_known_also_where_empty_is_a_state(tmp_path):
    baskets = pd.DataFrame({"beer": ["t", None] * 20, "bread": (["t"] * 3 + [None]) * 10})
    with pytest.warns(BayesWarning, match="empty is a state"):
        shopper = NaiveBayes().fit(baskets, ["late", "early"] * 20)
    path = tmp_path / "rows.jsonl"
    path.write_text('{"bread": "t"}\n')
    with pytest.warns(ReadingWarning, match="no row has 'beer': not known"):
        (answer,) = shopper.predict_proba(path)
    assert answer["P(early)"][0].as_py() == shopper.predict_proba({"bread": "t"})[0, 0]


def test_posteriors_take_dicts_lists_of_them_series_and_files(tmp_path):
    network = BayesianNetwork.from_data("colour -> shape", FRAME[["colour", "shape"]])
    rows = [{"colour": "red"}, {}, {"shape": "flat", "colour": None}]
    found = network.posteriors(rows)["shape"]
    for row, one in zip(rows, found, strict=True):
        known = {name: state for name, state in row.items() if state is not None}
        assert np.allclose(network.posteriors(known)["shape"][0], one)
    assert np.allclose(network.posteriors(pd.Series({"colour": "red"}))["shape"], found[:1])
    path = tmp_path / "rows.jsonl"
    path.write_text('{"colour": "red"}\n{"shape": null, "colour": null}\n')
    assert np.allclose(network.posteriors(str(path))["shape"], found[:2])


@pytest.mark.parametrize("wrap", [list, tuple, np.array, pd.Series])
def test_texts_alone_are_a_column_for_a_model_of_one_text(wrap):
    texts, labels = ["win a prize", "see you later", "free prize", "lunch later"] * 5, ["spam", "ham"] * 10
    model = NaiveBayes().fit(wrap(texts) if wrap is not tuple else texts, labels)
    assert model.predict(wrap(texts[:2])).tolist() == ["spam", "ham"]
    assert len(model.explain(wrap(texts[:3]))) == 3


@pytest.mark.parametrize("named", [True, False])
@pytest.mark.parametrize("kind", [GaussianNB, NaiveBayes, GaussianClassifier, TAN, NetworkClassifier, BayesEnsemble])
def test_rows_of_every_model_are_known_by_the_names_of_its_columns_or_by_their_numbers(kind, named):
    cells = np.random.default_rng(0).normal(size=(60, 3))
    names = ["a", "b", "c"] if named else ["x0", "x1", "x2"]
    X = pd.DataFrame(cells, columns=names) if named else cells
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BayesWarning)  # few rows
        model = kind().fit(X, cells[:, 0] > 0)
    rows = [dict(zip(names, row, strict=True)) for row in cells[:5]]
    assert np.array_equal(model.predict(rows), model.predict(X[:5]))
    (told,) = model.explain({names[0]: 2.0})
    assert (told.prediction, told.missing) == (True, names[1:])


@pytest.mark.parametrize("kind", [MultinomialNB, ComplementNB])
def test_a_feature_that_is_not_named_was_not_counted(kind):
    X = pd.DataFrame([[1, 2, 0], [0, 1, 4], [3, 0, 1]], columns=[*"abc"])
    model = kind().fit(X, [0, 1, 0])
    found = model.predict_proba([{"a": 2}, {}, {"c": 1, "b": 3}])
    assert np.array_equal(found, model.predict_proba(pd.DataFrame([[2, 0, 0], [0, 0, 0], [0, 3, 1]], columns=[*"abc"])))
    with pytest.raises(DataError, match="NaN"):
        model.predict({"a": None})


def test_files_of_rows_of_a_network_are_read_by_its_states_and_numbers_as_they_are_written(tmp_path):
    answers = {"member": ["Yes", "No", "Yes", "No"] * 5, "car": ["None", "old", "new", "old"] * 5}
    frame = pd.DataFrame({**answers, "cost": [1200.5, 3.0, 41.0, 7.5] * 5})
    written = frame.assign(cost=[f"{cost:.2f}".replace(".", ",") for cost in frame["cost"]])
    written.to_csv(tmp_path / "rows.csv", sep=";", index=False)
    for network in (
        BayesianNetwork.from_data("member -> car", frame[["member", "car"]]),
        MixedNetwork.from_data("member -> car; member -> cost", frame),
    ):
        path = tmp_path / "own.csv"
        written[list(network.names)].to_csv(path, sep=";", index=False)
        told = network.posteriors(frame[list(network.names)], "member")["member"]
        assert np.array_equal(network.posteriors(path, "member")["member"], told)


def test_what_is_in_doubt_about_a_file_is_said_at_the_line_that_reads_it(tmp_path):
    path = tmp_path / "days.csv"
    path.write_text("day,rain\n01/02/2023,yes\n03/04/2023,no\n")
    with pytest.warns(ReadingWarning, match="day and month may be the other way round") as caught:
        NaiveBayes().fit(path, target="rain")
    assert {warning.filename for warning in caught} == {__file__}


@pytest.mark.parametrize("missing", ["ignore", "state"])
def test_a_categorical_model_does_not_know_what_a_dict_does_not_name(missing):
    rows = FRAME[["colour", "shape"]].copy()
    rows.loc[:7, "shape"] = None
    model = CategoricalNB(missing=missing).fit(rows, Y)
    nothing, red, empty, whole = model.predict_proba(
        [{}, {"colour": "red"}, {"colour": "red", "shape": None}, {"colour": "red", "shape": "flat"}]
    )
    shape, colour = (np.exp(model.feature_log_prob_[j]) for j in (1, 0))
    of_red = np.exp(model.class_log_prior_) * colour[:, list(model.categories_[0]).index("red")]
    of_flat = of_red * shape[:, list(model.categories_[1]).index("flat")]
    assert nothing == pytest.approx(np.exp(model.class_log_prior_))
    assert red == pytest.approx(of_red / of_red.sum())
    assert whole == pytest.approx(of_flat / of_flat.sum())
    assert (empty == pytest.approx(red)) == (missing == "ignore")
    assert not model.explain({"colour": "red"}).contributions[0, 1]
