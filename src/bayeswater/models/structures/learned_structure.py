"""`LearnedStructure`, `LearnedMixedStructure`: the graph that a search found, its score, its bound and its network."""

from functools import cached_property
from typing import Any

import numpy as np

from bayeswater.data.frames import write_frame
from bayeswater.errors import ParameterError
from bayeswater.models.mixed_networks.mixed_network import MixedNetwork
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.models.structures.mixed_learning import NumbersAndStates
from bayeswater.models.structures.state_table import StateTable
from bayeswater.networks.drawing import shown_in_cell
from bayeswater.records import record
from bayeswater.structure.dag import Dag
from bayeswater.structure.equivalence import EquivalenceClass, equivalence_class
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.knowledge import Knowledge
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.moment_scores import MomentScore
from bayeswater.structure.notation import quoted
from bayeswater.structure.score_bounds import ScoreBound, score_bound
from bayeswater.structure.scores import Score
from bayeswater.structure.search import BY_TESTS, Search

LONGEST_LIST = 12
"""Arcs that are printed."""


@record(repr=False)
class LearnedStructure:
    """What `learn_structure` found.

    Attributes
    ----------
    table : StateTable
        The rows as states: cuts of numbers and domains are those the graph was learned with.
    scored_by : Score
        The score of the graph; with missing cells, by what is known.
    search : Search
        Steps, curve of the score against seconds, what stopped it, scores of restarts.
    knowledge : Knowledge
        What was known beforehand.
    rounds : tuple of float
        With missing cells: the score of every round of structural EM.
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
    def bound(self) -> ScoreBound | None:
        """What no graph scores above: ``bound.score - score`` is all that is still to be gained.

        It is worked out when it is first asked for, in some seconds at most, and printed from then on; see
        `bayeswater.structure.score_bounds`. None with missing cells, whose score is no sum over variables, and where
        pairs of parents are too many.
        """
        if self.rounds:
            return None
        if self.search.method == "exact":
            return ScoreBound(self.score, None)
        return score_bound(self._local_scores(), self.knowledge, self.search.parents)

    def _bound_in_words(self) -> str:
        if "bound" not in vars(self):  # it may take longer than the search: printing does not work it out
            return "ask for .bound, which no graph scores above"
        if self.bound is None:
            return "none: there are too many pairs of parents to count"
        return self.bound.beside(self.score)

    def _local_scores(self) -> FamilyScores:
        return LocalScores(self.table.codes, self.table.n_states, self.scored_by, self.table.weight)

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
    def pattern(self) -> EquivalenceClass:
        """Of a search by tests, the graph with those directions alone that tests and what was known give.

        Tests of few rows contradict one another. Where they ask for both directions of an edge, it has none here, as
        in R's bnlearn; `graph` has one for each edge, so that there is no cycle. Of other searches it is
        `equivalence_class()`.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import learn_structure
        >>> rows = pd.DataFrame({"a": list("nnyy") * 9, "b": list("nyny") * 9, "c": list("nyyy") * 9})
        >>> print(learn_structure(rows, method="pc").pattern)
        a -> c
        b -> c
        """
        return self.search.pattern or self.equivalence_class()

    @property
    def curve(self) -> Any:
        """Frame of seconds and score at each new best."""
        seconds, scores = np.array(self.search.curve).reshape(-1, 2).T
        return write_frame({"seconds": seconds, "score": scores}, self.table.library)

    def to_frame(self) -> Any:
        """Give a frame of one line for each arc, "from" and "to", in the library of the rows."""
        ends = zip(("from", "to"), zip(*self.graph.edges(), strict=True), strict=False)
        return write_frame({"from": [], "to": []} | dict(ends), self.table.library)

    def _repr_html_(self) -> str:
        return shown_in_cell(repr(self), self.graph)

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
            f"  search     {search.method}: {_some(search.n_steps, 'test' if search.method in BY_TESTS else 'step')}, "
            f"{_some(search.n_families, 'count')} of families, best after {seconds:.2f} s",
            f"  stopped    {search.stopped}",
        ]
        if not self.rounds and search.method != "exact":
            lines.append(f"  bound      {self._bound_in_words()}")
        if search.forecast:
            lines.insert(-1, f"  forecast   {search.forecast}")
        if self.rounds:
            n_missing, n_rounds = int(self.table.n_missing.sum()), len(self.rounds)
            lines.append(
                f"  missing    {_some(n_missing, 'cell')}: structural EM, {_some(n_rounds, 'round')}; the score is "
                "that of the cells that are there, and has no bound"
            )
        if len(search.restarts) > 1:
            lines.append(f"  restarts   best {max(search.restarts):.2f}, worst {min(search.restarts):.2f}")
        if twins := self.table.twins:
            groups = "; ".join(" = ".join(map(quoted, group)) for group in twins[:LONGEST_LIST])
            lines.append(f"  twins      {groups}: the rows cannot tell on which of them others depend")
        if search.cache_was_full:
            lines.append("  memory     some families were counted more than once, as there was no room to keep them")
        return "\n".join(lines)


@record(repr=False)
class LearnedMixedStructure(LearnedStructure):
    """What `learn_structure` found where numbers stay numbers; see `LearnedStructure`.

    Attributes
    ----------
    table : NumbersAndStates
        The rows as states and numbers.
    scored_by : MomentScore
    """

    table: NumbersAndStates  # type: ignore[assignment]
    scored_by: MomentScore  # type: ignore[assignment]

    def fit(self, **prior: Any) -> MixedNetwork:  # type: ignore[override]
        """Estimate tables and regressions; see `MixedNetwork.from_data`."""
        states = {v.name: v.states for v in self.table.variables if v is not None}
        return MixedNetwork.from_data(
            self.graph, self.table.to_frame(), states=states, sample_weight=self.table.weight, **prior
        )

    def _local_scores(self) -> FamilyScores:
        return self.table.scores(self.scored_by)

    def states_of(self, data: Any, unseen: str = "ignore") -> Any:
        """Refuse: numbers are no states here."""
        raise ParameterError("numbers stay numbers here: ask the network with the rows as they are")


def _some(n: int, thing: str) -> str:
    """Count things: one of them in the singular."""
    return f"{n} {thing}{'' if n == 1 else 's'}"
