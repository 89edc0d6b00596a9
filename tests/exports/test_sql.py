"""A model as a query answers as the library does, in every database that is here; other dialects can be read."""

import os
import shutil
import sqlite3
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.feature_extraction.text import CountVectorizer
from tests.exports.exported_models import COSTS, HOSTILE, KINDS, OF_TEXT, cells_of, fitted, rows_of

import bayeswater as bw
from bayeswater.exports.sql.dialects import DIALECTS
from bayeswater.exports.sql.word_lists import LISTS

OF_TABLES = [kind for kind in KINDS if kind not in OF_TEXT]
SUMMED_OVER = ("KDB", "SKDB", "KDB, pairs")
"""Kinds that sum over missing parents, which a query refuses."""

pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")


def query_of(kind, dialect):
    model = fitted(kind)
    loss = COSTS if len(model.classes_) == 3 else None
    return bw.export(model, "sql", dialect=dialect, keep=["row id"], loss=loss, whole_rows=True)


def numbered(kind):
    rows = rows_of(kind).reset_index(drop=True)
    rows["row id"] = range(len(rows))
    if kind.startswith("CategoricalNB"):
        rows = rows.astype({"flag": "Int64"}) if "flag" in rows else rows  # there truths are the codes 0 and 1
    return rows


def require_answers(kind, answers):
    """Compare answers, (row, probabilities, prediction and perhaps action), with those of the library."""
    model, rows = fitted(kind), rows_of(kind)
    answers = sorted(answers)
    n = len(model.classes_)
    found = np.array([answer[1 : 1 + n] for answer in answers], dtype=float)
    refused = np.isnan(found).any(axis=1)
    assert kind in SUMMED_OVER or not refused.any(), kind
    assert refused.sum() < len(rows) / 2
    assert_allclose(found[~refused], model.predict_proba(rows)[~refused], rtol=0, atol=1e-12, err_msg=kind)
    predictions = np.array([str(answer[1 + n]) for answer in answers])
    assert (predictions == model.predict(rows).astype(str))[~refused].all(), kind
    if n == 3:
        actions = np.array([str(answer[2 + n]) for answer in answers])
        assert (actions == model.decide(rows, loss=COSTS).astype(str))[~refused].all(), kind


def test_duckdb_answers_as_the_models():
    duckdb = pytest.importorskip("duckdb")
    for kind in KINDS:
        with duckdb.connect() as connection:
            connection.register("rows", numbered(kind))
            require_answers(kind, connection.execute(query_of(kind, "duckdb")).fetchall())


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def test_sqlite_answers_as_the_models():
    for kind in OF_TABLES:
        rows = numbered(kind)
        with sqlite3.connect(":memory:") as connection:
            connection.execute(f"CREATE TABLE rows ({', '.join(map(quoted, rows))})")
            marks = ", ".join("?" * rows.shape[1])
            plain = [
                tuple(str(v) if isinstance(v, pd.Timestamp) else v for v in row.values()) for row in cells_of(rows)
            ]
            connection.executemany(f"INSERT INTO rows VALUES ({marks})", plain)
            require_answers(kind, connection.execute(query_of(kind, "sqlite")).fetchall())
        connection.close()


