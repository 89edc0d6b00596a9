"""The server of models: answers as the library gives, bad input refused with words, files that are replaced."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any

import httpx
import numpy as np
import pyarrow as pa
import pytest
from numpy.testing import assert_allclose
from tests.cli.people import TARGET, people

from bayeswater import TAN, BayesEnsemble, CategoricalNB, NaiveBayes, load, save
from bayeswater.web.plain import QuestionError
from bayeswater.web.served import Loaded, Served
from bayeswater.web.serving import Limits, serving_application

TELL = {"age": "gaussian", "hours": "poisson"}
READ = ["age", "hours", "job", "member"]


@pytest.fixture(scope="module")
def model():
    table = people(300)
    return NaiveBayes(columns=TELL).fit(table.select(READ), table.column(TARGET))


@pytest.fixture
def path(model, tmp_path):
    save(model, tmp_path / "income.bayes")
    return tmp_path / "income.bayes"


@dataclass
class Client:
    """Asks an application in this process."""

    app: Any

    def _asked(self, method, path, **given):
        async def ask():
            async with httpx.AsyncClient(transport=httpx.ASGITransport(self.app), base_url="http://here") as client:
                return await client.request(method, path, **given)

        return asyncio.run(ask())

    def get(self, path):
        return self._asked("GET", path)

    def post(self, path, **given):
        return self._asked("POST", path, **given)


def client_of(*served, **limits):
    return Client(serving_application(served, Limits(**limits)))


pytestmark = pytest.mark.filterwarnings("ignore::bayeswater.UnseenCategoryWarning")

ROWS = [{"age": 41.5, "job": "engineer"}, {"hours": 30}, {}, {"age": None, "job": "astronaut", "member": "True"}]


def test_answers_are_those_of_the_library(model, path):
    served = Served(path)
    client = client_of(served)
    told = client.post("/predict", json={"rows": ROWS}).json()
    cells = [{**row, **({"member": True} if "member" in row else {})} for row in ROWS]
    expected = model.predict_proba(cells)
    labels = [str(label) for label in model.classes_]
    assert_allclose([[one["proba"][label] for label in labels] for one in told["predictions"]], expected, rtol=1e-12)
    assert [one["prediction"] for one in told["predictions"]] == model.predict(cells).tolist()
    loss = {"low": {"high": 9}, "high": {"low": 1}}
    decided = client.post("/decide", json={"rows": ROWS[:2], "loss": loss}).json()["answers"]
    actions, risks = model.decide(cells[:2], loss=loss, return_risk=True)
    assert [one["action"] for one in decided] == actions.tolist()
    assert [(one["risk"]["low"], one["risk"]["high"]) for one in decided] == [tuple(own) for own in risks.tolist()]
    (plain,) = client.post("/decide", json={"rows": ROWS[:1]}).json()["answers"]
    assert plain["risk"] == pytest.approx({label: 1 - p for label, p in zip(labels, expected[0], strict=True)})
    why = client.post("/explain", json={"rows": ROWS[:1]}).json()["answers"][0]
    assert why["summary"] == model.explain(cells[:1])[0].summary
    following = client.post("/next_best", json={"rows": ROWS[:1]}).json()["answers"][0]
    assert {q["column"] for q in following["questions"]} == {"hours", "member"}
    text = client.get("/metrics").text
    assert 'bayeswater_requests_total{question="predict",status="200"} 1' in text
    assert 'bayeswater_unseen_cells_total{model="income"} 1' in text and 'le="+Inf"} 5' in text


def test_the_description_names_columns_and_states(path):
    document = client_of(Served(path)).get("/openapi.json").json()
    schema = document["paths"]["/predict"]["post"]["requestBody"]["content"]["application/json"]["schema"]
    columns = schema["properties"]["rows"]["items"]["properties"]
    assert set(columns) == set(READ) and "教师" in columns["job"]["examples"]
    assert "/learn" not in document["paths"]


def test_requests_that_wait_are_answered_together_and_apart_where_one_fails(path):
    served = Served(path)
    asked = [[{"age": float(age)}] for age in range(20, 30)]
    together = served._answers([*asked, [{"nothing": 1}]])
    assert "nothing" in str(together[-1])
    for rows, (found, _) in zip(asked, together[:-1], strict=True):
        assert_allclose(found, served.loaded.model.predict_log_proba(rows), rtol=1e-12)


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b'{"rows": [{"age": "old"}]}', 422, "give a number"),
        (b'{"rows": [{"age": 40}, {"age": "old"}]}', 422, "row 2: age is 'old'; give a number"),
        (b'{"rows": [{"wage": 1}]}', 422, "no column 'wage'; did you mean 'age'?"),
        (b'{"rows": [{"age": NaN}]}', 422, "NaN"),
        (b'{"rows": [{"age": 1e999}]}', 422, "age"),
        (b'{"rows": [{"age": %s}]}' % (b"9" * 400), 422, "400 digits"),
        (b'{"rows": [{"job": "\\ud800"}]}', 422, "no JSON"),
        (b'{"rows": [[1, 2]]}', 422, "object of cells"),
        (b'{"rows": []}', 422, "1 to 1,000 rows"),
        (b'{"rows": 5}', 422, "1 to 1,000 rows"),
        (b"[" * 100_000, 422, "no JSON"),
        (b"\xff\xfe", 422, "no JSON"),
        (b'{"rows": [{"job": {"a": 1}}]}', 422, "text"),
        (b'{"rows": [{"age": [1]}]}', 422, "give a number"),
        (b" " * 10_000_000, 413, "at most"),
    ],
)
@pytest.mark.parametrize("question", ["predict", "explain"])
def test_bad_input_is_refused_with_words(path, body, status, words, question):
    answer = client_of(Served(path)).post(f"/{question}", content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status and words in answer.json()["error"]


def test_other_requests_are_refused(path, monkeypatch):
    monkeypatch.setattr("bayeswater.web.metering.monotonic", lambda: 0.0)  # all within one second, however busy we are
    client = client_of(Served(path), per_second=5.0, token="secret")
    assert client.post("/nothing", json={"rows": [{}]}).status_code == 404
    assert client.post("/other/predict", json={"rows": [{}]}).status_code == 404
    assert client.post("/predict", content=b"{}").status_code == 415
    assert client.post("/learn", json={"rows": [{}], "labels": ["low"]}).status_code == 401
    assert [client.get("/healthz").status_code for _ in range(3)][-1] == 429
    for name in ("/predict", "/income/explain", "/learn"):
        refused = client_of(Served(path)).get(name)
        assert refused.status_code == 405 and refused.headers["allow"] == "POST" and "POST" in refused.json()["error"]
    spoken = client_of(Served(path)).post("/explain", json={"rows": [{}], "lang": "fr"})
    assert spoken.status_code == 422 and "lang is 'fr'; it can be one of ['en', 'zh']" in spoken.json()["error"]
    assert client_of(Served(path)).get("/nothing").json() == {"error": "there is nothing of this name"}


def test_a_replaced_file_is_read_and_a_bad_one_is_not(path, model):
    served = Served(path)
    client = client_of(served)
    before = client.post("/predict", json={"rows": ROWS}).json()
    path.with_name("bad").write_bytes(b"nothing")
    path.with_name("bad").replace(path)
    served.look_at_file()
    assert client.post("/predict", json={"rows": ROWS}).json() == before
    assert "old model serves on" in client.get("/healthz").json()["models"]["income"]["problem"]
    table = people(300, seed=5)
    other = NaiveBayes(columns=model.columns_).fit(table.select(READ), table.column(TARGET))
    save(other, path)
    served.look_at_file()
    assert client.get("/healthz").json()["status"] == "ok"
    told = client.post("/predict", json={"rows": ROWS[:1]}).json()["predictions"][0]["proba"]
    assert_allclose([told[label] for label in other.classes_], other.predict_proba(ROWS[:1])[0], rtol=1e-12)


def test_several_models_are_asked_by_name(path, model, tmp_path):
    save(model, tmp_path / "second.bayes")
    client = client_of(Served(path), Served(tmp_path / "second.bayes"))
    assert client.post("/predict", json={"rows": [{}]}).status_code == 404
    assert client.post("/second/predict", json={"rows": [{}]}).status_code == 200


# ---------------------------------------------------------------------- learning

TAUGHT = {
    "rows": [{"age": 60.0, "hours": 50, "job": "pilot", "member": "True"}, {"hours": 20}],
    "labels": ["high", "low"],
}
KEY = {"authorization": "Bearer secret"}


def kill(served):
    """End a server as kill -9 does: nothing is saved, and the system lets go of its lock."""
    served.journal.end()


def test_two_cannot_teach_one_file(path):
    first = Served(path, learns=True)
    with pytest.raises(Exception, match="is being taught by another process"):
        Served(path, learns=True)
    assert Served(path).loaded.model.class_count_.sum() == 300  # who only asks may
    first.close()
    Served(path, learns=True).close()


def test_what_was_acknowledged_is_there_after_a_kill_and_is_what_the_library_counts(path, model):
    first = Served(path, learns=True)
    client = client_of(first, token="secret")
    assert client.post("/learn", json=TAUGHT).status_code == 401
    assert client.post("/learn", json=TAUGHT, headers={"authorization": "Bearer other"}).status_code == 401
    assert client.post("/learn", json=TAUGHT, headers=KEY).json() == {"n_rows": 302}
    assert client.post("/learn", json={**TAUGHT, "labels": ["high"]}, headers=KEY).status_code == 422
    kill(first)
    again = Served(path, learns=True)
    assert again.loaded.model.class_count_.sum() == 302
    journal = again.journal.path
    with journal.open("ab") as file:
        file.write(b"12345678 {torn")
    kill(again)
    torn = Served(path, learns=True)
    assert torn.loaded.model.class_count_.sum() == 302
    assert client_of(torn, token="secret").post("/forget", json=TAUGHT, headers=KEY).json() == {"n_rows": 300}
    torn.close()
    assert "pilot" not in journal.read_text()
    assert (load(path).class_count_ == model.class_count_).all()
    assert_allclose(load(path).predict_proba(ROWS[:3]), model.predict_proba(ROWS[:3]), rtol=1e-9)


def test_a_kill_at_any_point_of_saving_loses_nothing_and_counts_nothing_twice(path, monkeypatch):
    served = Served(path, learns=True)
    served.teach("learn", TAUGHT["rows"], TAUGHT["labels"])

    def cut_off():
        raise KeyboardInterrupt

    with monkeypatch.context() as cut, pytest.raises(KeyboardInterrupt):
        cut.setattr(served.journal, "_begin", cut_off)  # the new model is there, and the journal is still the old one
        served.save_now()
    kill(served)
    again = Served(path, learns=True)
    assert again.loaded.model.class_count_.sum() == 302
    kill(again)
    again = Served(path, learns=True, save_rows=2)
    again.teach("learn", TAUGHT["rows"], TAUGHT["labels"])  # saves by itself
    assert again.journal.n_lines == 0 and load(path).class_count_.sum() == 304


def test_rows_of_servers_that_were_killed_count_towards_the_next_saving(path):
    for n_lines in (1, 2, 0):  # two rows each, and the file is written at five
        served = Served(path, learns=True, save_rows=5)
        served.teach("learn", TAUGHT["rows"], TAUGHT["labels"])
        assert served.journal.n_lines == n_lines
        kill(served)
    assert load(path).class_count_.sum() == 306


def test_a_model_replaced_beside_its_journal_is_refused_with_the_way_out(path, model):
    served = Served(path, learns=True)
    served.teach("learn", TAUGHT["rows"], TAUGHT["labels"])
    table = people(100, seed=3)
    save(NaiveBayes(columns=model.columns_).fit(table.select(READ), table.column(TARGET)), path)
    served.look_at_file()
    answer = client_of(served, token="secret").post("/learn", json=TAUGHT, headers=KEY)
    assert answer.status_code == 422 and "replaced beside its journal" in answer.json()["error"]
    kill(served)
    with pytest.raises(Exception, match="set the journal aside"):
        Served(path, learns=True)


def test_a_server_answers_on_once_the_largest_number_is_forgotten(path):
    served = Served(path, learns=True)
    for do in ("learn", "forget"):
        served.teach(do, [{"age": 999.0}], ["low"])
    assert client_of(served).post("/predict", json={"rows": [{"age": 41}]}).status_code == 200
    served.close()


def test_a_damaged_journal_is_refused(path):
    served = Served(path, learns=True)
    for _ in range(2):
        served.teach("learn", TAUGHT["rows"], TAUGHT["labels"])
    lines = served.journal.path.read_bytes().split(b"\n")
    lines[1] = lines[1].replace(b"pilot", b"pirat")
    served.journal.path.write_bytes(b"\n".join(lines))
    kill(served)
    with pytest.raises(Exception, match="damaged in line 2"):
        Served(path, learns=True)


def test_a_refused_call_leaves_no_line(path):
    served = Served(path, learns=True)
    client = client_of(served, token="secret")
    never = {"rows": [{"job": "never seen"}], "labels": ["low"]}
    assert client.post("/forget", json=never, headers=KEY).status_code == 422
    assert served.journal.n_lines == 0 and json.loads(served.journal.path.read_text()[9:])["model"]
    assert np.isclose(served.loaded.model.class_count_.sum(), 300)


def test_what_cannot_be_written_is_not_learned(path, monkeypatch):
    served = Served(path, learns=True)

    def full(document):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(served.journal, "write", full)
    with pytest.raises(Exception, match="No space left on device; nothing was learned"):
        served.teach("learn", TAUGHT["rows"], TAUGHT["labels"])
    assert served.loaded.model.class_count_.sum() == 300 and "pilot" not in served.loaded.fields["job"].states


@pytest.mark.parametrize("kind", [CategoricalNB, BayesEnsemble])
def test_truths_of_models_that_do_not_tell_their_states_are_read(kind, tmp_path):
    flags = pa.table({"a": [True, False, True, True] * 15, "b": [False, False, True, True] * 15})
    made = kind(random_state=0, preset="generative") if kind is BayesEnsemble else kind()
    save(made.fit(flags, ["x", "y", "x", "y"] * 15), tmp_path / "flags.bayes")
    rows = flags.slice(0, 4).to_pylist()
    told = client_of(Served(tmp_path / "flags.bayes")).post("/predict", json={"rows": rows}).json()
    found = [list(one["proba"].values()) for one in told["predictions"]]
    assert_allclose(found, made.predict_proba(flags.slice(0, 4)), rtol=0, atol=1e-12)


def test_a_column_of_one_bin_is_described(tmp_path):
    rows = pa.table({"x": [3.5] * 4, "s": ["a", "b", "a", "b"]})
    save(TAN(columns={"x": "binned"}).fit(rows, [0, 1, 0, 1]), tmp_path / "one.bayes")
    asked = client_of(Served(tmp_path / "one.bayes")).get("/openapi.json")
    assert asked.status_code == 200


def test_cells_of_rows_are_read_as_the_file_was_written(tmp_path):
    cells = [f'{day:02d}.03.2024,"1.{day}0,5 €",{"a" if day % 2 else "b"}' for day in range(10, 30)]
    (tmp_path / "paid.csv").write_text("\n".join(["on,sum,y", *cells]), encoding="utf-8")
    loaded = Loaded(NaiveBayes().fit(tmp_path / "paid.csv", target="y"))
    written = {"on": "05.03.2024", "sum": "1.200,5 €"}
    assert loaded.rows([written]) == loaded.rows([{"on": "2024-03-05", "sum": 1200.5}])
    assert loaded.cells({"on": "n/a", "sum": "-"}) == {"on": None, "sum": None}
    with pytest.raises(QuestionError, match=r"on is 'soon'; give a date, as 2024-02-29; or write it as 31\.12\.2023"):
        loaded.cells({"on": "soon"})


def test_a_clock_and_its_seconds_are_one_in_the_same_request(tmp_path):
    cells = [f"{hour}:30,{'a' if hour < 12 else 'b'}" for hour in range(24)]
    (tmp_path / "calls.csv").write_text("\n".join(["at,y", *cells]), encoding="utf-8")
    save(NaiveBayes().fit(tmp_path / "calls.csv", target="y"), tmp_path / "calls.bayes")
    client = client_of(Served(tmp_path / "calls.bayes"))
    for rows in ([{"at": "10:30"}, {"at": 37800}], [{"at": 37800}, {"at": "10:30"}]):
        first, second = client.post("/predict", json={"rows": rows}).json()["predictions"]
        assert first == second
