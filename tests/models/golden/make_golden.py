"""Makes golden model files: a small model of every kind that can be saved, with what it answers when it is loaded.

    python -m tests.models.golden.make_golden tests/models/golden/COMMIT           # with the code of that commit
    python -m tests.models.golden.make_golden tests/models/golden/COMMIT --since   # with a later one: what it changed

A folder that is named in `LATER` holds the models that are named there, and any other one all.

A later version loads the files and must answer the same (test_golden_files.py), but for what was changed on purpose:
"since" in the JSON holds it. Of 93f73a2 these are: an empty cell is a state in a column of one value; pairs of columns
that were told by different rows and contradict one another widen a Gaussian class (the shrunken one with holes); a
calibration leaves a row of which nothing is known at the class prior, and follows a prior that changes afterwards.
"""

import json
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import bayeswater
from bayeswater import (
    A2DE,
    AODE,
    KDB,
    SKDB,
    SPODE,
    TAN,
    BayesDecision,
    BayesEnsemble,
    BayesianNetwork,
    BernoulliNB,
    Beta,
    Calibrated,
    CategoricalNB,
    ComplementNB,
    Dirichlet,
    Friedman,
    GaussianClassifier,
    GaussianNB,
    MultinomialNB,
    NaiveBayes,
    NetworkClassifier,
    NoisyOr,
    NormalInverseGamma,
    NormalInverseWishart,
)

N_ROWS = 90
N_ASKED = 6
DATES = "opened"
WORDS = {"ham": "meeting lunch team report today noon", "spam": "prize win offer now money today", "eggs": "rain sun"}
QUESTIONS = ("predict", "predict_proba", "predict_joint_log_proba", "log_evidence")

Table = tuple[Any, Any]


def mixed(classes: tuple[str, ...] = ("ham", "spam")) -> tuple[pd.DataFrame, Any]:
    """Columns of all families, with holes."""
    rng = np.random.default_rng(len(classes))
    k = rng.integers(0, len(classes), N_ROWS)
    y = np.array(classes)[k]
    frame = pd.DataFrame(
        {
            "height": rng.normal(10 + 3 * k, 2).round(2),
            "income": np.exp(rng.normal(6 + k, 0.6)).round(2),
            "visits": rng.poisson(1 + 2 * k),
            "level": np.where(rng.random(N_ROWS) < 0.5, rng.normal(-8, 1, N_ROWS), rng.normal(8 - 3 * k, 1)).round(3),
            "colour": rng.choice(["red", "green", "blue"], N_ROWS),
            "flag": rng.random(N_ROWS) < 0.3 + 0.2 * k,
            DATES: pd.Timestamp("2024-02-01") + pd.to_timedelta(rng.integers(0, 400, N_ROWS), "D"),
            "note": [" ".join(rng.choice(WORDS[label].split(), 5)) for label in y],
        }
    )
    for name in ("height", "income", "level", "colour", DATES):
        frame.loc[rng.random(N_ROWS) < 0.08, name] = None
    return frame, y


def states(n_classes: int = 3) -> tuple[pd.DataFrame, Any]:
    """Categories that depend on each other, a number, and holes."""
    rng = np.random.default_rng(10 + n_classes)
    k, a, b = rng.integers(0, n_classes, N_ROWS), rng.integers(0, 3, N_ROWS), rng.integers(0, 2, N_ROWS)
    c = np.where(rng.random(N_ROWS) < 0.8, (a + k) % 3, rng.integers(0, 3, N_ROWS))
    d = np.where(rng.random(N_ROWS) < 0.8, (b + c) % 2, rng.integers(0, 2, N_ROWS))
    frame = pd.DataFrame({name: np.array(list("uvw"))[code] for name, code in zip("abcd", (a, b, c, d), strict=True)})
    frame["height"] = rng.normal(10 + 2 * k, 2).round(2)
    for name in ("a", "c", "height"):
        frame.loc[rng.random(N_ROWS) < 0.08, name] = None
    return frame, k * 10