def test_in_sqlite_numbers_may_be_written_as_text_and_nothing_else_is_taken_for_one():
    """As `.import --csv` leaves them: a column holds texts, and an empty one is missing."""
    frame = pd.DataFrame({"x": [1.5, 2.0, 8.0, 9.5] * 5, "level": [1, 2, 3, 3] * 5, "s": ["a", "a", "b", "b"] * 5})
    columns = {"level": "categorical"}
    model = bw.NaiveBayes(columns=columns, unseen="ignore").fit(frame, ["p", "p", "q", "q"] * 5)
    written = [("1.5", "3", "a"), ("", "2.0", ""), (" 7e0 ", "", "b"), ("abc", "1", "a"), ("3", "x", "a")]
    meant = [{"x": 1.5, "level": 3, "s": "a"}, {"level": 2}, {"x": 7.0, "s": "b"}]
    with sqlite3.connect(":memory:") as connection:
        connection.execute("CREATE TABLE rows (x TEXT, level TEXT, s TEXT)")
        connection.executemany("INSERT INTO rows VALUES (?, ?, ?)", written)
        found = connection.execute(bw.export(model, "sql", dialect="sqlite", keep=[])).fetchall()
    connection.close()
    for row, answer in zip(meant, found, strict=False):
        assert_allclose(answer[:2], model.predict_proba([row])[0], rtol=0, atol=1e-12)
    assert [set(answer) for answer in found[3:]] == [{None}, {None}]


BINARIES = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))


@pytest.fixture(scope="module")
def postgres():
    """Start a server of our own in a folder of its own; it refuses to run as root."""
    if not BINARIES:
        pytest.skip("PostgreSQL is not installed")
    binaries = BINARIES[-1].parent
    as_user = []
    if os.geteuid() == 0:
        if shutil.which("runuser") is None:
            pytest.skip("PostgreSQL does not run as root, and there is no runuser")
        as_user = ["runuser", "-u", "nobody", "--"]
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o777)
        data, quiet = f"{folder}/data", {"check": True, "capture_output": True, "cwd": folder}
        subprocess.run(
            [*as_user, binaries / "initdb", "-D", data, "-U", "tester", "-A", "trust", "-E", "UTF8"], **quiet
        )
        options = f"-k {folder} -c listen_addresses='' -c fsync=off"
        start = [*as_user, binaries / "pg_ctl", "-D", data, "-w", "-l", f"{folder}/log", "-o", options, "start"]
        subprocess.run(start, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=folder)
        yield [binaries / "psql", "-h", folder, "-U", "tester", "-d", "postgres", "-X", "-q", "-v", "ON_ERROR_STOP=1"]
        subprocess.run([*as_user, binaries / "pg_ctl", "-D", data, "-m", "immediate", "stop"], **quiet)


TYPES = {"f": "double precision", "i": "bigint", "b": "boolean", "M": "timestamp", "O": "text", "T": "text"}


def as_copied(cell):
    if cell is None:
        return "\\N"
    text = str(cell)
    return text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t").replace("\r", "\\r")


