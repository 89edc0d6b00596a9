"""Small models of every kind that can be exported, and rows with holes and cells that no row had."""

from functools import cache
from unittest.mock import patch

import numpy as np
import pandas as pd

import bayeswater as bw
from bayeswater.decision import word_weights

N = 150
HOSTILE = "a\"b'c`d]\\</script><!-- ;--\n*/ %s $x{ 名前"
"""A name that every language would take for something else."""

MIXED = {
    "normal": "gaussian",
    "log": "lognormal",
    "count": "poisson",
    "spread": "negative_binomial",
    "share": "beta",
    "bin": "binned",
    "angle": {"family": "von_mises", "period": 6.28},
    HOSTILE: "categorical",
}
COSTS = [[0.0, 4.0, 1.0], [1.0, 0.0, 2.0], [3.0, 1.0, 0.0], [0.4, 0.4, 0.4]]


@cache
def table():
    """Rows of three classes: numbers of all laws, states, flags, dates."""
    rng = np.random.default_rng(1)
    shift = rng.integers(0, 3, N)

    def holes(cells):
        cells = pd.Series(cells)
        return cells.where(rng.random(N) > 0.08)

    frame = pd.DataFrame(
        {
            "normal": holes(rng.normal(size=N) + shift),
            "log": holes(np.exp(rng.normal(size=N) + shift)),
            "count": holes(rng.poisson(3 + shift)),
            "spread": holes(rng.negative_binomial(1, 1 / (3 + shift))),
            "share": holes(rng.beta(2 + shift, 3)),
            "bin": holes(rng.normal(size=N) ** 3 + shift),
            "angle": holes(rng.vonmises(shift, 2) % 6.28),
            HOSTILE: holes(np.array(["o'k", '</script>"', "\\n;--${x}", "ü"])[(rng.integers(0, 4, N) + shift) % 4]),
            "flag": holes(rng.random(N) < 0.2 + 0.3 * shift).astype("boolean"),
            "level": holes(rng.integers(1, 4, N) * 1.0),
        }
    )
    return frame, np.array(["a", "b\"'", "c;--"])[shift]


@cache
def asked():
    """The rows of the table, some with cells that were never seen."""
    rows = table()[0][:60].copy()
    rows.loc[:6, HOSTILE] = "never seen"
    rows.loc[4:9, "log"] = -1.0
    rows.loc[8:12, "share"] = 1.0
    rows.loc[10:13, "count"] = 2.5
    rows.loc[20, :] = None
    return rows


@cache
def dated():
    """Rows with a moment in time, the last of them before 1970."""
    rng = np.random.default_rng(2)
    shift = rng.integers(0, 2, N)
    when = pd.Timestamp("1999-12-25 23:59:07") + pd.to_timedelta(rng.integers(0, 86_400 * 900, N), unit="s")
    when = pd.Series(when).where(rng.random(N) > 0.1)
    when[N - 1] = pd.Timestamp("1969-02-28 05:04:03")
    return pd.DataFrame({"when": when + pd.to_timedelta(shift * 7, unit="h"), "x": rng.normal(size=N) + shift}), shift


@cache
def days():
    """Days alone, whose clock says nothing."""
    whole = dated()[0]["when"].dt.normalize()
    return pd.DataFrame({"day": whole.where(whole.notna(), pd.Timestamp("2000-02-29"))})


@cache
def texts():
    """Short texts in several scripts."""
    rng = np.random.default_rng(3)
    shift = rng.integers(0, 2, N)
    words = ["Free", "CAFÉ", "cafe\u0301", "免费电话", "it's", "win_2", "ünï", "İstanbul", "\u212aG", "豈\u0301abc"]
    words = np.array([*words, "iPhone费", "σοφοσ", "x", "ΣΟΦΟΣ", "1½", "ABC"])
    lines = [" ".join(rng.choice(words[: 12 + 4 * one], 5)) for one in shift]
    text = pd.Series(lines).where(rng.random(N) > 0.1)
    return pd.DataFrame({"line": text, "x": rng.normal(size=N) + shift}), shift


def counts():
    """Whole numbers of four features."""
    rng = np.random.default_rng(4)
    shift = rng.integers(0, 3, N)
    return pd.DataFrame(rng.poisson(1 + shift[:, None] * [0, 1, 0.5, 0]), columns=[*"abc", HOSTILE]), shift