def one_value() -> tuple[pd.DataFrame, Any]:
    """A column of one value and holes, beside others."""
    frame, y = states()
    return frame.assign(once=np.where(np.random.default_rng(0).random(N_ROWS) < 0.2 + 0.02 * y, "t", None)), y


def named() -> tuple[pd.DataFrame, Any]:
    """A column that nearly names the rows, beside others."""
    frame, y = states()
    return frame.assign(ticket=[f"t{i}" for i in np.random.default_rng(1).integers(0, 45, N_ROWS)]), y


def numbers(holes: float = 0.0) -> Table:
    rng = np.random.default_rng(20)
    k = rng.integers(0, 3, N_ROWS)
    X = (rng.normal(size=(N_ROWS, 4)) @ rng.normal(size=(4, 4)) + k[:, None]).round(3)
    X[rng.random(X.shape) < holes] = np.nan
    return X, np.array(["ash", "birch", "cedar"])[k]


def counts() -> Table:
    rng = np.random.default_rng(30)
    k = rng.integers(0, 3, N_ROWS)
    return rng.poisson(rng.gamma(1.0, 1.0, (3, 6))[k]), k


def texts() -> Table:
    frame, y = mixed(("ham", "spam", "eggs"))
    return frame[["note"]], y


def only(*names: str) -> Callable[[], Table]:
    def table() -> Table:
        frame, y = mixed()
        return frame[list(names)], y

    return table


FEW = {"aode": 1, "gaussian": 1, "trees-sqrt": 2, "trees-all": 1}
STATED = {
    "colour": {"prior": Dirichlet({"red": 2, "black": 1}, default=0.5)},
    "flag": {"prior": Beta(2, 8)},
    "height": {"family": "gaussian", "prior": NormalInverseGamma(mean=10.0, scale=3.0)},
    "level": {"cuts": (-5.0, 0.0, 5.0)},
    "income": {"bins": 4},
    "note": "ignored",
}

MODELS: dict[str, tuple[Callable[[], Any], Callable[[], Table]]] = {
    "gaussian_nb": (GaussianNB, numbers),
    "gaussian_nb_missing": (lambda: GaussianNB(missing="ignore", class_alpha=1), lambda: numbers(0.1)),
    "multinomial_nb": (MultinomialNB, counts),
    "complement_nb": (lambda: ComplementNB(norm=True, alpha=0.5), counts),
    "bernoulli_nb": (lambda: BernoulliNB(binarize=1.0, columns={0: {"prior": Beta(2, 8)}}), counts),
    "categorical_nb": (lambda: CategoricalNB(columns={1: {"prior": Dirichlet.m_estimate(4)}}), counts),
    "naive_bayes": (NaiveBayes, mixed),
    "naive_bayes_calibrated": (lambda: NaiveBayes(calibrate=True), mixed),
    "naive_bayes_calibrated_3": (lambda: NaiveBayes(calibrate=True, alpha=0.5), lambda: mixed(("ham", "spam", "eggs"))),
    "naive_bayes_state": (lambda: NaiveBayes(missing="state", class_prior=[0.2, 0.3, 0.5]), states),
    "naive_bayes_one_value": (NaiveBayes, one_value),
    "naive_bayes_stated": (lambda: NaiveBayes(columns=STATED), mixed),
    "naive_bayes_texts": (NaiveBayes, texts),
    "naive_bayes_mdl": (lambda: NaiveBayes(columns={"height": "mdl"}), only("height", "colour")),
    **{
        f"naive_bayes_{family}": (lambda family=family: NaiveBayes(family=family), only(*names))  # type: ignore[misc]
        for family, names in {
            "gaussian": ("height", "level"),
            "lognormal": ("income",),
            "poisson": ("visits",),
            "binned": ("height", "level"),
        }.items()
    },
    **{
        f"naive_bayes_{reading}": (lambda reading=reading: NaiveBayes(columns={"note": reading}), only("note", "flag"))  # type: ignore[misc]
        for reading in ("multinomial", "complement", "marks")
    },
    "gaussian_classifier": (GaussianClassifier, numbers),
    "gaussian_classifier_shared": (lambda: GaussianClassifier(covariance="shared", shrinkage="oas"), numbers),
    "gaussian_classifier_auto": (lambda: GaussianClassifier(shrinkage="auto", calibrate=True), numbers),
    "gaussian_classifier_friedman": (lambda: GaussianClassifier(shrinkage=Friedman(0.3, 0.2)), lambda: numbers(0.1)),
    "gaussian_classifier_ledoit_wolf": (lambda: GaussianClassifier(shrinkage="ledoit_wolf"), numbers),
    "gaussian_classifier_prior": (lambda: GaussianClassifier(prior=NormalInverseWishart()), numbers),
    "gaussian_classifier_diagonal": (
        lambda: GaussianClassifier(covariance="diagonal", missing="em"),
        lambda: numbers(0.1),
    ),
    "spode": (SPODE, states),
    "tan": (TAN, states),
    "tan_one_value": (TAN, one_value),
    "tan_calibrated": (lambda: TAN(calibrate=True), lambda: states(2)),
    "aode": (AODE, states),
    "aode_select": (lambda: AODE(select=True, weighting="mi", calibrate=True), states),
    "a2de": (lambda: A2DE(missing="state"), states),
    "kdb": (KDB, states),
    "kdb_calibrated": (lambda: KDB(1, calibrate=True, smoothing="m-estimate"), lambda: states(2)),
    "skdb": (lambda: SKDB(2), states),
    "ensemble": (lambda: BayesEnsemble(random_state=0, members=FEW), states),
    "ensemble_best": (
        lambda: BayesEnsemble("best", random_state=0, members={**FEW, "kdb": 1, "trees-half": 1}),
        numbers,
    ),
    "network_classifier": (NetworkClassifier, states),
    "network_classifier_tree": (lambda: NetworkClassifier("tree"), only("height", "colour", "flag")),
}


