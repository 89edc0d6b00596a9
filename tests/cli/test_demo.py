"""``bayeswater demo`` tells the story to its end."""

from functools import partial

from bayeswater.cli import demo
from bayeswater.demo.loans import loans


def test_the_story_is_told_to_its_end(run, monkeypatch):
    monkeypatch.setattr(demo, "FOLDS", 2)
    monkeypatch.setattr("bayeswater.demo.loans.loans", partial(loans, 150))
    answer = run("demo")
    assert answer.code == 0, answer.err
    titles = [line[:2] for line in answer.out.splitlines() if line[:1].isdigit() and line[1:3] == ". "]
    assert titles == ["1.", "2.", "3.", "4.", "5.", "6."]
    for word in ("spam", "ham", "Leaving one out", "rather than", "forgotten", "AODE", "loans.bayes", "equal: True"):
        assert word in answer.out
