"""A round of benchmarks ends in its minutes, goes on where it stopped, and begins anew once all is measured."""

import os
from select import select

from benchmarks import rounds
from benchmarks.rounds import go_round, measure_apart

TITLES = ("one", "two", "long", "three")


class Clock:
    """A clock that sections move on; those of `endless` never end."""

    def __init__(self, seconds, endless=()):
        self.now, self.seconds, self.endless, self.measured = 0.0, seconds, endless, []

    def __call__(self):
        return self.now

    def measure(self, title, most):
        ends = title not in self.endless and self.seconds[title] <= most
        self.now += self.seconds[title] if ends else most
        self.measured.append(title)
        return ends


def round_of(clock, state, minutes=5.0, before=None):
    return go_round(TITLES, before or {}, minutes, clock.measure, state, clock)


def test_what_one_call_leaves_the_next_one_measures(tmp_path):
    state, clock = tmp_path / "build/bench.json", Clock(dict.fromkeys(TITLES, 120.0))
    assert round_of(clock, state) == ["long", "three"]
    assert clock.now <= 300
    clock.now = 0.0
    assert round_of(clock, state) == []
    assert clock.measured == ["one", "two", "long", "three", "long"]  # it was stopped, so it comes last
    assert not state.exists()
    assert round_of(Clock(dict.fromkeys(TITLES, 1.0)), state) == []  # a new round


def test_what_took_longer_than_there_is_time_waits_for_a_call_of_its_own(tmp_path):
    seconds = {"one": 60.0, "two": 60.0, "long": 290.0, "three": 60.0}
    state, clock = tmp_path / "bench.json", Clock(seconds)
    assert round_of(clock, state, before=seconds) == ["long"]
    assert clock.measured == ["one", "two", "three"]
    assert clock.now == 180
    clock.now = 0.0
    assert round_of(clock, state, before=seconds) == []


def test_what_does_not_end_is_stopped_and_comes_last(tmp_path):
    state, clock = tmp_path / "bench.json", Clock(dict.fromkeys(TITLES, 60.0), endless=("one",))
    assert round_of(clock, state) == ["one", "two", "long", "three"]
    clock.now = 0.0
    assert round_of(clock, state) == ["one"]
    assert clock.measured == ["one", "two", "long", "three", "one"]


def test_a_section_is_ended_with_all_that_it_started(tmp_path, monkeypatch):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "benchmarks").mkdir()
    waits = f"import time; pipe = open({str(pipe)!r}, 'wb'); time.sleep(600)"
    (tmp_path / "benchmarks/__main__.py").write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {waits!r}])\n"
    )
    monkeypatch.setattr(rounds, "ROOT", tmp_path)
    monkeypatch.delenv("PYTHONPATH", raising=False)
    with os.fdopen(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as others:
        assert not measure_apart("any", 4.0, ())
        assert select([others], [], [], 60)[0]  # whoever held its other end has ended
    (tmp_path / "benchmarks/__main__.py").write_text("import sys\nsys.exit(sys.argv[1:] != ['--section', 'x', '-v'])")
    assert measure_apart("x", 60.0, ("-v",))
    assert not measure_apart("y", 60.0, ())