LATER: dict[str, dict[str, tuple[Callable[[], Any], Callable[[], Table]]]] = {
    "0c0cb1c": {  # what can be saved since the class prior is one object
        "calibrated": (lambda: Calibrated(GaussianNB(), method="isotonic"), numbers),
        "decision": (lambda: BayesDecision(NaiveBayes(), loss=[[0, 5], [1, 0]], calibrate="beta"), mixed),
        "weighted_classes": (lambda: NaiveBayes(class_weight={"ham": 3.0}), mixed),
    },
    "d695fa7": {  # the last that took what names the rows as a parent
        "aode_named": (AODE, named),
        "aode_named_select": (lambda: AODE(select=True, calibrate=True), named),
        "aode_named_weights": (lambda: AODE(weights="learned"), named),
        "a2de_named": (A2DE, named),
        "ensemble_named": (lambda: BayesEnsemble(random_state=0, members={"aode": 2}), named),
    },
}
"""Models whose files were written by the code of one commit."""


def network() -> BayesianNetwork:
    return BayesianNetwork(
        "season -> rain -> wet <- sprinkler; wet -> slippery",
        {
            "season": {2024: 0.3, 2025: 0.7},
            "rain": [[0.1, 0.9], [0.4, 0.6]],
            "sprinkler": [0.4, 0.6],
            "wet": NoisyOr({"rain": 0.7, "sprinkler": 0.4}, leak=0.05, present="yes"),
            "slippery": [[0.8, 0.2], [0.15, 0.85]],
        },
        states={key: ["yes", "no"] for key in ["rain", "sprinkler", "slippery"]} | {"wet": ["no", "yes"]},
    )


def written_rows(X: Any) -> Any:
    """The first rows as JSON, and a row of which nothing is known, if X is a frame."""
    if isinstance(X, np.ndarray):
        return X[:N_ASKED].tolist()
    text = X[:N_ASKED].astype({DATES: str} if DATES in X else {})
    return {
        name: [*(None if pd.isna(cell) or cell == "NaT" else cell for cell in text[name].tolist()), None]
        for name in text
    }


