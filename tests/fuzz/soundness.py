"""What holds of every fitted model, whatever it has learned from."""

import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from tests.fuzz.judging import asked, ours

from bayeswater import load, save

CLOSE = 1e-9


def require_sound(rng: np.random.Generator, model: Any, X: Any, rounding: Any = 0.0) -> None:
    """Posteriors are finite and sum to one, `predict` takes the largest, a file gives them back, reasons add up."""
    with ours():
        shares = model.predict_proba(X)
        chosen = model.predict(X)
        logs = model.predict_log_proba(X)
    require_posteriors(model.classes_, shares, chosen, rounding)
    assert not np.isnan(logs).any(), "a logarithm of a posterior is NaN"
    np.testing.assert_allclose(np.exp(logs), shares, atol=1e-12, err_msg="logarithms of posteriors are of others")
    require_same_after_saving(model, X, shares)
    require_reasons_add_up(model, first_rows(X, 3), shares[:3])
    require_samples(rng, model)
    if hasattr(model, "tables"):
        asked(model.tables)


def require_posteriors(classes: Any, shares: Any, chosen: Any, rounding: Any = 0.0) -> None:
    """Shares of the classes, the largest of which, but for `rounding`, is chosen."""
    assert shares.shape[1:] == (len(classes),)
    assert np.isfinite(shares).all(), "a posterior is not finite"
    assert (shares >= 0).all()
    np.testing.assert_allclose(shares.sum(axis=1), 1.0, atol=CLOSE, err_msg="posteriors do not sum to one")
    place = {label: k for k, label in enumerate(classes.tolist())}
    taken = shares[np.arange(len(chosen)), [place[label] for label in np.asarray(chosen).tolist()]]
    assert (taken >= shares.max(axis=1) - CLOSE - rounding).all(), "predict is not the likeliest class"


def require_same_after_saving(model: Any, X: Any, shares: Any) -> None:
    with tempfile.TemporaryDirectory() as folder, ours():
        path = Path(folder) / "model.bayes"
        save(model, path)
        again = load(path)
        np.testing.assert_array_equal(again.predict_proba(X), shares, err_msg="a loaded model answers otherwise")
        save(again, Path(folder) / "again.bayes")
        assert (Path(folder) / "again.bayes").read_bytes() == path.read_bytes(), "a loaded model is saved otherwise"


def require_reasons_add_up(model: Any, X: Any, shares: Any) -> None:
    if not hasattr(model, "explain"):
        return
    explanations = asked(lambda: model.explain(X))
    if explanations is None:
        return
    with ours():
        for explanation, of_row in zip(explanations, shares, strict=True):
            text, document = str(explanation), explanation.to_dict()
            json.dumps(document, allow_nan=False).encode()
            text.encode()
            assert "+nan" not in text, f"an explanation says NaN:\n{text}"
            k = model.classes_.tolist().index(explanation.prediction)
            stated = explanation.calibrated_probability
            stated = explanation.probability if stated is None else stated
            assert abs(stated - of_row[k]) <= CLOSE, f"explained by {stated}, predicted with {of_row[k]}"
            parts = np.array([explanation.intercept, *(one.contribution for one in explanation.contributions)])
            assert not np.isnan(parts).any(), "a contribution is NaN"
            if np.isfinite(parts).all() and not explanation.is_impossible:
                bound = CLOSE * (1 + np.abs(parts).sum())
                assert abs(parts.sum() - explanation.log_odds) <= bound, "contributions do not sum to the log-odds"


def require_samples(rng: np.random.Generator, model: Any) -> None:
    """Rows drawn have the columns that were learned, and can be predicted."""
    if not hasattr(model, "sample"):
        return
    drawn = asked(lambda: model.sample(5, random_state=int(rng.integers(100))))
    if drawn is None:
        return
    rows, labels = drawn
    assert set(np.asarray(labels).tolist()) <= set(model.classes_.tolist())
    names = [str(name) for name in getattr(rows, "column_names", getattr(rows, "columns", []))]
    if hasattr(model, "feature_names_in_"):
        assert names == [str(name) for name in model.feature_names_in_], "samples have other columns"
    with ours():
        shares = model.predict_proba(rows)
    assert np.isfinite(shares).all(), "a posterior of a drawn row is not finite"


def first_rows(X: Any, n: int) -> Any:
    """The first rows of a table in any form."""
    if hasattr(X, "slice"):
        return X.slice(0, n)
    if hasattr(X, "iloc"):
        return X.iloc[:n]
    return X.tocsr()[:n] if hasattr(X, "tocsr") else X[:n]