STATES = ["normal", "bin", HOSTILE, "flag", "level"]


def _states(kind, **parameters):
    X, y = table()
    return kind(columns={"bin": {"cuts": [-1.0, 0.0, 2.0]}, "level": "categorical"}, **parameters).fit(X[STATES], y)


def _whole():
    X, y = table()
    whole = X[["normal", "bin", "angle"]].notna().all(axis=1)
    return X.loc[whole, ["normal", "bin", "angle"]], y[whole]


def _bound():
    """Columns that are nearly the same: parts of a distance are a million times as large as it is, and cancel."""
    rng = np.random.default_rng(6)
    shift = rng.integers(0, 3, N)
    cells = rng.normal(size=(N, 1)) + rng.normal(size=(N, 12)) * (3e-5 + 1e-5 * shift[:, None])
    cells[:, 0] += 3e-5 * shift
    return pd.DataFrame(cells, columns=[f"x{j}" for j in range(12)]), shift


@cache
def pairs():
    """Eight pairs of columns with five states: asked without the one that the other depends on, in 5^8 ways."""
    rng = np.random.default_rng(7)
    shift = rng.integers(0, 2, N)
    first = rng.integers(0, 5, (N, 8))
    second = np.where(rng.random((N, 8)) < 0.8, first, (first + shift[:, None]) % 5)
    cells = np.concatenate([first, second], axis=1)
    return pd.DataFrame(np.array([*"abcde"])[cells], columns=[f"{side}{j}" for side in "pq" for j in range(8)]), shift


def _without_last_class(model):
    """Learn, and forget all rows of a class: what was learned of the prior sums to less than 1."""
    X, y = table()
    gone = y == max(y)
    return model.fit(X, y).forget(X[gone], y[gone])


def _read_by(make, *changes):
    """Learn weights of words with changes of how they are read, whatever held-out rows say."""
    with patch.object(word_weights, "READINGS", tuple((change, -np.inf) for change in changes)):
        return make()


