"""Columns of states that depend on each other, as terms of a `ScoringForm`: trees, parents and super-parents."""

from dataclasses import replace
from functools import singledispatch
from math import prod
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError, ResourceLimitError
from bayeswater.exports.form import AverageTerm, GraphTerm, Term, TreeTerm
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.forest import Forest
from bayeswater.inference.parent_weights import implied_states
from bayeswater.inference.super_parents import SuperParents
from bayeswater.structure.mutual_information import mutual_information
from bayeswater.typing import Array

MOST_NUMBERS = 2**22
"""Numbers of all tables together, at most: some forty megabytes of text."""


@singledispatch
def terms_of_states(joint: Any) -> tuple[list[Term], Array]:
    """Give the terms of a joint, and what they are added to (n_classes,)."""
    raise ParameterError(
        f"a model that scores by {type(joint).__name__} cannot be exported; give an AODE, SPODE, TAN, KDB or SKDB"
    )


@terms_of_states.register
def _of_forest(joint: Forest) -> tuple[list[Term], Array]:
    tables = tuple(joint.log_conditional(j) for j in range(len(joint.parents)))
    _require_size(sum(table.size for table in tables))
    # A column that never had a value has no states: it adds nothing, and nobody depends on it.
    used = [j for j, table in enumerate(tables) if table.shape[1]]
    place = {j: at for at, j in enumerate(used)} | {-1: -1}
    parents = tuple(place[joint.parents[j]] for j in used)
    return [TreeTerm(tuple(used), parents, tuple(tables[j] for j in used))], joint.log_prior


@terms_of_states.register
def _of_dependence(joint: Dependence) -> tuple[list[Term], Array]:
    used = sorted(joint.used)
    widths = {j: tuple((joint.n_states[[*joint.parents[j], j]] + 1).tolist()) for j in used}
    _require_size(sum(prod(width) for width in widths.values()) * joint.estimate.n_classes)
    place = {j: at for at, j in enumerate(used)}
    tables = []
    for j in used:
        slots = np.indices(widths[j]).reshape(len(widths[j]), -1).T
        states = np.zeros((len(slots), len(joint.parents)), dtype=np.int64)
        states[:, [*joint.parents[j], j]] = slots
        with np.errstate(divide="ignore"):
            found = np.log(joint.terms(j, states, use_loop=False)[0])
        tables.append(found.reshape(*widths[j], -1))
    parents = tuple(tuple(place[parent] for parent in joint.parents[j]) for j in used)
    return [GraphTerm(tuple(used), parents, tuple(tables))], joint.log_prior


@terms_of_states.register
def _of_super_parents(joint: SuperParents) -> tuple[list[Term], Array]:
    estimate, n = joint.estimate, joint.estimate.n_columns
    _require_size(estimate.n_slots**2 * estimate.n_classes)
    first = estimate.start
    own = [slice(first[j], first[j + 1]) for j in range(n)]
    slots = estimate.slots(np.arange(int(estimate.n_states.max(initial=0)) + 1)[:, None] + np.zeros((1, n), dtype=int))
    can_be = replace(joint, weighted=False).weight(slots).T
    even = [part[: estimate.n_states[j] + 1] for j, part in enumerate(can_be)]
    told = mutual_information(estimate.states) if joint.weighted else np.ones(n)
    naive = joint.naive.terms(slots).swapaxes(0, 1)  # (n_columns, n_slots, n_classes)
    implied = None
    if joint.implying is not None:
        pairs = implied_states(estimate, joint.implying)
        implied = tuple(tuple(pairs[own[i], own[j]] for j in range(n)) for i in range(n))
    term = AverageTerm(
        cells=tuple(range(n)),
        weights=tuple(part * told[j] for j, part in enumerate(even)),
        even=tuple(even),
        joints=tuple(estimate.log_joint[part] for part in own),
        marginals=tuple(naive[j][: estimate.n_states[j] + 1] for j in range(n)),
        log_prior=joint.prior.counted,
        given=tuple(tuple(joint.log_conditional[own[i], own[j]] for j in range(n)) for i in range(n)),
        implied=implied,
    )
    return [term], np.zeros(estimate.n_classes) if joint.prior.shift is None else joint.prior.shift


def _require_size(n_numbers: int) -> None:
    if n_numbers > MOST_NUMBERS:
        raise ResourceLimitError(
            f"the tables of the model hold {n_numbers:,} numbers, over the {MOST_NUMBERS:,} that can be exported; bin "
            "columns of many states, leave them out, or take fewer parents"
        )
