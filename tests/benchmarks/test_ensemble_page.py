"""The page of the ensemble beside its peers: it says where `best` is behind, and on how many tables."""

import numpy as np
from benchmarks.ensemble_intervals import section
from benchmarks.ensemble_page import duels, figures, markdown

OURS = {"best": [0.10, 0.20], "balanced": [0.11, 0.25], "generative": [0.12, 0.26]}


def page(theirs):
    done = {"iris|rows": [150, 3], "adult|rows": [28000, 2]}
    for table in ("iris", "adult"):
        for model, scores in (
            OURS | {"random forest": [0.13, 0.40], "random forest, temperature": [0.13, 0.30]}
        ).items():
            done[f"{table}|{model}|0"] = [*scores, 0.05, 2.0, 0.1]
    for key, scores in theirs.items():
        done[f"{key}|0"] = [*scores, 0.05, 8.0, 0.1]
    return markdown(figures(done), done)


def test_a_page_says_where_best_is_ahead():
    assert "- `best`, all, 2 tables: ahead of every peer measured in mean error and log-loss." in page({})
    assert "Models not measured yet: logistic regression" in page({})
    assert "Tables not measured yet: zoo, labor" in page({})


def test_a_page_says_behind_whom_best_is_and_on_how_many_tables():
    text = page({"adult|CatBoost": [0.09, 0.30]})
    assert "- `best`, above 5000 rows, 1 tables: behind CatBoost (error); ahead of all others" in text
    assert "- `best`, all, 2 tables: behind CatBoost (error, on 1 of them)" in text
    assert "but not against CatBoost in error (0 to 1)" in text
    assert "- Not measured on all tables, and ahead or behind on those alone: CatBoost (1 of 2)." in text
    assert "`best` learns in 0.25 times the processor time of CatBoost" in text


def test_small_differences_are_draws():
    ours, theirs = np.array([[0.1009, 0.3], [0.2, 0.3], [0.2, 0.3]]), np.array([[0.1, 0.302], [0.1, 0.4], [0.3, 0.2]])
    assert (duels(ours, theirs, 0), duels(ours, theirs, 1)) == ((1, 1, 1), (1, 1, 1))


def test_a_page_says_how_often_the_intervals_of_the_report_held():
    held, missed = [0.1, 0.2, 0.15], [0.1, 0.2, 0.21]
    done = {f"intervals|rare|best|{draw}": [held, held if draw else missed] for draw in range(4)}
    text = "\n".join(section(done))
    assert "| rare, best | 4 | 100.0 % | 75.0 % |" in text
    assert "| all | 4 | 100.0 % | 75.0 % |" in text
    assert not [*section({})]
