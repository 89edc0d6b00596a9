"""Cells as people write them are read alike at fit, at predict, in later batches and after a merge, or are refused."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bayeswater import AODE, TAN, BayesEnsemble, NaiveBayes, load, read_table, save
from bayeswater.errors import BayesWarning, DataError, SchemaError, UnseenCategoryWarning

N_ROWS = 80

MODELS = [NaiveBayes, AODE, TAN, BayesEnsemble]


def tables(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame, np.ndarray]:
    """Give a table as people write it, the same as machines have it, and labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["low", "high"], N_ROWS)
    price = (np.where(y == "low", 300, 1200) * rng.lognormal(0, 0.5, N_ROWS)).round(2)
    day = pd.to_datetime("2023-01-01") + pd.to_timedelta(rng.integers(0, 365, N_ROWS), unit="D")
    share = rng.integers(0, 101, N_ROWS)
    known = rng.random(N_ROWS) > 0.1
    written = pd.DataFrame(
        {
            "price": [f"${p:,.2f}" if k else "n/a" for p, k in zip(price, known, strict=True)],
            "day": day.strftime("%d/%m/%Y"),
            "share": [f"{s}%" for s in share],
            "zip": [f"{z:05d}" for z in rng.integers(0, 8, N_ROWS)],
        }
    )
    plain = pd.DataFrame({"price": np.where(known, price, np.nan), "day": day.date, "share": share / 100})
    return written, plain.assign(zip=written["zip"]), y


@pytest.mark.parametrize("model", MODELS[:-1])  # an ensemble holds out rows by a hash of their cells as they came
def test_written_cells_are_learned_from_and_answered_as_the_values_they_mean(model: type) -> None:
    written, plain, y = tables()
    learned, oracle = model().fit(written, y), model().fit(plain, y)
    assert_array_equal(learned.predict_proba(written), oracle.predict_proba(plain))
    assert_array_equal(learned.predict_proba(plain), oracle.predict_proba(plain))
    assert learned.columns_["zip"].family == "categorical"


@pytest.mark.parametrize("as_table", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "arrow"])
def test_all_libraries_are_read_alike(as_table: type) -> None:
    written, plain, y = tables()
    assert_array_equal(
        NaiveBayes().fit(as_table(written), y).predict_proba(as_table(written)),
        NaiveBayes().fit(plain, y).predict_proba(plain),
    )