def test_postgres_answers_as_the_models(postgres, tmp_path):
    script, outputs = [], {}
    for number, kind in enumerate(KINDS):
        rows = numbered(kind)
        kinds = {name: TYPES.get(getattr(rows[name].dtype, "kind", "O"), "text") for name in rows}
        columns = ", ".join(f"{quoted(name)} {sql}" for name, sql in kinds.items())
        lines = "\n".join("\t".join(map(as_copied, row.values())) for row in cells_of(rows))
        outputs[kind] = tmp_path / f"{number}.txt"
        script.append(
            f"DROP TABLE IF EXISTS rows;\nCREATE TABLE rows ({columns});\nCOPY rows FROM stdin;\n{lines}\n\\.\n"
        )
        script.append(f"\\o {outputs[kind]}\n\\t on\n\\a\n\\f '\\x01'\n{query_of(kind, 'postgres')}\n\\o\n\\a\n")
    done = subprocess.run(postgres, input="".join(script), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for kind, path in outputs.items():
        answers = [line.split("\x01") for line in path.read_text().splitlines()]
        n = len(fitted(kind).classes_)
        require_answers(kind, [(int(a[0]), *(float(p or "nan") for p in a[1 : 1 + n]), *a[1 + n :]) for a in answers])


@pytest.mark.parametrize("dialect", DIALECTS)
def test_every_dialect_can_be_read_and_names_stay_names(dialect):
    sqlglot = pytest.importorskip("sqlglot")
    for kind in ("NaiveBayes, class prior", "AODE", "NaiveBayes, dates"):
        (tree,) = sqlglot.parse(query_of(kind, dialect), read=dialect)
        tables = {table.name for table in tree.find_all(sqlglot.exp.Table)}
        assert {name for name in tables if name != "rows"} <= {f"s{i}" for i in range(99)}
        names = {column.name for column in tree.find_all(sqlglot.exp.Column) if column.table == "t"}
        assert names == {*fitted(kind).feature_names_in_, "row id"}, dialect
    texts = {literal.this for literal in tree.find_all(sqlglot.exp.Literal) if literal.is_string}
    assert HOSTILE not in texts
    for kind in OF_TEXT if dialect in LISTS else ():
        (tree,) = sqlglot.parse(query_of(kind, dialect), read=dialect)
        texts = {literal.this for literal in tree.find_all(sqlglot.exp.Literal) if literal.is_string}
        assert {"café", "免费", "σοφοΣ"} <= texts


@pytest.mark.parametrize("dialect", ["duckdb", "postgres"])
@pytest.mark.parametrize("kind", [bw.KDB, bw.AODE])
def test_more_states_take_no_more_code_where_tables_are_lists(kind, dialect):
    def cases(n_states):
        codes = np.random.default_rng(0).integers(n_states, size=(400, 3))
        rows = pd.DataFrame(codes, columns=["a", "b", "c"]).astype(str)
        text = bw.export(kind().fit(rows, codes[:, 0] % 2), "sql", dialect=dialect, whole_rows=True)
        return text.count("CASE")

    assert cases(12) == cases(9)


def test_a_row_that_the_model_refuses_has_no_answer():
    duckdb = pytest.importorskip("duckdb")
    rows = rows_of("GaussianNB")[:3].copy()
    rows.iloc[0, 0], rows.iloc[1, 1] = np.nan, np.inf
    text = bw.export(fitted("GaussianNB"), "sql", keep=[])
    with duckdb.connect() as connection:
        connection.register("rows", rows)
        answers = connection.execute(text).fetchall()
    assert [set(answer) == {None} for answer in answers] == [True, True, False]


def test_what_a_query_cannot_hold_is_refused_with_its_reason_or_size(monkeypatch):
    for dialect in DIALECTS.keys() - LISTS.keys():
        with pytest.raises(bw.ParameterError, match=f"'line' holds words, .* in {dialect}"):
            bw.export(fitted("NaiveBayes, words"), "sql", dialect=dialect)
    for word, at_fault in (("ậ", "spark has no function"), ("한글", "spark has no function"), ("σ" * 7, "7 sigmas")):
        model = bw.NaiveBayes(columns={"line": "multinomial"}).fit(pd.DataFrame({"line": [word, "b"]}), [0, 1])
        with pytest.raises(bw.ParameterError, match=at_fault):
            bw.export(model, "sql", dialect="spark")
    found = {"family": "multinomial", "analyser": CountVectorizer(ngram_range=(1, 2))}
    model = bw.NaiveBayes(columns={"line": found}).fit(pd.DataFrame({"line": ["to be", "not to"]}), [0, 1])
    with pytest.raises(bw.ParameterError, match="runs of up to 2 words"):
        bw.export(model, "sql")
    X = rows_of("GaussianNB").rename(columns={"normal": "${x}"})
    with pytest.raises(bw.ParameterError, match="Spark puts its variables"):
        bw.export(bw.GaussianNB().fit(X, np.arange(len(X)) % 2), "sql", dialect="spark")
    with pytest.raises(bw.ParameterError, match="'' has no character"):
        bw.export(bw.GaussianNB().fit(X.rename(columns={"${x}": ""}), np.arange(len(X)) % 2), "sql")
    monkeypatch.setattr("bayeswater.exports.sql.select.MOST_NUMBERS", 100)
    with pytest.raises(bw.ResourceLimitError, match="numbers is too large for a query, which holds 100"):
        bw.export(fitted("AODE"), "sql")
