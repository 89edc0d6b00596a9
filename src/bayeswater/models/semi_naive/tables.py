"""What a classifier on columns of states holds, as labelled frames and as a Bayesian network.

`StateNames` names columns, states and classes; `Conditionals` are the distributions P(x_j | y, parents of j) of a model
whose columns have parents: one at most (TAN, SPODE) or several (KDB, SKDB). Their product with P(y) is a network.
"""

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.data.reading.column_plan import ColumnPlan
from bayeswater.estimate.pairs import PairEstimate
from bayeswater.families.state_planning import variables_of
from bayeswater.inference.dependence import Dependence
from bayeswater.inference.forest import Forest
from bayeswater.networks.class_tables import NetworkTables, class_name
from bayeswater.records import record
from bayeswater.statistics.parent_counts import Parents
from bayeswater.typing import Array


@record
class StateNames:
    """Names of columns and their states, and of the classes; None is a missing cell, where that is a state."""

    columns: tuple[str, ...]
    states: tuple[tuple[Any, ...], ...]
    classes: tuple[Any, ...]
    library: str | None  # whose frames tables are

    @classmethod
    def of(cls, plan: ColumnPlan, estimate: PairEstimate, classes: Array, library: str | None) -> "StateNames":
        """Name what was counted by a plan; bins have the names of their limits."""
        variables = variables_of(estimate.counts.schema, plan)
        states = (
            (*variable.labels.tolist(), *[None] * is_state)
            for variable, is_state in zip(variables, estimate.empty_is_state.tolist(), strict=True)
        )
        return cls(tuple(column.name for column in plan.used), tuple(states), tuple(classes.tolist()), library)

    def joint_frame(self, columns: Sequence[int], share: Array) -> Any:
        """Give P(y, x_1, ..., x_m) (v_1, ..., v_m, n_classes) as a labelled frame."""
        names = [self.columns[j] for j in columns]
        return self._frame(columns, share, lambda label: f"P({', '.join([str(label), *names])})")

    def conditional_frame(self, j: int, parents: Sequence[int], share: Array) -> Any:
        """Give P(x_j | y, its parents) (v_1, ..., v_l, v_j, n_classes) as a labelled frame."""
        above = [self.columns[p] for p in parents]
        own = self.columns[j]
        return self._frame([*parents, j], share, lambda label: f"P({own} | {', '.join([str(label), *above])})")

    def _frame(self, columns: Sequence[int], share: Array, title: Callable[[Any], str]) -> Any:
        """Give shares (v_1, ..., v_m, n_classes) of the states of m columns; `title` is of a class."""
        places = np.indices(share.shape[:-1]).reshape(len(columns), -1)
        frame: dict[str, Any] = {
            self.columns[j]: [self.states[j][at] for at in own.tolist()] for j, own in zip(columns, places, strict=True)
        }
        for k, label in enumerate(self.classes):
            frame[title(label)] = share[..., k].ravel()
        return write_frame(frame, self.library)

    def joint_tables(self, estimate: PairEstimate, classes: Any) -> dict[str, Any]:
        """Give the frame of the `classes`, and P(class, state) of each column."""
        tables = {class_name(self.columns): classes}
        for j, name in enumerate(self.columns):
            share = np.exp(estimate.log_joint[estimate.start[j] : estimate.start[j + 1] - 1])
            tables[name] = self.joint_frame([j], share)
        return tables


@record
class Conditionals:
    """P(x_j | y, parents of j) of the columns that a model uses, worked out as they are asked for.

    `parents` are the places of those of every column, used or not; `share` gives (v_1, ..., v_l, v_j, n_classes).
    """

    log_prior: Array  # (n_classes,)
    used: tuple[int, ...]
    parents: tuple[tuple[int, ...], ...]
    n_states: tuple[int, ...]
    share: Callable[[int], Array]

    @classmethod
    def of(cls, joint: Forest | Dependence) -> "Conditionals":
        """Read the tables of a model whose columns have parents."""
        if isinstance(joint, Forest):
            parents: Parents = tuple(() if p < 0 else (p,) for p in joint.parents)
            n_states, used = joint.estimate.n_states, tuple(range(len(parents)))
        else:
            parents, n_states, used = joint.parents, joint.n_states, tuple(sorted(joint.used))

        def share(j: int) -> Array:
            found = np.exp(joint.log_conditional(j))
            return found if len(parents[j]) + 2 == found.ndim else found[0]  # a forest has an axis for no parent, too

        return cls(joint.log_prior, used, parents, tuple(n_states.tolist()), share)

    def tables(self, names: StateNames, classes: Any) -> dict[str, Any]:
        """Give the frame of the `classes`, and the table of each column given its parents."""
        tables = {class_name(names.columns): classes}
        for j in self.used:
            tables[names.columns[j]] = names.conditional_frame(j, self.parents[j], self.share(j))
        return tables

    def network(self, names: StateNames) -> NetworkTables:
        """Give the columns that are used, with their parents, as a Bayesian network."""
        place = {j: at for at, j in enumerate(self.used, start=1)}
        return NetworkTables(
            (class_name(names.columns), *(names.columns[j] for j in self.used)),
            (names.classes, *(names.states[j] for j in self.used)),
            ((), *((0, *(place[p] for p in self.parents[j])) for j in self.used)),
            (np.exp(self.log_prior), *(np.moveaxis(self.share(j), -1, 0) for j in self.used)),
        )

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 of the class, and K v_1 ... v_l (v_j - 1) of column j with l parents."""
        k, v = len(self.log_prior), self.n_states
        return k - 1 + k * sum(prod(v[p] for p in self.parents[j]) * max(v[j] - 1, 0) for j in self.used)