@pytest.mark.parametrize("model", MODELS)
def test_the_style_is_saved_and_one_row_is_read_by_it(model: type, tmp_path: Path) -> None:
    written, _, y = tables()
    learned = model().fit(written, y)
    save(learned, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    assert [column.style for column in again.columns_] == [column.style for column in learned.columns_]
    for row in range(3):
        one = written[row : row + 1]
        assert_array_equal(again.predict_proba(one), learned.predict_proba(written)[row : row + 1])


def test_later_batches_are_read_in_the_style_of_the_first_though_they_alone_would_be_read_otherwise() -> None:
    written, plain, y = tables()
    families = {"price": "gaussian", "day": "gaussian", "share": "gaussian"}
    learned, oracle = NaiveBayes(columns=families), NaiveBayes(columns=families)
    doubtful = written.assign(day="01/02/2023"), plain.assign(day=pd.to_datetime("2023-02-01").date())
    for rows, values in ((written, plain), doubtful):
        learned.partial_fit(rows, y, classes=["high", "low"])
        oracle.partial_fit(values, y, classes=["high", "low"])
    assert_array_equal(learned.predict_proba(written), oracle.predict_proba(plain))


def test_a_cell_that_is_not_written_so_is_refused_with_its_column_and_row() -> None:
    written, _, y = tables()
    learned = NaiveBayes().fit(written, y)
    broken = written.assign(price=["about 5", *written["price"][1:]])
    for call in (learned.predict, lambda X: learned.partial_fit(X, y)):
        with pytest.raises(
            DataError, match=r"row 0, column 'price' holds 'about 5', which is no number as \$1,234\.5; write it so, or"
        ):
            call(broken)


def test_models_of_other_styles_are_merged_if_they_mean_the_same_and_refused_if_not() -> None:
    written, plain, y = tables()
    families = {"price": "gaussian", "day": "gaussian", "share": "gaussian"}
    first = NaiveBayes(columns=families).fit(written, y)
    second = NaiveBayes(columns=families).fit(plain, y)
    assert_array_equal((first + second).predict_proba(written), (second + first).predict_proba(plain))
    german = written.assign(
        price=[p.replace(",", "'") for p in written["price"]], day=plain["day"].map("{:%d.%m.%Y}".format)
    )
    third = NaiveBayes(columns=families).fit(german, y)
    assert (first + third).class_count_.sum() == 2 * N_ROWS
    euros = NaiveBayes(columns=families).fit(written.assign(price=written["price"].str.replace("$", "€")), y)
    with pytest.raises(SchemaError, match=r"column 'price' has '\$' beside its numbers here and '€' there"):
        first + euros


def test_hundreds_are_not_merged_with_shares_whichever_model_comes_first() -> None:
    written, plain, y = tables()
    families = {"price": "gaussian", "day": "gaussian", "share": "gaussian"}
    shares = NaiveBayes(columns=families).fit(written, y)
    hundreds = NaiveBayes(columns=families).fit(plain.assign(share=100.0 * plain["share"]), y)
    for one, two in ((shares, hundreds), (hundreds, shares)):
        with pytest.raises(SchemaError, match=r"column 'share' has numbers as 12\.5% .* up to 100; write the sign"):
            one + two


@pytest.mark.parametrize("model", MODELS)
def test_a_number_that_looks_like_hundreds_where_shares_were_learned_is_spoken_of(model: type) -> None:
    written, plain, y = tables()
    learned = model().fit(written, y)
    with pytest.warns(BayesWarning, match=r"column 'share' holds 45, .* if 45% is meant, write '45%' or 0\.45"):
        learned.predict(plain[:1].assign(share=45))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        learned.predict(plain[:1].assign(share=0.45))


def test_a_merged_model_reads_the_style_that_either_knows() -> None:
    written, plain, y = tables()
    families = {"price": "gaussian", "day": "gaussian", "share": "gaussian"}
    first, second = NaiveBayes(columns=families).fit(plain, y), NaiveBayes(columns=families).fit(written, y)
    assert_array_equal((first + second).predict_proba(written), (second + first).predict_proba(written))


def test_a_model_like_another_reads_few_rows_as_that_does() -> None:
    written, _, y = tables()
    first = NaiveBayes(columns={"price": "gaussian"}).fit(written, y)
    second = NaiveBayes(columns=first.columns_).fit(written[:2].assign(day="01/02/2023"), ["low", "high"])
    assert (first + second).class_count_.sum() == N_ROWS + 2
    assert second.columns_["day"].style == first.columns_["day"].style


def test_what_leaves_doubt_is_said() -> None:
    written, _, y = tables()
    with pytest.warns(BayesWarning, match=r"'day' is read as dates: .* day and month may be the other way round"):
        NaiveBayes().fit(written.assign(day=["01/02/2023", "03/04/2023"] * (N_ROWS // 2)), y)


def test_a_column_that_a_user_calls_categorical_is_not_read() -> None:
    written, _, y = tables()
    learned = NaiveBayes(columns={"share": "categorical"}).fit(written, y)
    assert learned.columns_["share"].style is None


def test_cells_are_drawn_as_what_they_mean() -> None:
    written, _, y = tables()
    drawn, _ = NaiveBayes().fit(written, y).sample(5, random_state=0)
    assert drawn["price"].dtype == float
    assert all(hasattr(day, "year") for day in drawn["day"])


# ---------------------------------------------------------------------- files


def in_file(path: Path, table: pd.DataFrame, y: np.ndarray) -> Path:
    table.assign(answer=np.where(y == "low", "yes", "no")).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("model", MODELS[:-1])
def test_a_file_is_learned_from_as_its_values_and_one_row_of_another_is_read_alike(model: type, tmp_path: Path) -> None:
    written, plain, y = tables()
    answer = np.where(y == "low", "yes", "no")
    learned = model().fit(str(in_file(tmp_path / "a.csv", written, y)), target="answer")
    oracle = model().fit(plain, answer)
    assert learned.classes_.tolist() == ["no", "yes"]
    assert_array_equal(learned.predict_proba(written), oracle.predict_proba(plain))
    save(learned, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    written[:1].to_csv(tmp_path / "one.csv", index=False)
    found = pa.concat_tables(again.predict_proba(str(tmp_path / "one.csv")))
    assert_array_equal(
        np.stack([column.to_numpy() for column in found.columns], axis=1), oracle.predict_proba(plain[:1])
    )
    assert again.score(str(in_file(tmp_path / "a.csv", written, y)), target="answer") == oracle.score(plain, answer)


def answers(seed: int, words: list[str], n_rows: int = 60) -> pd.DataFrame:
    """Give answers in two words, of which the first is more frequent among rows of "a"."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["a", "b"], n_rows)
    smoker = np.where(rng.random(n_rows) < np.where(y == "a", 0.7, 0.3), *words)
    return pd.DataFrame({"smoker": smoker, "job": rng.choice(["cook", "clerk"], n_rows), "y": y})


def made(model: type) -> Any:
    """Make a model that learns the same from the same rows."""
    return model(random_state=0) if model is BayesEnsemble else model()


WORDS = [["Yes", "No"], ["Y", "N"], ["ON", "off"], ["是", "否"], ["T", "F"]]


@pytest.mark.parametrize(
    ("model", "words"), [*((MODELS[0], words) for words in WORDS), *zip(MODELS[1:], WORDS, strict=False)]
)
def test_words_for_true_and_false_are_two_states_in_files_and_in_frames(
    model: type, words: list[str], tmp_path: Path
) -> None:
    rows = answers(0, words)
    rows.to_csv(tmp_path / "a.csv", index=False)
    of_frame = made(model).fit(rows[["smoker", "job"]], rows["y"])
    for source in (tmp_path / "a.csv", read_table(tmp_path / "a.csv").table):
        of_file = made(model).fit(source, target="y")
        assert str(of_file.columns_) == str(of_frame.columns_)
        assert_array_equal(of_file.predict_proba(rows), of_frame.predict_proba(rows))
    assert of_file.columns_["smoker"].family == "categorical"


@pytest.mark.parametrize("model", MODELS)
def test_other_words_for_the_same_and_truths_themselves_are_read_as_those_of_the_fit(
    model: type, tmp_path: Path
) -> None:
    rows = answers(0, ["Yes", "No"])
    rows.to_csv(tmp_path / "a.csv", index=False)
    known = rows["smoker"] == "Yes"
    for learned in (model().fit(tmp_path / "a.csv", target="y"), model().fit(rows[["smoker", "job"]], rows["y"])):
        save(learned, tmp_path / "model.bayes")
        again, expected = load(tmp_path / "model.bayes"), learned.predict_proba(rows)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            for other in (known.map({True: "y", False: "NO"}), known):
                assert_array_equal(again.predict_proba(rows.assign(smoker=other)), expected)
                rows.assign(smoker=other)[:1].to_csv(tmp_path / "one.csv", index=False)
                found = pa.concat_tables(again.predict_proba(tmp_path / "one.csv"))
                assert_array_equal(np.stack([*map(np.asarray, found.columns)], axis=1), expected[:1])


@pytest.mark.parametrize("model", [NaiveBayes, AODE, TAN])
def test_models_of_other_words_for_the_same_are_merged_and_learn_on(model: type, tmp_path: Path) -> None:
    first, second = answers(0, ["Yes", "No"]), answers(1, ["n", "Y"])
    spelled = second.assign(smoker=second["smoker"].map({"Y": "Yes", "n": "No"}))
    first.to_csv(tmp_path / "a.csv", index=False)
    for one in (model().fit(tmp_path / "a.csv", target="y"), model().fit(first[["smoker", "job"]], first["y"])):
        other, oracle = (model().fit(rows[["smoker", "job"]], rows["y"]) for rows in (second, spelled))
        expected = (one + oracle).predict_proba(first)
        assert_array_equal((one + other).predict_proba(first), expected)
        assert_array_equal((other + one).predict_proba(first), expected)
        assert_array_equal((one + other - other).predict_proba(first), one.predict_proba(first))
        one.partial_fit(second[["smoker", "job"]], second["y"])
        assert_array_equal(one.predict_proba(first), expected)


def test_a_third_word_is_a_state_of_its_own_as_ever_and_a_blank_in_a_frame_too() -> None:
    rows = answers(0, ["Yes", "No"])
    learned = NaiveBayes().fit(rows[["smoker", "job"]], rows["y"])
    with pytest.warns(UnseenCategoryWarning, match="'smoker' = 'maybe'"):
        learned.predict(rows[:1].assign(smoker="maybe"))
    learned.partial_fit(rows[["job"]].assign(smoker="maybe"), rows["y"])
    assert learned.tables()["smoker"]["smoker"].tolist() == ["No", "Yes", "maybe"]
    rows.loc[0, "smoker"] = ""
    assert NaiveBayes().fit(rows[["smoker"]], rows["y"]).tables()["smoker"]["smoker"].tolist() == ["", "No", "Yes"]


def test_true_and_false_in_words_are_flags_and_so_are_others_if_a_user_says_so() -> None:
    rows = answers(0, ["TRUE", "false"])
    assert NaiveBayes().fit(rows[["smoker"]], rows["y"]).columns_["smoker"].family == "bernoulli"
    rows = answers(0, ["yes", "no"])
    told = NaiveBayes(columns={"smoker": "bernoulli"}).fit(rows[["smoker"]], rows["y"])
    assert told.predict(rows[["smoker"]]).tolist() == told.predict(rows[["smoker"]] == "yes").tolist()


def test_marks_of_a_file_are_missing_also_in_a_frame_of_later_rows(tmp_path: Path) -> None:
    rows = answers(0, ["Yes", "No"])
    rows.loc[0, ["smoker", "job"]] = "?"
    rows.to_csv(tmp_path / "a.csv", index=False)
    learned = NaiveBayes().fit(tmp_path / "a.csv", target="y")
    missing = rows[["smoker", "job"]][:1]
    assert_array_equal(learned.predict_proba(missing), learned.predict_proba(missing.replace("?", None)))


def test_cells_that_stayed_and_doubts_are_said_at_fit(tmp_path: Path) -> None:
    written, _, y = tables()
    broken = written.assign(price=["about 5", *written["price"][1:]])
    with pytest.warns(BayesWarning, match=r"column 'price': stays as written: .* but not 'about 5' \(1 x\)"):
        NaiveBayes().fit(in_file(tmp_path / "a.csv", broken, y), target="answer")


def test_what_a_model_has_settled_leaves_no_doubt_in_a_file_to_answer_for(tmp_path: Path) -> None:
    written, _, y = tables()
    learned = NaiveBayes().fit(written, y)
    written[:2].assign(day=["01/02/2023", "03/04/2023"]).to_csv(tmp_path / "a.csv", index=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert pa.concat_tables(learned.predict_proba(tmp_path / "a.csv")).num_rows == 2
