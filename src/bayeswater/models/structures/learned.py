"""`LearnedStructure`: a graph that a search found, its network, and how it was found."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.structures.state_table import StateTable
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import EquivalenceClass, equivalence_class
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.notation import quoted
from bayeswater.structure.scores import Score
from bayeswater.structure.search import Search

LONGEST_LIST = 12
"""Arcs that are printed."""


@dataclass(frozen=True, repr=False)
class LearnedStructure:
    """What `learn_structure` found.

    Attributes
    ----------
    table : StateTable
        The rows as states: cuts of numbers and domains are those the graph was learned with.
    scored_by : Score
        What judged the graph; with missing cells, by what is known.
    search : Search
        Steps, curve of the score against seconds, what stopped it, scores of restarts.
    knowledge : Knowledge
        What was known beforehand.
    rounds : tuple of float
        With missing cells: the score of the start, and of every round of structural EM.
    """

    table: StateTable
    scored_by: Score
    search: Search
    knowledge: Knowledge
    rounds: tuple[float, ...] = ()

    @cached_property
    def graph(self) -> Dag:
        """The graph."""
        return Dag(self.table.names, tuple(tuple(sorted(own)) for own in self.search.parents))

    @property
    def score(self) -> float:
        """Its score, in nats; higher is better."""
        return self.search.score

    @cached_property
    def network(self) -> BayesianNetwork:
        """The network with tables estimated from the same rows, one imagined row spread over each table.

        Missing cells are summed over, by EM.
        """
        return self.fit(equivalent_sample_size=1.0)

    def fit(self, **prior: Any) -> BayesianNetwork:
        """Estimate the tables with a prior of your own: see `BayesianNetwork.from_data`."""
        states = {variable.name: variable.states for variable in self.table.variables}
        settings = {"missing": "em"} | prior if self.table.n_missing.any() else prior
        return BayesianNetwork.from_data(
            self.graph, self.table.to_frame(), states=states, sample_weight=self.table.weight, **settings
        )

    def states_of(self, data: Any, unseen: str = "ignore") -> Any:
        """Give other rows as the states that the variables of `network` have: numbers by the names of their bins.

        The cuts are those the structure was learned with. What comes out is what the network can be asked about:
        ``found.network.posteriors(found.states_of(frame))``.

        Parameters
        ----------
        data : frame with some of the columns that the structure was learned from; one that is not there is not
            observed
        unseen : "ignore" to take a label that is no state for a missing cell, with a warning; or "error"

        Returns
        -------
        frame
            In the library of `data`, with the columns that are variables.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import learn_structure
        >>> found = learn_structure(pd.DataFrame({"age": range(20, 80), "old": ["no"] * 36 + ["yes"] * 24}))
        >>> rows = found.states_of(pd.DataFrame({"age": [25.5, 93.0]}))
        >>> rows["age"].tolist()
        ['under 31.5', 'from 67.5 on']
        >>> found.network.posteriors(rows, "old").labels()["old"].tolist()
        ['no', 'yes']
        """
        return self.table.states_of(data, unseen)

    def equivalence_class(self) -> EquivalenceClass:
        """All graphs that say the same about who is independent of whom, and keep to what was known beforehand.

        An arc has a direction where the rows, or what was known, leave no other.
        """
        return equivalence_class(self.graph, self.knowledge)

    @property
    def curve(self) -> Any:
        """Frame of seconds and score at each new best."""
        seconds, scores = np.array(self.search.curve).reshape(-1, 2).T
        return write_frame({"seconds": seconds, "score": scores}, self.table.library)

    def __repr__(self) -> str:
        edges = [f"{quoted(a)} -> {quoted(b)}" for a, b in self.graph.edges()]
        more = len(edges) - LONGEST_LIST
        shown = "; ".join(edges[:LONGEST_LIST]) + (f"; and {more} more" if more > 0 else "")
        search = self.search
        seconds = search.curve[-1][0] if search.curve else 0.0
        lines = [
            f"Structure of {_some(len(self.graph), 'variable')} with {_some(len(edges), 'arc')}, "
            f"{self.scored_by.name} {self.score:.2f}",
            f"  arcs       {shown or 'none'}",
            f"  search     {search.method}: {_some(search.n_steps, 'test' if search.method == 'pc' else 'step')}, "
            f"{_some(search.n_families, 'count')} of families, best after {seconds:.2f} s",
            f"  stopped    {search.stopped}",
        ]
        if search.forecast:
            lines.insert(-1, f"  forecast   {search.forecast}")
        if self.rounds:
            n_missing, n_rounds = int(self.table.n_missing.sum()), len(self.rounds) - 1
            lines.append(
                f"  missing    {_some(n_missing, 'cell')}: structural EM, {_some(n_rounds, 'round')}; the score is "
                "that of the cells that are there"
            )
        if len(search.restarts) > 1:
            lines.append(f"  restarts   best {max(search.restarts):.2f}, worst {min(search.restarts):.2f}")
        if twins := self.table.twins:
            groups = "; ".join(" = ".join(map(quoted, group)) for group in twins[:LONGEST_LIST])
            lines.append(f"  twins      {groups}: the rows cannot tell on which of them others depend")
        if search.cache_was_full:
            lines.append("  memory     some families were counted more than once, as there was no room to keep them")
        return "\n".join(lines)


def _some(n: int, thing: str) -> str:
    """Count things: one of them in the singular."""
    return f"{n} {thing}{'' if n == 1 else 's'}"
