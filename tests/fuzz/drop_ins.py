"""The five drop-ins against the long-double oracle, over dtypes, layouts, sparse forms, weights and settings."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from tests.fuzz.forms import N_LAYOUTS, cast, laid_out, made_sparse
from tests.fuzz.judging import Refused, ours
from tests.fuzz.soundness import require_sound
from tests.oracles import long_double

from bayeswater import BernoulliNB, CategoricalNB, ComplementNB, GaussianNB, MultinomialNB

CLOSE = 1e-12
"""Share of the terms of a log-joint that all its roundings together may cost."""
READABLE = 1e-3
"""Beyond this rounding, that a table far from zero brings about, nothing is compared."""


@dataclass
class Drawn:
    """A table, its labels and weights, rows to ask for, and how many classes there are."""

    X: Any
    y: Any
    weight: Any
    queries: Any
    settings: dict[str, Any] = field(default_factory=dict)


def case(seed: int) -> None:
    rng = np.random.default_rng(seed)
    model = (GaussianNB, MultinomialNB, ComplementNB, BernoulliNB, CategoricalNB)[rng.integers(5)]
    drawn = draw(rng, model)
    X = drawn.X = cast(rng, drawn.X)
    queries = drawn.queries = cast(rng, drawn.queries)
    weight = drawn.weight
    if model in (MultinomialNB, ComplementNB, BernoulliNB) and "missing" not in drawn.settings and rng.random() < 0.4:
        X, queries = made_sparse(rng, X), made_sparse(rng, queries)
    else:
        layout = int(rng.integers(N_LAYOUTS))
        X, queries = laid_out(X, layout), laid_out(queries, layout)
    labels = np.array(["b", "a", "d", "c", "e"])[drawn.y] if rng.random() < 0.5 else drawn.y
    try:
        with ours():
            fitted = model(**drawn.settings).fit(X, labels, weight)
            joint = fitted.predict_joint_log_proba(queries)
            shares = fitted.predict_proba(queries)
            pieces = in_pieces(rng, model(**drawn.settings), drawn, labels).predict_joint_log_proba(drawn.queries)
    except Refused as refusal:
        require_a_reason(drawn, model, str(refusal))
        return
    counted = slice(None) if weight is None else np.asarray(weight) > 0
    classes, codes = np.unique(labels[counted], return_inverse=True)
    assert fitted.classes_.tolist() == classes.tolist()
    exact, size, log_prior = expected(model, drawn, codes, len(classes))
    bound = CLOSE * size
    told = bound < READABLE
    for found in (joint, pieces):
        require_close(found, exact, bound, told)
    of_row = told.all(axis=1)
    gap = np.abs(shares - long_double.posterior(exact, log_prior))[of_row]
    assert (gap <= 4 * bound[of_row].max(axis=1, keepdims=True)).all(), f"a posterior is off by {gap.max():.3g}"
    require_sound(rng, fitted, queries, 4 * bound.max(axis=1))


# ---------------------------------------------------------------------- drawing


def draw(rng: np.random.Generator, model: type) -> Drawn:
    n, d = int(rng.choice([1, 2, 5, 20, 80, 700], p=[0.05, 0.1, 0.2, 0.3, 0.3, 0.05])), int(rng.integers(1, 7))
    n_classes = int(rng.integers(1, 6))
    y = rng.integers(0, n_classes, n)
    settings: dict[str, Any] = {}
    if model is GaussianNB:
        X, queries = (numbers(rng, y, m, d) for m in (n, 30))
        settings["var_smoothing"] = float(rng.choice([1e-9, 1e-12, 1e-3, 1.0]))
    elif model is CategoricalNB:
        n_states = rng.integers(1, 6, d)
        X, queries = (rng.integers(0, n_states, (m, d)).astype(float) for m in (n, 30))
        queries[rng.random(queries.shape) < 0.05] += 3  # never seen
        if rng.random() < 0.3:
            settings["min_categories"] = int(rng.integers(1, 8))
    else:
        X, queries = (counts(rng, m, d) for m in (n, 30))
    if model is BernoulliNB:
        settings["binarize"] = float(rng.choice([0.0, 0.5, 2.0]))
    if model in (GaussianNB, BernoulliNB, CategoricalNB) and rng.random() < 0.4:
        settings["missing"] = "ignore"
        X, queries = (np.where(rng.random(cells.shape) < 0.2, np.nan, cells) for cells in (X, queries))
    if model is not GaussianNB:
        alphas = [1.0, 0.5, 1e-10, 1e-3, 1e5, *([0.0] if model is not ComplementNB else [])]
        settings["alpha"] = float(rng.choice(alphas)) if rng.random() < 0.8 else rng.choice(alphas, d)
    present = np.unique(y)
    if rng.random() < 0.2:
        prior = rng.dirichlet(np.ones(len(present)))
        settings["priors" if model is GaussianNB else "class_prior"] = prior / prior.sum()
    elif model is not GaussianNB and rng.random() < 0.2:
        settings["fit_prior"] = False
    elif model is not ComplementNB and rng.random() < 0.2:
        settings["class_alpha"] = float(rng.choice([0.5, 1.0, 1e6]))
    if model is ComplementNB:
        settings["norm"] = bool(rng.random() < 0.3)
    return Drawn(X, y, weights(rng, y), queries, settings)


def numbers(rng: np.random.Generator, y: Any, n: int, d: int) -> Any:
    """Columns of any units, some far from zero, some constant."""
    column = np.random.default_rng(len(y) + 7 * d)  # the same for the rows learned from and those asked for
    scale = 10.0 ** column.uniform(-4, 4, d) * (column.random(d) > 0.1)
    shift = scale * column.choice([0.0, 1.0, 1e3, 1e5], d, p=[0.4, 0.3, 0.2, 0.1])
    steps = rng.normal(size=(n, d)) + (y[:n, None] * column.random(d) if n == len(y) else 0.0)
    return shift + scale * (np.round(steps) if column.random() < 0.2 else steps)


def counts(rng: np.random.Generator, n: int, d: int) -> Any:
    found = rng.poisson(rng.choice([0.1, 1.0, 30.0]), (n, d)).astype(float)
    return found * rng.choice([1.0, 1.0, 0.25, 1e-5, 1e9])


def weights(rng: np.random.Generator, y: Any) -> Any:
    match rng.integers(6):
        case 0:
            return rng.integers(1, 5, len(y))
        case 1:
            some = rng.integers(0, 3, len(y))
            # Every class keeps a row, so that a given prior has a share for each.
            some[np.unique(y, return_index=True)[1]] = 1
            return some.astype(rng.choice(["i1", "u2", "f4", "f8"]))
        case 2:
            return rng.random(len(y)) + 0.1
        case 3:
            return 10.0 ** rng.uniform(-200, 100, len(y))
        case 4:
            return 10.0 ** rng.uniform(-9, 9, len(y))
    return None


# ---------------------------------------------------------------------- judging


def expected(model: type, drawn: Drawn, codes: Any, n_classes: int) -> tuple[Any, Any, Any]:
    """Log-joints by the oracle, the size of their terms, and the class prior."""
    weight = np.ones(len(drawn.y)) if drawn.weight is None else np.asarray(drawn.weight)
    counted = weight > 0
    X, queries = (np.asarray(cells).astype(np.longdouble) for cells in (drawn.X[counted], drawn.queries))
    settings, d = drawn.settings, drawn.X.shape[1]
    membership = long_double.indicator(codes, n_classes, weight[counted])
    given = settings.get("priors", settings.get("class_prior"))
    if given is not None:
        log_prior = long_double.log(long_double.long(given))
    elif not settings.get("fit_prior", True):
        log_prior = long_double.log(long_double.long(np.full(n_classes, 1.0)) / n_classes)
    else:
        log_prior = long_double.log_shares(membership.sum(axis=1), long_double.LONG(settings.get("class_alpha", 0.0)))
    alpha = np.broadcast_to(settings.get("alpha", 1.0), d)
    if model is GaussianNB:
        exact, size = long_double.gaussian(X, membership, queries, log_prior, settings["var_smoothing"])
    elif model is MultinomialNB:
        exact, size = long_double.multinomial(X, membership, queries, log_prior, alpha)
    elif model is ComplementNB:
        exact, size = long_double.complement(X, membership, queries, log_prior, alpha, settings["norm"])
        log_prior = np.zeros(n_classes)
    elif model is BernoulliNB:
        exact, size = long_double.bernoulli(X, membership, queries, log_prior, alpha, settings["binarize"])
    else:
        seen = np.nanmax(np.where(np.isnan(X), -1, X), axis=0).astype(int) + 1
        n_states = np.maximum(seen, settings.get("min_categories", 0))
        exact, size = long_double.categorical(X, membership, queries, log_prior, alpha, n_states)
    return exact, size, log_prior


def require_close(found: Any, exact: Any, bound: Any, told: Any) -> None:
    """Infinite together, and else as near as rounding allows; never NaN."""
    assert not np.isnan(found).any(), "a log-joint is NaN"
    assert (np.isneginf(found) == np.isneginf(exact))[told].all(), "a class is impossible, or should be"
    finite = np.isfinite(exact) & told
    gap = np.abs(np.subtract(found, exact, where=finite, out=np.zeros_like(exact)))
    worst = np.unravel_index(np.argmax(gap - bound), gap.shape)
    assert (gap <= bound).all(), (
        f"a log-joint is {found[worst]!r}, not {exact[worst]!r}, and may be off by {bound[worst]:.3g}"
    )


def in_pieces(rng: np.random.Generator, model: Any, drawn: Drawn, labels: Any) -> Any:
    """Learn the same rows in batches, in another order."""
    batches = np.array_split(rng.permutation(len(labels)), rng.integers(1, 4))
    weight = drawn.weight
    counted = labels if weight is None else labels[np.asarray(weight) > 0]
    for rows in batches:
        of_batch = None if weight is None else np.asarray(weight)[rows]
        if len(rows) and (of_batch is None or of_batch.any()):
            model.partial_fit(drawn.X[rows], labels[rows], np.unique(counted), of_batch)
    return model


def require_a_reason(drawn: Drawn, model: type, words: str) -> None:
    """A refusal that these tables can bring about: nothing in them is wrong but their sizes."""
    reasons = ("overflow", "underflow", "too large", "would take", "not whole", "codes of categories", "digits")
    assert any(reason in words for reason in reasons), f"{model.__name__} refused a sound table: {words}"
