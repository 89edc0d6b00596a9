"""The report of the benchmarks: sections measured on their own take the place of older ones and say when."""

import json

from benchmarks.report import Section, merge, write

MACHINE = {"cores": 2, "processor": "a processor", "Python": "3.11"}
WHOLE = {"date": "2026-01-01", "load before": 0.1, "turns": 7}
LATER = {"date": "2026-02-02", "load before": 0.5, "turns": 3}
ORDER = ["Speed", "Networks", "Memory"]


def test_a_section_measured_on_its_own_replaces_the_older_one_and_tells_its_own_date(tmp_path):
    whole = [Section("Speed", "Times.", [{"ms": 1.5}], WHOLE), Section("Memory", "Peaks.", [{"MB": 2}], WHOLE)]
    write(whole, MACHINE, WHOLE, tmp_path)
    merge([Section("Memory", "Peaks.", [{"MB": 3}], LATER)], ORDER, MACHINE, LATER, tmp_path)
    page = (tmp_path / "RESULTS.md").read_text()
    assert "Measured on 2026-01-01, load before 0.1, turns 7." in page.split("## Speed")[0]
    assert "## Speed\n\nTimes.\n\n| ms |\n| --- |\n| 1.5 |\n" in page
    assert page.endswith(
        "## Memory\n\nPeaks. Measured on 2026-02-02, load before 0.5, turns 3.\n\n| MB |\n| --- |\n| 3 |\n"
    )


def test_a_new_section_stands_where_the_order_of_the_report_has_it(tmp_path):
    whole = [Section("Speed", "Times.", [{"ms": 1}], WHOLE), Section("Memory", "Peaks.", [{"MB": 2}], WHOLE)]
    write(whole, MACHINE, WHOLE, tmp_path)
    merge([Section("Networks", "Answers.", [{"off": 0.0}], LATER)], ORDER, MACHINE, LATER, tmp_path)
    content = json.loads((tmp_path / "results.json").read_text())
    assert [section["title"] for section in content["sections"]] == ORDER
    assert content["run"] == WHOLE


def test_sections_are_written_where_no_report_stands_yet(tmp_path):
    merge([Section("Memory", "Peaks.", [{"MB": 3}], LATER)], ORDER, MACHINE, LATER, tmp_path)
    assert "Peaks.\n\n| MB |" in (tmp_path / "RESULTS.md").read_text()


def test_a_section_that_could_measure_nothing_leaves_the_older_one(tmp_path):
    write([Section("Speed", "Times.", [{"ms": 1.5}], WHOLE)], MACHINE, WHOLE, tmp_path)
    merge([Section("Speed", "Times.", [], LATER)], ORDER, MACHINE, LATER, tmp_path)
    assert "Times.\n\n| ms |\n| --- |\n| 1.5 |" in (tmp_path / "RESULTS.md").read_text()
