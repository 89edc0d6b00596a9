"""The page of all jobs that have a peer tells who is slower, and the limit where it is known."""

import pytest
from benchmarks.data import measurements
from benchmarks.jobs import JOBS
from benchmarks.overview import overview
from benchmarks.report import Section
from benchmarks.roofline import draw, work_of

SECTIONS = [
    Section(
        "Limits",
        "",
        [{"job": "fit", "ours ms": 20.0, "scikit-learn ms": 250.0, "limit ms": 4.0, "limited by": "bytes"}],
    ),
    Section("A mixed table", "", [{"job": "all", "ours ms": 3.0, "beside": "by hand", "beside ms": 1.5}]),
    Section("Growth", "", [{"model": "any", "at 100,000 rows": 3.0}]),
]


def test_every_job_with_a_peer_has_a_line():
    page = overview(SECTIONS)
    assert "| Limits: fit | 20 ms | scikit-learn 250 ms | 12.5 | 4 ms (bytes) |" in page
    assert "| A mixed table: all | 3 ms | by hand 1.5 ms | 0.5 |  |" in page
    assert "Slower than the peer: A mixed table: all." in page
    assert "Growth" not in page
    assert "Nothing here is slower" in overview(SECTIONS[:1])


def test_the_work_of_a_job_is_that_of_its_formula():
    rows = measurements(2_000, 20, 5)
    fit, predict = JOBS[:2]
    assert (fit.method, predict.method) == ("fit", "predict_proba")
    assert work_of(fit, rows) == (8 * 2_000 * 21, 4 * 2_000 * 20)
    assert work_of(predict, rows) == (8 * 2_000 * 25, 2_000 * 5 * (4 * 20 + 20))


def test_the_picture_has_every_job(tmp_path):
    pytest.importorskip("matplotlib")
    record = {"job": "a job", "ours ms": 20.0, "scikit-learn ms": 250.0, "MB": 10.0, "MFLOP": 3.0}
    draw([record | {"GB/s there are": 10.0, "GFLOP/s there are": 40.0}] * 2, tmp_path / "roof.svg")
    drawing = (tmp_path / "roof.svg").read_text()
    assert "<!-- 10 GB/s -->" in drawing and "<!-- 40 GFLOP/s -->" in drawing
    assert "<!-- 1  a job" in drawing or "<!-- 2 -->" in drawing