def read_rows(written: Any) -> Any:
    """Rows as `written_rows` wrote them."""
    if isinstance(written, dict):
        return pd.DataFrame({n: pd.to_datetime(cells) if n == DATES else cells for n, cells in written.items()})
    return np.array(written, dtype=float)


def answers(model: Any, rows: Any, labels: list[Any]) -> dict[str, Any]:
    """What a loaded model says of rows, of itself, and after it has learned and forgotten some; None is a refusal."""
    told: dict[str, Any] = {"classes_": model.classes_.tolist(), "n_parameters": getattr(model, "n_parameters", None)}
    for question in QUESTIONS:
        told[question] = _answer(lambda question=question: getattr(model, question)(rows))  # type: ignore[misc]
    if hasattr(model, "columns_"):
        told["families"] = [[column.name, column.family] for column in model.columns_]
    known = rows[: len(labels)]
    told["loo"] = _answer(lambda: model.loo_predict_log_proba(known, labels))
    told["more"] = _answer(lambda: model.partial_fit(known, labels).predict_proba(rows))
    told["less"] = _answer(lambda: model.forget(known, labels).forget(known, labels).predict_proba(rows))
    return told


def _answer(question: Callable[[], Any]) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return question().tolist()
        except (AttributeError, bayeswater.BayesError):
            return None


def network_answers(net: BayesianNetwork) -> dict[str, Any]:
    """What a loaded network says."""
    rows = pd.DataFrame({"slippery": ["yes", "no", None], "season": [2024, 2025, 2025]})
    return {
        "edges": [list(edge) for edge in net.edges],
        "states": {name: list(net.states(name)) for name in net.names},
        "posteriors": {name: net.posteriors(rows)[name].tolist() for name in ("rain", "wet", "sprinkler")},
        "log_evidence": net.log_evidence(rows).tolist(),
    }


def near(found: Any, told: Any, tolerance: float = 1e-12) -> bool:
    """Whether answers are equal: numbers within `tolerance` of themselves and of 1, all else exactly."""
    if isinstance(told, float) and isinstance(found, float):
        return found == told or (found != found and told != told) or abs(found - told) <= tolerance * (1 + abs(told))
    if isinstance(told, list) and isinstance(found, list):
        return len(found) == len(told) and all(near(*pair, tolerance) for pair in zip(found, told, strict=True))
    if isinstance(told, dict) and isinstance(found, dict):
        return found.keys() == told.keys() and all(near(found[key], told[key], tolerance) for key in told)
    return type(found) is type(told) and bool(found == told)


def answers_of(path: Path, document: dict[str, Any]) -> dict[str, Any]:
    """What a model file answers to the rows of the document beside it."""
    model = bayeswater.load(path)
    if isinstance(model, BayesianNetwork):
        return network_answers(model)
    return answers(model, read_rows(document["rows"]), document["labels"])


def make(folder: Path) -> None:
    """Fit and save all models, or those that `LATER` names, and write down their answers."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, (make_model, table) in LATER.get(folder.name, MODELS).items():
        X, y = table()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bayeswater.save(make_model().fit(X, y), folder / f"{name}.bayes")
        _write(folder / f"{name}.bayes", {"rows": written_rows(X), "labels": y[:N_ASKED].tolist()})
    if folder.name in LATER:
        return
    bayeswater.save(network(), folder / "network.bayes")
    _write(folder / "network.bayes", {})


def note_changes(folder: Path) -> None:
    """Write down what this code answers otherwise than that which made the files."""
    for path in sorted(folder.glob("*.json")):
        document = json.loads(path.read_text(encoding="utf-8"))
        found = answers_of(path.with_suffix(".bayes"), document)
        told = document["answers"]
        document["since"] = {key: found[key] for key in found if not near(found[key], told[key])}
        if not document["since"]:
            del document["since"]
        path.write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")


def _write(path: Path, document: dict[str, Any]) -> None:
    document["answers"] = answers_of(path, document)
    path.with_suffix(".json").write_text(json.dumps(document, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    if "--since" in sys.argv:
        note_changes(Path(sys.argv[1]))
    else:
        make(Path(sys.argv[1]))
