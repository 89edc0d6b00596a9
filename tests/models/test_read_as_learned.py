"""How the files of a fit were read is saved with every model, and holds for later files, frames, batches and merges."""

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal

from bayeswater import (
    BayesEnsemble,
    BernoulliNB,
    CategoricalNB,
    ComplementNB,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    load,
    local_rows,
    save,
)
from bayeswater.errors import DataError, ModelFileError, ReadingWarning, SchemaError
from bayeswater.files.model_file import read_model_file, write_model_file

N_ROWS = 60

OF_NUMBERS = [GaussianNB, GaussianClassifier, MultinomialNB, ComplementNB, BernoulliNB]


def tables(seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Give a table as people write it, and the same in numbers, both with their labels."""
    rng = np.random.default_rng(seed)
    y = rng.choice(["low", "high"], N_ROWS)
    price = np.where(y == "low", 300, 1200) + rng.integers(0, 500, N_ROWS)
    member = rng.random(N_ROWS) < np.where(y == "low", 0.7, 0.3)
    written = pd.DataFrame({"price": [f"${p:,}" for p in price], "member": np.where(member, "Yes", "no"), "y": y})
    return written, pd.DataFrame({"price": price, "member": member.astype(int), "y": y})


def proba_of(model: Any, path: Path) -> np.ndarray:
    return np.stack([*map(np.asarray, pa.concat_tables(model.predict_proba(path)).columns)], axis=1)


@pytest.mark.parametrize("model", OF_NUMBERS)
def test_a_model_of_numbers_reads_later_rows_as_its_file(model: type, tmp_path: Path) -> None:
    written, plain = tables()
    written.to_csv(tmp_path / "a.csv", index=False)
    oracle = model().fit(plain[["price", "member"]], plain["y"])
    expected = oracle.predict_proba(plain[["price", "member"]])
    save(model().fit(tmp_path / "a.csv", target="y"), tmp_path / "model.bayes")
    learned, X = load(tmp_path / "model.bayes"), written[["price", "member"]]
    for one in (X[:1], X[:1].replace({"Yes": "y", "no": "FALSE"}), X[:1].replace({r"\$": ""}, regex=True)):
        assert_array_equal(learned.predict_proba(one), expected[:1])
        one.to_csv(tmp_path / "one.csv", index=False)
        assert_array_equal(proba_of(learned, tmp_path / "one.csv"), expected[:1])
    assert_array_equal(learned.predict_proba(X), expected)
    assert learned.score(tmp_path / "a.csv", target="y") == oracle.score(plain[["price", "member"]], plain["y"])
    reasons = learned.explain(X[:1]), oracle.explain(plain[["price", "member"]][:1])
    assert_array_equal(reasons[0].contributions, reasons[1].contributions)
    with pytest.raises(DataError, match=r"row 0, column 'price' holds 'about 5', which is no number as \$1,234\.5"):
        learned.predict(X[:1].assign(price="about 5"))


@pytest.mark.parametrize("model", OF_NUMBERS)
def test_a_model_of_numbers_learns_on_forgets_and_is_merged_in_the_style_of_its_file(
    model: type, tmp_path: Path
) -> None:
    (written, plain), (more, more_plain) = tables(), tables(1)
    written.to_csv(tmp_path / "a.csv", index=False)
    more.to_csv(tmp_path / "b.csv", index=False)
    learned, oracle = model().fit(tmp_path / "a.csv", target="y"), model().fit(plain[["price", "member"]], plain["y"])
    both = (
        learned + model().fit(tmp_path / "b.csv", target="y"),
        oracle + model().fit(more_plain[["price", "member"]], more_plain["y"]),
    )
    X, X_plain = written[["price", "member"]], plain[["price", "member"]]
    assert_array_equal(both[0].predict_proba(X), both[1].predict_proba(X_plain))
    assert_array_equal((oracle + learned).predict_proba(X), (oracle + oracle).predict_proba(X_plain))
    learned.partial_fit(more[["price", "member"]], more["y"])
    oracle.partial_fit(more_plain[["price", "member"]], more_plain["y"])
    assert_array_equal(learned.predict_proba(X), oracle.predict_proba(X_plain))
    learned.forget(more[["price", "member"]], more["y"])
    oracle.forget(more_plain[["price", "member"]], more_plain["y"])
    assert_array_equal(learned.predict_proba(X), oracle.predict_proba(X_plain))
    more.replace({r"\$": "€"}, regex=True).to_csv(tmp_path / "c.csv", index=False)
    with pytest.raises(SchemaError, match=r"column 'price' has '\$' beside its numbers here and '€' there"):
        learned + model().fit(tmp_path / "c.csv", target="y")


def test_categories_of_a_file_are_those_of_a_frame_and_words_are_merged(tmp_path: Path) -> None:
    written, _ = tables()
    more = tables(1)[0].replace({"Yes": "Y", "no": "N"})
    written.to_csv(tmp_path / "a.csv", index=False)
    more.to_csv(tmp_path / "b.csv", index=False)
    rows = local_rows(tmp_path / "a.csv", columns=["member", "y"])
    save(CategoricalNB().fit(rows, target="y"), tmp_path / "model.bayes")
    learned = load(tmp_path / "model.bayes")
    oracle = CategoricalNB().fit(written[["member"]], written["y"])
    assert [states.tolist() for states in learned.categories_] == [["Yes", "no"]]
    X = written[["member"]]
    assert_array_equal(learned.predict_proba(X), oracle.predict_proba(X))
    assert_array_equal(learned.predict_proba(X.replace({"Yes": "y", "no": "NO"})), oracle.predict_proba(X))
    assert_array_equal(learned.predict_proba(X == "Yes"), oracle.predict_proba(X))
    other = CategoricalNB().fit(local_rows(tmp_path / "b.csv", columns=["member", "y"]), target="y")
    spelled = more[["member"]].replace({"Y": "Yes", "N": "no"})
    expected = CategoricalNB().fit(pd.concat([X, spelled]), pd.concat([written["y"], more["y"]])).predict_proba(X)
    assert_array_equal((learned + other).predict_proba(X), expected)
    assert_array_equal((other + learned).predict_proba(X), expected)
    assert_array_equal(learned.partial_fit(more[["member"]], more["y"]).predict_proba(X), expected)


def test_a_fit_on_a_frame_forgets_how_a_file_was_read(tmp_path: Path) -> None:
    written, plain = tables()
    written.to_csv(tmp_path / "a.csv", index=False)
    model = GaussianNB().fit(tmp_path / "a.csv", target="y").fit(plain[["price", "member"]], plain["y"])
    with pytest.raises(DataError, match="could not convert string to float: column 'price'"):
        model.predict(written[["price", "member"]])


# ---------------------------------------------------------------------- encodings, and what was said of cells

NAMES = {"北京": "a", "上海": "b", "广州": "a"}


def in_gbk(path: Path, names: list[str], labels: bool = True) -> Path:
    lines = [
        "城市,n" + ",y" * labels,
        *(f"{name},{i % 7}" + f",{NAMES[name]}" * labels for i, name in enumerate(names)),
    ]
    path.write_bytes("\n".join(lines).encode("gbk"))
    return path


@pytest.mark.parametrize("model", [NaiveBayes, BayesEnsemble, NetworkClassifier, CategoricalNB])
def test_a_later_file_that_may_be_read_in_several_encodings_is_in_that_of_the_model(
    model: type, tmp_path: Path
) -> None:
    with pytest.warns(ReadingWarning, match="is read as gb18030"):
        learned = model().fit(in_gbk(tmp_path / "a.csv", [*NAMES] * 20), target="y")
    save(learned, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # neither a doubt nor a city that was never seen
        assert pa.concat_tables(again.predict(in_gbk(tmp_path / "b.csv", ["广州"], labels=False))).num_rows == 1
        assert again.score(in_gbk(tmp_path / "c.csv", [*NAMES]), target="y") > 0


def test_a_mark_wins_over_the_encoding_of_the_model_and_text_in_another_is_read_as_it_is_and_said(
    tmp_path: Path,
) -> None:
    with pytest.warns(ReadingWarning):
        learned = NaiveBayes().fit(in_gbk(tmp_path / "a.csv", [*NAMES] * 20), target="y")
    text = "城市,n\n北京,1\n"
    for encoding, said in (
        ("utf-16", "is read as utf-16, as its first bytes say"),
        ("utf-8", "UTF-8, and not gb18030"),
    ):
        (tmp_path / "b.csv").write_bytes(text.encode(encoding))
        with pytest.warns(ReadingWarning, match=said):
            assert pa.concat_tables(learned.predict(tmp_path / "b.csv")).num_rows == 1
    western = "id,Größe\n1,Köln hört Müßiggänger grüßen\n"
    (tmp_path / "w.csv").write_bytes(western.encode("cp1252"))
    model = NaiveBayes().fit(pd.DataFrame({"Größe": ["a", "b"] * 20, "id": [1, 2] * 20}), ["x", "y"] * 20)
    model.read_as_ = learned.read_as_
    with pytest.warns(ReadingWarning, match="is read as cp1252 and not as gb18030, as the files that the model"):
        assert pa.concat_tables(model.predict(tmp_path / "w.csv")).num_rows == 1


@pytest.mark.parametrize("model", [NaiveBayes, GaussianNB, GaussianClassifier])
def test_marks_and_decimals_that_were_said_at_fit_hold_for_later_files_that_say_nothing(
    model: type, tmp_path: Path
) -> None:
    rng = np.random.default_rng(0)
    numbers, y = rng.normal(size=N_ROWS).round(3), rng.choice(["a", "b"], N_ROWS)
    cells = [f"{x:.3f}".replace(".", ",") for x in numbers]
    lines = ["x;z;y", *(f"{cell};{i % 5};{label}" for i, (cell, label) in enumerate(zip(cells, y, strict=True)))]
    (tmp_path / "a.csv").write_text("\n".join([*lines, "-999;1;a"]))
    given = {"missing": "ignore"} if model is GaussianNB else {}
    learned = model(**given).fit(local_rows(tmp_path / "a.csv", decimal=",", missing="-999"), target="y")
    save(learned, tmp_path / "model.bayes")
    again = load(tmp_path / "model.bayes")
    plain = pd.DataFrame({"x": [*numbers[:3], np.nan], "z": [0, 1, 2, 3]})
    (tmp_path / "b.csv").write_text("x;z\n" + "".join(f"{x};{i}\n" for i, x in enumerate([*cells[:3], "-999"])))
    assert_array_equal(proba_of(again, tmp_path / "b.csv"), learned.predict_proba(plain))
    (tmp_path / "c.csv").write_text(plain.to_csv(index=False))  # in which a comma stands between cells
    assert_array_equal(proba_of(again, tmp_path / "c.csv"), learned.predict_proba(plain))
    said = local_rows(tmp_path / "b.csv", decimal=",", missing="other")
    assert not np.array_equal(proba_of(again, said)[3:], learned.predict_proba(plain)[3:])


@pytest.mark.parametrize(
    "broken",
    [
        {"styles": {}, "encoding": "no such"},
        {"styles": {"x": {"kind": "odd"}}},
        {"styles": {}, "written": {"missing": "-999"}},
        {"styles": {}, "written": {"decimal": ";"}},
        {"styles": []},
        {"styles": {}, "more": 1},
    ],
)
def test_a_file_that_says_what_no_reading_could_be_is_refused(broken: dict[str, Any], tmp_path: Path) -> None:
    written, _ = tables()
    written.to_csv(tmp_path / "a.csv", index=False)
    save(GaussianNB().fit(tmp_path / "a.csv", target="y"), tmp_path / "model.bayes")
    document, arrays = read_model_file(tmp_path / "model.bayes")
    document["read_as"] = {"ReadAs": [{"encoding": None, "written": {}, **broken}]}
    write_model_file(tmp_path / "model.bayes", document, arrays)
    with pytest.raises(ModelFileError, match="how its files are read"):
        load(tmp_path / "model.bayes")


SHAPES = {
    "a preamble as wide as the table": ('"Konto";"DE1"\n""\n"Stand:";"1,50 €"\n""\nx;kind;y\n', "{};{};{}\n"),
    "titles": ("made, on Monday\nby, Ann\n\nx,kind,y\n", "{},{},{}\n"),
    "names over names": (",now,now,y\n,x,kind,\n", "1,{},{},{}\n"),
    "names of pandas and of its index": (",now,now,y\n,x,kind,\nrow,,,\n", "1,{},{},{}\n"),
    "blanks, and rows that begin with their names": ('"x" "kind" "y"\n', '"{n}" {} "{}" "{}"\n'),
    "drawn": (" x | kind | y\n---+------+---\n", "{} | {} | {}\n"),
}
"""Lines that stand above the rows, and the pattern of a row."""


@pytest.mark.parametrize("shape", SHAPES)
def test_the_names_that_a_model_knows_tell_the_header_of_a_file_of_one_row(shape: str, tmp_path: Path) -> None:
    above, row = SHAPES[shape]
    rows = [row.format(f"{k % 7}.5", "ab"[k % 2], "uv"[k % 3 == 0], n=k) for k in range(40)]
    path, one = tmp_path / "rows.txt", tmp_path / "one.txt"
    path.write_text(above + "".join(rows))
    model = NaiveBayes().fit(path, target="y")
    expected = pa.concat_tables(model.predict_proba(path)).to_pylist()
    for place in (0, 5):
        one.write_text(above + rows[place])
        assert pa.concat_tables(model.predict_proba(one)).to_pylist() == [expected[place]]


def test_the_names_that_a_model_knows_tell_the_header_of_a_sheet_of_one_row(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    pytest.importorskip("openpyxl")
    rows = [[k % 7 + 0.5, "ab"[k % 2], "uv"[k % 3 == 0]] for k in range(40)]
    for name, n_rows in (("rows", 42), ("one", 3)):
        table = pd.DataFrame([["now", "now", "y"], ["x", "kind", ""], *rows][:n_rows])
        table.to_excel(tmp_path / f"{name}.xlsx", header=False, index=False)
    model = NaiveBayes().fit(tmp_path / "rows.xlsx", target="y")
    assert {column.source for column in model.columns_} == {"now x", "now kind"}
    first = next(model.predict_proba(tmp_path / "rows.xlsx")).to_pylist()[0]
    assert next(model.predict_proba(tmp_path / "one.xlsx")).to_pylist() == [first]