MAKERS = {
    "NaiveBayes": lambda: bw.NaiveBayes(columns=MIXED).fit(*table()),
    "NaiveBayes, calibrated": lambda: bw.NaiveBayes(columns=MIXED, calibrate=True).fit(*table()),
    "NaiveBayes, class prior": lambda: bw.NaiveBayes(columns=MIXED, calibrate=True, class_prior=[0.6, 0.3, 0.1]).fit(
        *table()
    ),
    "NaiveBayes, missing state": lambda: bw.NaiveBayes(columns=MIXED, missing="state").fit(*table()),
    "NaiveBayes, Student": lambda: bw.NaiveBayes(
        columns={**MIXED, "normal": {"prior": bw.NormalInverseGamma(0.0, 1.0, 1.0, 1.0)}}
    ).fit(*table()),
    "SPODE": lambda: _states(bw.SPODE),
    "TAN": lambda: _states(bw.TAN),
    "TAN, missing state": lambda: _states(bw.TAN, missing="state", calibrate=True),
    "TAN, chain": lambda: _states(bw.TAN, parents={"bin": "normal", HOSTILE: "bin", "flag": HOSTILE, "level": "bin"}),
    "AODE": lambda: _states(bw.AODE),
    "AODE, all options": lambda: _states(bw.AODE, weighting="mi", subsumption=5, class_prior=[0.5, 0.3, 0.2]),
    "KDB": lambda: _states(bw.KDB),
    "SKDB": lambda: _states(bw.SKDB),
    "KDB, pairs": lambda: bw.KDB(k=1).fit(*pairs()),
    "KDB, missing state": lambda: _states(bw.KDB, missing="state"),
    "NaiveBayes, days": lambda: bw.NaiveBayes().fit(days(), dated()[1]),
    "GaussianNB": lambda: bw.GaussianNB().fit(*_whole()),
    "GaussianNB, missing": lambda: bw.GaussianNB(missing="ignore", calibrate=True).fit(
        table()[0][["normal", "bin", "angle"]], table()[1]
    ),
    "NaiveBayes, weights": lambda: bw.NaiveBayes(columns=MIXED, weights="learned", class_prior=[0.6, 0.3, 0.1]).fit(
        *table()
    ),
    "NaiveBayes, weights, a class gone": lambda: _without_last_class(bw.NaiveBayes(columns=MIXED, weights="learned")),
    "AODE, weights": lambda: _states(bw.AODE, weighting="mi", weights="learned"),
    "GaussianNB, weights": lambda: bw.GaussianNB(weights="learned").fit(*_whole()),
    "CategoricalNB, weights": lambda: bw.CategoricalNB(missing="ignore", weights="learned").fit(
        table()[0][[HOSTILE, "flag"]], table()[1]
    ),
    "MultinomialNB, weights": lambda: bw.MultinomialNB(weights="learned").fit(*counts()),
    "MultinomialNB, weights by root": lambda: _read_by(MAKERS["MultinomialNB, weights"], {"by_root": True}),
    "GaussianClassifier": lambda: bw.GaussianClassifier().fit(*_whole()),
    "GaussianClassifier, shared": lambda: bw.GaussianClassifier(covariance="shared").fit(*_whole()),
    "GaussianClassifier, diagonal": lambda: bw.GaussianClassifier(covariance="diagonal").fit(*_whole()),
    "GaussianClassifier, Student": lambda: bw.GaussianClassifier(
        prior=bw.NormalInverseWishart(np.zeros(3), covariance=np.eye(3), degrees=5.0)
    ).fit(*_whole()),
    "GaussianClassifier, bound": lambda: bw.GaussianClassifier().fit(*_bound()),
    "GaussianClassifier, shared and bound": lambda: bw.GaussianClassifier(covariance="shared").fit(*_bound()),
    "MultinomialNB": lambda: bw.MultinomialNB(calibrate=True).fit(*counts()),
    "ComplementNB": lambda: bw.ComplementNB().fit(*counts()),
    "BernoulliNB": lambda: bw.BernoulliNB(binarize=1.0).fit(*counts()),
    "CategoricalNB": lambda: bw.CategoricalNB().fit(*counts()),
    "CategoricalNB, missing": lambda: bw.CategoricalNB(missing="ignore").fit(table()[0][[HOSTILE, "flag"]], table()[1]),
    "NaiveBayes, dates": lambda: bw.NaiveBayes().fit(*dated()),
    "NaiveBayes, words": lambda: bw.NaiveBayes(columns={"line": "multinomial"}).fit(*texts()),
    "NaiveBayes, weighed words": lambda: bw.NaiveBayes(weights="learned").fit(*texts()),
    "NaiveBayes, weighed words by root, no pairs": lambda: _read_by(
        MAKERS["NaiveBayes, weighed words"], {"amount": "counts"}, {"by_root": True}, {"alone": True}
    ),
    "NaiveBayes, marks": lambda: bw.NaiveBayes(columns={"line": "marks"}, calibrate=True).fit(*texts()),
}
KINDS = tuple(MAKERS)
OF_TEXT = (
    "NaiveBayes, words",
    "NaiveBayes, weighed words",
    "NaiveBayes, weighed words by root, no pairs",
    "NaiveBayes, marks",
)

fitted = cache(lambda kind: MAKERS[kind]())


def rows_of(kind):
    """Rows to ask a model of a kind: its own columns, with holes and unseen cells where it lets them in."""
    model = fitted(kind)
    names = list(model.feature_names_in_)
    for frame in (dated()[0], days(), texts()[0], counts()[0]):
        if names == list(frame.columns):
            return frame[-60:]
    if kind == "KDB, pairs":
        needed = [parent for own in model.parents_.values() for parent in own]
        return pd.concat([pairs()[0][:3].assign(**dict.fromkeys(needed)), pairs()[0][:7]])
    if "bound" in kind:
        return _bound()[0][:60]
    full = kind.startswith("GaussianClassifier") and "diagonal" not in kind  # of whole rows alone
    if full or getattr(model, "missing", "error") == "error":
        return _whole()[0][:60]
    return asked()[names]


def cells_of(rows):
    """Rows as dicts of plain Python values."""
    found = []
    for row in rows.astype(object).to_dict("records"):
        plain = {name: getattr(cell, "item", lambda cell=cell: cell)() for name, cell in row.items()}
        found.append(
            {name: None if cell is pd.NA or cell is pd.NaT or cell != cell else cell for name, cell in plain.items()}
        )
    return found
