"""``bayeswater explore``: a page is served until Ctrl-C, and what cannot be explored is refused with words."""

import os
import signal
import socket
import subprocess
import sys
from textwrap import dedent

import httpx
import pytest
from tests.web.loans_page import loan_model

from bayeswater import BayesianNetwork, save
from bayeswater.cli.explore import _subject
from bayeswater.cli.main import main
from bayeswater.cli.options import ReadingOptions
from bayeswater.demo.loans import loans
from bayeswater.demo.network import cough


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signal")
def test_a_model_and_its_rows_are_served_until_control_c(tmp_path):
    save(loan_model(), tmp_path / "loans.bayes")
    import pyarrow.csv

    pyarrow.csv.write_csv(loans(200), tmp_path / "rows.csv")
    command = [sys.executable, "-m", "bayeswater", "explore", "loans.bayes", "rows.csv", "--no-open", "--lang", "zh"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ
    )
    address = process.stdout.readline().strip()
    with httpx.Client(follow_redirects=True, timeout=300) as browser:
        assert "<main" in browser.get(address).text
        base = address.partition("/?")[0]
        told = browser.get(f"{base}/api/subjects").json()
        begun = browser.post(f"{base}/api/0/compare/ladder", json={}, headers={"Origin": base}).json()
    assert told["lang"] == "zh"
    subject = told["subjects"][0]
    assert (subject["name"], subject["target"], subject["n_rows"]) == ("loans.bayes", "outcome", 200)
    assert subject["views"] == ["row", "learned", "decisions", "rows", "compare"]
    assert begun["state"] == "running"  # what is worked out holds nobody up
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=300)
    assert process.returncode == 0 and errors.endswith("ended\n") and "Traceback" not in errors


def test_what_cannot_be_explored_is_refused_with_words(tmp_path, capsys):
    BayesianNetwork.write(cough(), tmp_path / "cough.bif")
    assert main(["explore", str(tmp_path / "cough.bif"), "rows.csv", "--no-open"]) == 2
    assert "explored without rows" in capsys.readouterr().err
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["explore", str(tmp_path / "cough.bif"), "--no-open", "--port", str(port)]) == 2
    assert f"port {port} cannot be opened" in capsys.readouterr().err
    assert main(["explore", str(tmp_path / "nothing.bayes"), "--no-open"]) == 1


def test_the_column_of_true_classes_is_found_where_they_are_yes_and_no(tmp_path, capsys):
    rows, model = tmp_path / "rows.csv", tmp_path / "m.bayes"
    rows.write_text("x;paid;left\n" + "".join(f"{i % 7};{i % 3 == 0};{['ja', 'nein'][i % 2]}\n" for i in range(40)))
    assert main(["fit", str(rows), "--target", "left", "-o", str(model)]) == 0
    subject = _subject(str(model), [str(rows)], None, ReadingOptions())
    assert subject.target == "left" and subject.truth.tolist() == [0, 1] * 20
    assert subject.rows.column("paid").to_pylist()[:2] == [True, False]  # what the model reads stays as it reads it


def test_a_network_is_shown_without_what_classifiers_import(tmp_path):
    cough().write(tmp_path / "cough.bif")
    code = """
        import sys
        from bayeswater.cli.explore import _subject
        from bayeswater.cli.options import ReadingOptions
        from bayeswater.web.views import answer_of
        subject = _subject("cough.bif", [], None, ReadingOptions())
        for question in ("drawing", "posteriors", "arcs"):
            assert answer_of(subject, "network", question)(subject, {})
        there = {"sklearn", "scipy.stats", "pandas"} & {*sys.modules}
        assert not there, there
    """
    child = subprocess.run([sys.executable, "-c", dedent(code)], cwd=tmp_path, capture_output=True, text=True)
    assert child.returncode == 0, child.stderr


@pytest.mark.parametrize("package", ["uvicorn", "starlette.applications"])
def test_a_package_that_the_page_lacks_is_named_with_the_way_to_install_it(package, monkeypatch, capsys):
    for name in [
        name for name in sys.modules if name.startswith("bayeswater.web.") and name.endswith(("app", "safety"))
    ]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, package, None)
    assert main(["explore", "--no-open"]) == 2
    assert "the page needs" in (said := capsys.readouterr().err)
    assert "pip install 'bayeswater[web]'" in said
