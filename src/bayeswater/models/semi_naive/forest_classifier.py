"""`ForestClassifier`: what `SPODE` and `TAN` share, in which every column has one parent at most beside the class."""

from typing import Any

import numpy as np

from bayeswater.inference.forest import Forest
from bayeswater.models.class_name import class_name
from bayeswater.models.network.as_network import AsNetwork, NetworkTables
from bayeswater.models.semi_naive.discrete_classifier import DiscreteClassifier
from bayeswater.models.semi_naive.family_frames import column_names, family_frame, state_labels


class ForestClassifier(AsNetwork, DiscreteClassifier):
    """A classifier on columns of states whose joint is a `Forest`."""

    def tables(self) -> dict[str, Any]:
        """Give the class prior, and P(state | class, state of the parent) of each column, as labelled frames by name.

        The prior is called "class", or "(class)" beside a column of that name.
        """
        forest: Forest = self._joint()
        names = column_names(self)
        tables = {class_name(names): self._class_table()}
        for j, (name, parent) in enumerate(zip(names, forest.parents, strict=True)):
            share = np.exp(forest.log_family(j))  # (v_parent or 1, v_j, n_classes)
            tables[name] = family_frame(self, j, [], share[0]) if parent < 0 else family_frame(self, j, [parent], share)
        return tables

    def network_tables(self) -> NetworkTables:
        """Give the model as a Bayesian network: the class, and every column with its parents."""
        forest: Forest = self._joint()
        names = column_names(self)
        states = (tuple(self.classes_.tolist()), *(tuple(labels) for labels in state_labels(self)))
        parents: list[tuple[int, ...]] = [()]
        tables = [np.exp(forest.log_prior)]
        for j, p in enumerate(forest.parents):
            share = np.exp(forest.log_family(j)).transpose(2, 0, 1)  # (n_classes, v_parent or 1, v_j)
            parents.append((0,) if p < 0 else (0, p + 1))
            tables.append(share[:, 0] if p < 0 else share)
        return NetworkTables((class_name(names), *names), states, tuple(parents), tuple(tables))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: K - 1 of the class, and K v_p (v_j - 1) of column j with v_p states above it."""
        forest: Forest = self._joint()
        k, v = forest.estimate.n_classes, forest.estimate.n_states
        above = np.array([v[p] if p >= 0 else 1 for p in forest.parents])
        return int(k - 1 + k * (above * np.maximum(v - 1, 0)).sum())
