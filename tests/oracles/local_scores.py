"""Scores of families straight from their definitions, in exact arithmetic or fifty digits."""

from collections import Counter
from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import combinations, product
from math import comb

import mpmath
import numpy as np

from bayeswater.typing import Array


def family_score(
    codes: Array, n_states: list[int], y: int, parents: list[int], name: str, setting: float = 1.0
) -> float:
    """Score of y given its parents, by counting rows one by one."""
    with mpmath.workdps(50):
        rows = [tuple(row) for row in codes.T.tolist()]
        cells = Counter((tuple(row[p] for p in parents), row[y]) for row in rows)
        configurations = Counter(tuple(row[p] for p in parents) for row in rows)
        q, r, n = int(np.prod([n_states[p] for p in parents])), n_states[y], len(rows)
        every = list(product(*(range(n_states[p]) for p in parents)))
        likelihood = sum(m * mpmath.log(mpmath.mpf(m) / configurations[j]) for (j, _), m in cells.items())
        if name in ("loglik", "aic", "bic"):
            price = {"loglik": 0, "aic": 1, "bic": mpmath.log(n) / 2}[name]
            return float(likelihood - price * q * (r - 1))
        if name == "fnml":
            return float(likelihood - sum(mpmath.log(regret(m, r)) for m in configurations.values()))
        if name == "qnml":
            return float(likelihood - mpmath.log(regret(n, q * r)) + mpmath.log(regret(n, q)))
        if name == "ebic":
            price = q * (r - 1) * mpmath.log(n) / 2 + 2 * len(parents) * mpmath.log(len(n_states))
            return float(likelihood - price)
        if name == "bdla":
            sizes = [mpmath.mpf(2) ** power for power in range(-2, 3)]
            total = mpmath.mpf(0)
            for j in every:
                each = [
                    mpmath.rf(size / q, configurations[j]) ** -1
                    * mpmath.fprod(mpmath.rf(size / (q * r), cells[j, k]) for k in range(r))
                    for size in sizes
                ]
                total += mpmath.log(sum(each) / len(sizes))
            return float(total)
        seen = q if name != "bds" else len(configurations)
        cell, row = {"k2": (1, r), "bdj": (mpmath.mpf(1) / 2, mpmath.mpf(r) / 2)}.get(
            name, (mpmath.mpf(setting) / (seen * r), mpmath.mpf(setting) / seen)
        )
        total = mpmath.mpf(0)
        for j in every:
            if name == "bds" and j not in configurations:
                continue
            total += mpmath.loggamma(row) - mpmath.loggamma(row + configurations[j])
            total += sum(mpmath.loggamma(cell + cells[j, k]) - mpmath.loggamma(cell) for k in range(r))
        return float(total)


def all_parents(n: int) -> Iterator[tuple[frozenset[int], ...]]:
    """Every directed acyclic graph of n nodes."""
    pairs = list(combinations(range(n), 2))
    for marks in product(range(3), repeat=len(pairs)):
        own = [set[int]() for _ in range(n)]
        for (a, b), mark in zip(pairs, marks, strict=True):
            if mark == 1:
                own[a].add(b)
            elif mark == 2:
                own[b].add(a)
        if is_acyclic(own):
            yield tuple(map(frozenset, own))


def is_acyclic(parents: Sequence[AbstractSet[int]]) -> bool:
    """Whether nodes without parents that remain can be taken away until none is left."""
    left = set(range(len(parents)))
    while free := {y for y in left if not parents[y] & left}:
        left -= free
    return not left


def random_parents(n: int, rng: np.random.Generator) -> tuple[frozenset[int], ...]:
    """A random directed acyclic graph with many arcs."""
    place = np.argsort(rng.permutation(n))
    return tuple(frozenset(x for x in range(n) if place[x] < place[y] and rng.random() < 0.7) for y in range(n))


def regret(n: int, r: int) -> mpmath.mpf:
    """C(n, r) as the sum of the greatest likelihoods of all tables of n rows, built up one state at a time."""
    one = [mpmath.mpf(1)] * (n + 1)

    def power(k: int, m: int) -> mpmath.mpf:
        return mpmath.mpf(1) if k == 0 else (mpmath.mpf(k) / m) ** k

    def joined(a: list[mpmath.mpf], b: list[mpmath.mpf]) -> list[mpmath.mpf]:
        return [
            sum((comb(m, k) * power(k, m) * power(m - k, m) * a[k] * b[m - k] for k in range(m + 1)), mpmath.mpf(0))
            for m in range(n + 1)
        ]

    found = one
    for _ in range(r - 1):
        found = joined(found, one)
    return found[n]
