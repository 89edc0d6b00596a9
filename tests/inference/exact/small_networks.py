"""Small random networks, and their answers by enumeration of the full joint distribution."""

import numpy as np
from hypothesis import strategies as st

from bayeswater.inference.exact.factors import Factors


def random_network(rng, n_variables, most_states=4, most_parents=3, zeros=0.25):
    """Cards from 1, arcs from lower to higher numbers in a shuffled naming, some entries exactly zero."""
    name = rng.permutation(n_variables)
    cards = rng.integers(1, most_states + 1, size=n_variables)
    parents, tables = [()] * n_variables, [None] * n_variables
    for i, v in enumerate(name.tolist()):
        n_parents = min(i, int(rng.integers(0, most_parents + 1)))
        parents[v] = tuple(rng.choice(name[:i], size=n_parents, replace=False).tolist())
        table = rng.random((*cards[list(parents[v])], cards[v]))
        table[rng.random(table.shape) < zeros] = 0.0
        table[table.sum(axis=-1) == 0] = 1.0
        tables[v] = table / table.sum(axis=-1, keepdims=True)
    return Factors(tuple(cards.tolist()), tuple(parents), tuple(tables))


def random_rows(rng, factors, n_rows, observed):
    """Codes of any states, so that evidence is often impossible; a share of cells is observed."""
    cards = np.array(factors.cards)
    codes = rng.integers(0, cards, size=(n_rows, len(cards)))
    return np.where(rng.random(codes.shape) < observed, codes, cards)


def chain(n_variables, stay=0.9):
    """A chain of two states: each is the one before with probability `stay`."""
    step = np.array([[stay, 1 - stay], [1 - stay, stay]])
    parents = ((), *((v,) for v in range(n_variables - 1)))
    return Factors((2,) * n_variables, parents, (np.array([0.5, 0.5]), *[step] * (n_variables - 1)))


def star(table, n_children):
    """A class with independent children of the same table, the class being variable 0."""
    card = len(table)
    return Factors(
        (card, *[table.shape[1]] * n_children),
        ((), *[(0,)] * n_children),
        (np.full(card, 1 / card), *[table] * n_children),
    )


def full_joint(factors):
    """P(x) of every x, one axis a variable."""
    joint = np.ones(factors.cards)
    n = factors.n_variables
    for v, table in enumerate(factors.tables):
        scope = (*factors.parents[v], v)
        shape = [factors.cards[u] if u in scope else 1 for u in range(n)]
        joint = joint * table.transpose(np.argsort(scope)).reshape(shape)
    return joint


def with_evidence(factors, joint, row, soft=None):
    """Multiply the joint distribution by the evidence of a row."""
    for v, code in enumerate(row):
        shape = [-1 if u == v else 1 for u in range(factors.n_variables)]
        if code < factors.cards[v]:
            joint = joint * (np.arange(factors.cards[v]) == code).reshape(shape)
        if soft and v in soft:
            joint = joint * soft[v].reshape(shape)
    return joint


def marginal(joint, targets):
    """Sum over all but the targets, axes in the order of the targets; not normalised."""
    rest = tuple(v for v in range(joint.ndim) if v not in targets)
    return joint.sum(axis=rest).transpose(np.argsort(np.argsort(targets)))


def evidence_of(factors, row):
    """The observed variables of a row as a mapping."""
    return {v: int(code) for v, code in enumerate(row) if code < factors.cards[v]}


seeds = st.integers(0, 2**32 - 1)
shares = st.sampled_from([0.0, 0.3, 0.7, 1.0])
