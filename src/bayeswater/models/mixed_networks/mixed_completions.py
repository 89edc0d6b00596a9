"""Rows of a network of states and numbers, filled in: explanations, missing cells, and samples.

States are most probable together, all numbers being summed out, and numbers are their means given these states: not the
states and numbers of the highest density together, which would prefer states whose numbers scatter less.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import Alongside, read_frame, write_frame
from bayeswater.errors import ParameterError
from bayeswater.inference.drawing import generator_of
from bayeswater.inference.mixed.completing import best_states, with_best_states, with_drawn_numbers, with_drawn_states
from bayeswater.inference.mixed.strong_elimination import MixedRows, StrongElimination
from bayeswater.inference.network_joint import sample_codes
from bayeswater.models.mixed_networks.mixed_questions import nodes_with_states, require_possible, row_answers
from bayeswater.models.mixed_networks.mixed_rows import row_of, rows_of
from bayeswater.models.network.analysis import METHODS
from bayeswater.models.network.answers import Explanation
from bayeswater.models.network.findings import BestExplanations
from bayeswater.models.network.network_rows import frame_of_variables, label_column
from bayeswater.models.network.queries import Given, tell_impossible
from bayeswater.networks.mixed_core import MixedCore
from bayeswater.typing import Array

BATCH_ROWS = 2**16
"""Rows of a table of `sample_batches`."""


class MixedCompletions(ABC):
    """What is not observed, filled in."""

    library: str | None

    @property
    @abstractmethod
    def core(self) -> MixedCore:
        """Graph, tables and regressions."""

    @cached_property
    @abstractmethod
    def _engine(self) -> StrongElimination:
        """The network made ready for questions."""

    # ------------------------------------------------------------------ explanations

    def most_probable_explanation(
        self, evidence: Any = None, *, soft_evidence: Given = None, unseen: str = "error"
    ) -> Any:
        """Find the states of all variables that are together most probable, and the means of numbers given these.

        Parameters
        ----------
        evidence : dict {name: state or number}, or data frame
            What is observed; missing cells of a frame are not.
        soft_evidence : dict, optional
            Likelihoods of states, as in `posteriors`.
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        Explanation or frame
            For a frame, one of all variables in its library, and a column "log_probability" of P(states, evidence), a
            density where numbers are observed; rows whose evidence is impossible stay as they are.

        See Also
        --------
        most_probable_explanations : Give the k most probable states of all variables together.
        marginal_map : Give the states of some variables that are together most probable, all else being summed out.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.most_probable_explanation({"height": 180})
        sex     m
        height  180
        log-probability together with the evidence: -3.82196
        """
        if evidence is None or isinstance(evidence, Mapping):
            return self.most_probable_explanations(1, evidence, soft_evidence=soft_evidence)[0]
        core = self.core
        rows = rows_of(evidence, core, unseen, soft_evidence)
        filled, log_p = self._explained(rows, list(core.place), list(core.numbers))
        name = "(log_probability)" if "log_probability" in core.names else "log_probability"
        return write_frame({**_columns(core, filled, core.names), name: log_p}, Alongside.of(evidence))

    def most_probable_explanations(
        self, k: int = 5, evidence: Given = None, *, soft_evidence: Given = None
    ) -> BestExplanations:
        """Give the k most probable states of all variables together, each with the means of numbers given them.

        Exact; there are fewer where fewer are possible.

        Parameters
        ----------
        k : int, default 5
            How many to give.
        evidence : dict {name: state or number}, optional
            What is observed.
        soft_evidence : dict, optional
            Likelihoods of states, as in `posteriors`.

        Returns
        -------
        BestExplanations
            States, means and probabilities, the most probable first.

        See Also
        --------
        most_probable_explanation : Find the states of all variables that are together most probable.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.most_probable_explanations(2)
        sex  height  probability
        f    165             0.6
        m    178             0.4
        """
        if not isinstance(k, int | np.integer) or isinstance(k, bool) or k < 1:
            raise ParameterError(f"k is {k!r}; give the number of explanations, 1 or more")
        core, engine = self.core, self._engine
        row = row_of(evidence, core, soft_evidence)
        (pattern,) = engine.patterns(row)
        found = best_states(engine, row, pattern, [node for node in core.place if node not in pattern.given], int(k))
        total = float(engine.joint(row, pattern, [])[1][0])
        require_possible(total if found else -np.inf, evidence, soft_evidence)
        rows = row.take(np.zeros(len(found), dtype=np.int64))
        for place, (states, _) in enumerate(found):
            for node, code in states.items():
                rows.codes[node, place] = code
        rows = self._with_means(rows, list(core.numbers))
        explained = []
        for place, (_, log_p) in enumerate(found):
            cells = {
                name: float(rows.values[node, place])
                if node in core.numbers
                else core.variable(node).states[int(rows.codes[node, place])]
                for node, name in enumerate(core.names)
            }
            explained.append(Explanation(cells, log_p, self.library))
        shares = tuple(float(np.exp(log_p - total)) for _, log_p in found)
        known = {*pattern.given, *pattern.numbers}
        names = tuple(name for node, name in enumerate(core.names) if node not in known)
        return BestExplanations(tuple(explained), shares, names, self.library)

    def marginal_map(
        self, targets: str | Iterable[str], evidence: Given = None, *, soft_evidence: Given = None
    ) -> Explanation:
        """Give the states of some variables that are together most probable, all else being summed out.

        Parameters
        ----------
        targets : str or iterable of str
            The variables whose states are sought.
        evidence : dict {name: state or number}, optional
            What is observed.
        soft_evidence : dict, optional
            Likelihoods of states, as in `posteriors`.

        Returns
        -------
        Explanation
            The states, and their probability together.

        See Also
        --------
        most_probable_explanation : Find the states of all variables that are together most probable.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.marginal_map("sex", {"height": 180}).states
        {'sex': 'm'}
        """
        core, engine = self.core, self._engine
        nodes = nodes_with_states(core, targets)
        row = row_of(evidence, core, soft_evidence)
        filled, log_p = with_best_states(engine, row, nodes)
        require_possible(float(log_p[0]), evidence, soft_evidence)
        labels = {core.names[node]: core.variable(node).states[int(filled.codes[node, 0])] for node in nodes}
        return Explanation(labels, float(log_p[0]), self.library)

    def _explained(self, rows: MixedRows, states: list[int], numbers: list[int]) -> tuple[MixedRows, Array]:
        """Fill in states and numbers of rows; and give log P(states, evidence), -inf where the row is impossible."""
        filled, log_p = with_best_states(self._engine, rows, states)
        tell_impossible(log_p == -np.inf, "cells stay as they are")
        return self._with_means(filled, numbers, log_p > -np.inf), log_p

    def _with_means(self, rows: MixedRows, numbers: list[int], possible: Array | None = None) -> MixedRows:
        """Fill in numbers by their means, in possible rows."""
        _, mean, _, _ = row_answers(self._engine, rows, numbers)
        values = rows.values.copy()
        for node, own in mean.items():
            values[node] = own if possible is None else np.where(possible, own, values[node])
        return MixedRows(rows.codes, values, rows.soft)

    # ------------------------------------------------------------------ rows

    def impute(self, X: Any, method: str = "most_probable", *, random_state: Any = None, unseen: str = "error") -> Any:
        """Fill in the missing cells of a frame, given the other cells of each row.

        Parameters
        ----------
        X : data frame
            Its columns are variables.
        method : {"most_probable", "draw", "mean"}
            "most_probable": the states of all missing cells of a row that are together most probable, all else summed
            out, and means of numbers given these states. "draw": states and numbers drawn from their joint posterior,
            as for multiple imputation. "mean": the posterior mean of numbers, and the most probable state of each other
            cell on its own.
        random_state : int, RandomState or None, default None
            Seed of "draw".
        unseen : {"error", "ignore"}, default "error"
            What to do with a state that a variable does not have, as in `posteriors`.

        Returns
        -------
        frame
            In the library of X, with its columns. Rows whose evidence is impossible stay as they are, with a warning.

        See Also
        --------
        posteriors : Give the distributions of variables for every row of a frame.
        most_probable_explanation : Find the states of all variables that are together most probable.

        Examples
        --------
        >>> import pyarrow as pa
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.impute(pa.table({"sex": ["f", None], "height": [None, 190.0]})).to_pylist()
        [{'sex': 'f', 'height': 165.0}, {'sex': 'm', 'height': 190.0}]
        """
        if method not in METHODS:
            raise ParameterError(f"method is {method!r}; it can be one of {list(METHODS)}")
        core, engine, X = self.core, self._engine, frame_of_variables(X)
        names, rows = read_frame(X).names, rows_of(X, core, unseen)
        nodes = [core.dag.node(name) for name in names]
        if method == "most_probable":
            numbers = [node for node in nodes if node in core.numbers]
            filled, _ = self._explained(rows, [node for node in nodes if node not in core.numbers], numbers)
        elif method == "draw":
            rng = generator_of(1, random_state)
            drawn, log_p = with_drawn_states(engine, rows, rng)
            possible = log_p > -np.inf
            tell_impossible(~possible, "cells stay as they are")
            values = rows.values.copy()
            values[:, possible] = with_drawn_numbers(engine, drawn.take(np.flatnonzero(possible)), rng).values
            filled = MixedRows(drawn.codes, values)
        else:
            found, mean, _, log_p = row_answers(engine, rows, nodes)
            possible = log_p > -np.inf
            tell_impossible(~possible, "cells stay as they are")
            filled = MixedRows(rows.codes.copy(), rows.values.copy())
            for node, own in found.items():
                filled.codes[node] = np.where(possible, own.argmax(axis=1), rows.codes[node])
            for node, own in mean.items():
                filled.values[node] = np.where(possible, own, rows.values[node])
        return write_frame(_columns(core, filled, names), Alongside.of(X))

    def sample_batches(self, n: int = 1, *, random_state: Any = None) -> Iterator[Any]:
        """Draw rows, a table of some thousand at a time, for more of them than memory holds.

        Parameters
        ----------
        n, random_state : as in `sample`
            Number of rows, and seed.

        Returns
        -------
        iterator of pyarrow.Table
            Tables that together are the one of `sample`.

        See Also
        --------
        sample : Draw rows: a pyarrow Table of labels and numbers.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> sum(batch.num_rows for batch in network.sample_batches(5, random_state=0))
        5
        """
        rng = generator_of(n, random_state)
        return (self.sample(min(BATCH_ROWS, n - start), random_state=rng) for start in range(0, n, BATCH_ROWS))

    def sample(self, n: int = 1, *, evidence: Given = None, random_state: Any = None) -> Any:
        """Draw rows: a pyarrow Table of labels and numbers.

        With evidence, ``{name: state or number}``, they are drawn from the posterior of all variables together:
        exactly, and none is thrown away.

        Parameters
        ----------
        n : int, default 1
            Number of rows.
        evidence : dict {name: state or number}, optional
            What is observed in all of them.
        random_state : int, RandomState or None, default None
            Seed.

        Returns
        -------
        pyarrow.Table
            A column for each variable.

        See Also
        --------
        sample_batches : Draw rows, a table of some thousand at a time, for more of them than memory holds.

        Examples
        --------
        >>> from bayeswater import LinearGaussian, MixedNetwork
        >>> heights = {"f": LinearGaussian(165, variance=36), "m": LinearGaussian(178, variance=49)}
        >>> network = MixedNetwork("sex -> height", {"sex": {"f": 0.6, "m": 0.4}, "height": heights})
        >>> network.sample(3, evidence={"sex": "f"}, random_state=0)["sex"].to_pylist()
        ['f', 'f', 'f']
        """
        core, rng = self.core, generator_of(n, random_state)
        rows = row_of(evidence, core).take(np.zeros(int(n), dtype=np.int64))
        if evidence:
            rows, log_p = with_drawn_states(self._engine, rows, rng)
            require_possible(log_p.min(initial=0.0), evidence, None)
        else:
            drawn = sample_codes(core.states, int(n), np.random.SeedSequence(int(rng.integers(2**63))))
            rows.codes[list(core.place)] = drawn
        return write_frame(_columns(core, with_drawn_numbers(self._engine, rows, rng), core.names), None)


def _columns(core: MixedCore, rows: MixedRows, names: Iterable[str]) -> dict[str, Any]:
    """Give columns of labels and of numbers; what is not observed is missing."""
    import pyarrow as pa

    columns: dict[str, Any] = {}
    for name in names:
        node = core.dag.node(name)
        if node in core.numbers:
            missing = np.isnan(rows.values[node])
            columns[name] = pa.array(rows.values[node], mask=missing) if missing.any() else rows.values[node]
        else:
            columns[name] = label_column(rows.codes[node], core.variable(node))
    return columns
