"""Who is answered by the server of a page, and who is not."""

import pytest
from starlette.testclient import TestClient
from tests.web.loans_page import come

from bayeswater.demo.network import cough
from bayeswater.web.app import application
from bayeswater.web.exploring import Exploration
from bayeswater.web.safety import BODY_BYTES, Access
from bayeswater.web.subjects import subject_of

ACCESS = Access(8123)
BASE = "http://127.0.0.1:8123"
ORIGIN = {"origin": BASE}


@pytest.fixture
def stranger() -> TestClient:
    return TestClient(application(come(subject_of(cough())), ACCESS), base_url=BASE, follow_redirects=False)


@pytest.fixture
def friend(stranger: TestClient) -> TestClient:
    assert stranger.get(f"/?key={ACCESS.key}").status_code == 303
    return stranger


def test_the_key_is_exchanged_for_a_cookie_that_no_script_and_no_other_site_reads(stranger):
    answer = stranger.get(f"/?key={ACCESS.key}")
    assert answer.headers["location"] == "/"
    told = answer.headers["set-cookie"].lower()
    assert "httponly" in told and "samesite=strict" in told and "path=/" in told
    assert stranger.get("/api/subjects").status_code == 200


def test_who_has_no_key_gets_the_files_of_the_page_and_nothing_of_the_model(stranger):
    assert "<main" in stranger.get("/").text
    assert stranger.get("/api/subjects").status_code == 403
    assert stranger.post("/api/0/row/posterior", json={}, headers=ORIGIN).status_code == 403
    assert stranger.get("/?key=guessed").status_code == 403
    assert stranger.get("/api/subjects", headers={"x-bayeswater-key": "guessed"}).status_code == 403


def test_a_page_in_a_frame_may_carry_the_key_itself(stranger):
    assert stranger.get("/api/subjects", headers={"x-bayeswater-key": ACCESS.key}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1:9", "127.0.0.1", "evil.example:8123", "127.0.0.1:8123.evil"]
)
def test_a_name_that_leads_here_from_elsewhere_is_refused(friend, host):
    assert friend.get("/api/subjects", headers={"host": host}).status_code == 421


def test_another_page_may_not_ask_even_with_the_cookie(friend):
    assert friend.get("/api/subjects", headers={"origin": "http://evil.example"}).status_code == 403
    for headers in ({}, {"origin": "null"}, {"origin": "http://localhost:8123"}, {"origin": "http://127.0.0.1:9"}):
        assert friend.post("/api/0/network/none", json={}, headers=headers).status_code == 403
    assert friend.post("/api/0/network/none", json={}, headers=ORIGIN).status_code == 404


def test_other_methods_are_not_there(friend):
    for method in ("PUT", "DELETE", "OPTIONS", "PATCH"):
        assert friend.request(method, "/api/subjects", headers=ORIGIN).status_code == 405


def test_a_body_is_bounded_also_where_its_length_is_not_told(friend):
    def pieces():
        for _ in range(BODY_BYTES // 2**16 + 2):
            yield b" " * 2**16

    assert friend.post("/api/0/network/none", content=pieces(), headers=ORIGIN).status_code == 413


@pytest.mark.parametrize(
    "path",
    [
        "/static/../safety.py",
        "/static/%2e%2e/safety.py",
        "/static/..%2fsafety.py",
        "/static/safety.py",
        "//etc/passwd",
        "/static/",
    ],
)
def test_no_path_leads_out_of_the_page(friend, path):
    assert friend.get(path).status_code in (404, 405)


def test_every_answer_binds_the_browser(friend):
    for path in ("/", "/static/main.js", "/api/subjects", "/nowhere"):
        headers = friend.get(path).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy and "frame-ancestors 'none'" in policy
        assert headers["referrer-policy"] == "no-referrer" and headers["x-content-type-options"] == "nosniff"


def test_the_page_loads_nothing_from_elsewhere_and_is_small(friend):
    from importlib.resources import files

    texts = {
        file.name: file.read_text(encoding="utf-8") for file in files("bayeswater.web").joinpath("static").iterdir()
    }
    assert sum(len(text.encode()) for text in texts.values()) <= 200_000
    for name, text in texts.items():
        for word in ("innerHTML", "outerHTML", "insertAdjacent", "document.write", "eval(", "new Function", "https://"):
            assert word not in text, (name, word)
        assert text.replace("http://www.w3.org/2000/svg", "").count("http://") == 0, name
    assert " style=" not in texts["index.html"] and "<script>" not in texts["index.html"]


def test_the_server_listens_on_this_machine_alone_and_ends_when_it_is_closed():
    import httpx

    with Exploration([subject_of(cough())]) as page:
        assert page._socket.getsockname()[0] == "127.0.0.1"
        with httpx.Client(follow_redirects=True) as browser, httpx.Client(follow_redirects=True) as other:
            assert browser.get(page.address).status_code == other.get(page.address).status_code == 200
            told = browser.get(f"http://127.0.0.1:{page.access.port}/api/subjects").json()
        assert [subject["name"] for subject in told["subjects"]] == ["network"]
    with pytest.raises(httpx.ConnectError):
        httpx.get(page.address)
