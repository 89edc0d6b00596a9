"""Canonical nodes: `NoisyOr` of causes, `NoisyMax`, of more than two states, and `NoisyAnd`, for what has conditions.

They need a few numbers for each parent on its own, where a table needs some for every combination of their states
(Díez and Druzdzel 2006).
"""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayeswater.data.variable import Variable
from bayeswater.errors import ParameterError
from bayeswater.networks.conditionals import (
    Conditional,
    Parents,
    checked_table,
    require_probability,
    require_room,
)
from bayeswater.noisy_max import noisy_max_table, noisy_or_table
from bayeswater.records import record
from bayeswater.typing import Array


@record
class NoisyOr(Conditional):
    """Causes that each bring the effect about on their own; the leak is its probability without any cause.

        P(absent | parents) = (1 - leak) * product over the parents of (1 - strength of the parent's state)

    Its table is written out, so it has no room for dozens of causes. These are divided into groups: the noisy-OR of
    noisy-ORs, each with strength 1, is that of all their causes.

    Parameters
    ----------
    causes : dict
        For each parent a number, the strength of its state `present`, or a dict of the strengths of its states; a state
        that is not named has none.
    leak : float, default 0
        Probability of the effect where no cause is there.
    present : label, default "yes"
        State of the variable, which has two, that is the effect.

    See Also
    --------
    NoisyAnd : Several conditions that all have to be met, each with a probability of its own.
    NoisyMax : Causes that each bring the variable to some state on their own.
    BayesianNetwork : A network of discrete variables.

    Examples
    --------
    >>> fever = Variable("fever", ("no", "yes"))
    >>> flu, cold = Variable("flu", ("no", "yes")), Variable("cold", ("none", "light", "heavy"))
    >>> rule = NoisyOr({"flu": 0.75, "cold": {"light": 0.25, "heavy": 0.5}}).bound(fever, [flu, cold])
    >>> rule.table(fever, [flu, cold])[..., 1]
    array([[0.    , 0.25  , 0.5   ],
           [0.75  , 0.8125, 0.875 ]])
    """

    causes: Mapping[str, Any]
    leak: float = 0.0
    present: Any = "yes"

    def bound(self, variable: Variable, parents: Parents) -> "NoisyOr":
        """Check the names, the states and the strengths.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        NoisyOr
            The same causes, with strengths that were checked.

        See Also
        --------
        table : Write out P(variable | parents), one cause after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyOr({"fuel": 0.5}).bound(fire, [fuel]).leak
        0.0
        """
        where = f"the noisy-OR of {variable.name!r}"
        _require_two_states(variable, self.present, where)
        _require_parents(self.causes, parents, where)
        require_room(
            variable,
            parents,
            "divide the causes: a noisy-OR of ten of them, without a leak, is one cause of strength 1 instead of ten",
        )
        require_probability(self.leak, f"the leak of {where}")
        for parent in parents:
            _by_state(self.causes[parent.name], self.present, parent, "the strength of", where)
        # A copy: what becomes of the caller's dict afterwards is none of the network's business.
        own = {name: dict(given) if isinstance(given, Mapping) else given for name, given in self.causes.items()}
        return NoisyOr(own, self.leak, self.present)

    def strengths(self, parent: Variable) -> Array:
        """Give the strength of every state of a parent: (n_states,).

        Parameters
        ----------
        parent : Variable
            One of the parents.

        Returns
        -------
        array of shape (n_states,)
            Strengths, from 0 to 1.

        See Also
        --------
        bound : Check the names, the states and the strengths.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyOr({"fuel": 0.5}).bound(fire, [fuel]).strengths(fuel)
        array([0. , 0.5])
        """
        found = _by_state(self.causes[parent.name], self.present, parent)
        return np.array([found.get(state, 0.0) for state in parent.states])

    def table(self, variable: Variable, parents: Parents) -> Array:
        """Write out P(variable | parents), one cause after the other.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        array
            Probabilities: ``(*n_states of the parents, n_states)``.

        See Also
        --------
        strengths : Give the strength of every state of a parent.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyOr({"fuel": 0.5}).bound(fire, [fuel]).table(fire, [fuel])
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        table = noisy_or_table([self.strengths(parent) for parent in parents], self.leak)
        if variable.code_of[self.present] == 1:
            table = np.ascontiguousarray(table[..., ::-1])
        table.flags.writeable = False
        return table

    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """Count a parameter for each state that has a strength, and one for the leak.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        int
            Number of free parameters.

        See Also
        --------
        table : Write out P(variable | parents), one cause after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyOr({"fuel": 0.5}).bound(fire, [fuel]).n_parameters(fire, [fuel])
        2
        """
        given = self.causes.values()
        return 1 + sum(len(strength) if isinstance(strength, Mapping) else 1 for strength in given)


@record
class NoisyMax(Conditional):
    """Causes that each bring the variable to some state on their own; it is in the strongest of these states.

    Parameters
    ----------
    causes : dict
        For each parent a dict from its states to distributions of the variable, each a dict of probabilities or a list
        in the order of the states; a state that is not named does nothing. Files keep the order in which the states of
        a parent are named, the strongest first.
    leak : dict or list, optional
        Distribution of the variable where no cause acts; default all in the weakest state.
    ranking : sequence of labels, optional
        States of the variable, the strongest first; default their own order.

    See Also
    --------
    NoisyOr : Causes that each bring the effect about on their own; the leak is its probability without any cause.
    BayesianNetwork : A network of discrete variables.

    Examples
    --------
    >>> fever = Variable("fever", ("high", "low", "none"))
    >>> flu, cold = Variable("flu", ("yes", "no")), Variable("cold", ("yes", "no"))
    >>> rule = NoisyMax({"flu": {"yes": [0.5, 0.25, 0.25]}, "cold": {"yes": {"high": 0, "low": 0.5, "none": 0.5}}})
    >>> rule.bound(fever, [flu, cold]).table(fever, [flu, cold])[0, 0]
    array([0.5  , 0.375, 0.125])
    """

    causes: Mapping[str, Mapping[Any, Any]]
    leak: Any = None
    ranking: Sequence[Any] | None = None

    def bound(self, variable: Variable, parents: Parents) -> "NoisyMax":
        """Check names, states and sums, and write distributions in the order of the states.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        NoisyMax
            The same causes, with distributions that were checked.

        See Also
        --------
        table : Write out P(variable | parents), one cause after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyMax({"fuel": {"yes": [0.3, 0.7]}}).bound(fire, [fuel]).causes["fuel"]
        {'yes': (0.3, 0.7)}
        """
        where = f"the noisy-MAX of {variable.name!r}"
        _require_parents(self.causes, parents, where)
        require_room(variable, parents)
        ranking = tuple(variable.states if self.ranking is None else self.ranking)
        if sorted(map(repr, ranking)) != sorted(map(repr, variable.states)):
            raise ParameterError(f"the ranking of {where} is {list(ranking)}; give all of {list(variable.states)[:10]}")
        weakest = {state: float(state == ranking[-1]) for state in variable.states}
        causes = {p.name: _distributions(self.causes[p.name], variable, p, where) for p in parents}
        leak = _rows([weakest if self.leak is None else self.leak], variable, (), f"the leak of {where}")[0]
        return NoisyMax(causes, tuple(leak.tolist()), ranking)

    def columns(self, variable: Variable, parent: Variable) -> Array:
        """Give what a parent does on its own: (n_states of the parent, n_states).

        Parameters
        ----------
        variable, parent : Variable, Variable
            The variable and one of its parents.

        Returns
        -------
        array of shape (n_states of the parent, n_states)
            Distributions.

        See Also
        --------
        bound : Check names, states and sums, and write distributions in the order of the states.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyMax({"fuel": {"yes": [0.3, 0.7]}}).bound(fire, [fuel]).columns(fire, fuel)
        array([[0. , 1. ],
               [0.3, 0.7]])
        """
        assert self.ranking is not None  # as it is bound
        found = np.zeros((parent.n_states, variable.n_states))
        found[:, variable.code_of[self.ranking[-1]]] = 1.0
        for state, distribution in self.causes[parent.name].items():
            found[parent.code_of[state]] = distribution
        return found

    def table(self, variable: Variable, parents: Parents) -> Array:
        """Write out P(variable | parents), one cause after the other.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        array
            Probabilities: ``(*n_states of the parents, n_states)``.

        See Also
        --------
        columns : Give what a parent does on its own.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyMax({"fuel": {"yes": [0.3, 0.7]}}).bound(fire, [fuel]).table(fire, [fuel])
        array([[0. , 1. ],
               [0.3, 0.7]])
        """
        assert self.ranking is not None
        order = [variable.code_of[state] for state in self.ranking]
        columns = (self.columns(variable, parent)[:, order] for parent in parents)
        table = noisy_max_table(columns, np.array(self.leak)[order])[..., np.argsort(order)]
        table = np.ascontiguousarray(table)
        table.flags.writeable = False
        return table

    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """Count the parameters of each state that is named, and of the leak.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        int
            Number of free parameters.

        See Also
        --------
        table : Write out P(variable | parents), one cause after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyMax({"fuel": {"yes": [0.3, 0.7]}}).bound(fire, [fuel]).n_parameters(fire, [fuel])
        2
        """
        return (1 + sum(map(len, self.causes.values()))) * (variable.n_states - 1)


def _distributions(given: Any, variable: Variable, parent: Variable, where: str) -> dict[Any, tuple[float, ...]]:
    """Read what each named state of a parent does; the parent's states stand in the order in which they are named."""
    if not isinstance(given, Mapping):
        raise ParameterError(
            f"{where} gives {given!r} for {parent.name!r}; give a mapping from its states to distributions"
        )
    _require_states(given, parent, where)
    if not given:
        return {}
    rows = _rows(given.values(), variable, (Variable(parent.name, tuple(given)),), where)
    return dict(zip(given, map(tuple, rows.tolist()), strict=True))


def _rows(given: Any, variable: Variable, parents: Parents, where: str) -> Array:
    """Read distributions of a variable, one for each state of what brings them about, and check them as a table."""
    rows = []
    for row in given:
        if isinstance(row, Mapping) and set(row) != set(variable.states):
            raise ParameterError(f"{where} names {list(row)[:10]}, and the states are {list(variable.states)[:10]}")
        rows.append([row[state] for state in variable.states] if isinstance(row, Mapping) else row)
    table = checked_table(rows if parents else rows[0], variable, parents).table
    return table if parents else table[None]


@record
class NoisyAnd(Conditional):
    """Several conditions that all have to be met, each with a probability of its own.

        P(present | parents) = (1 - failure) * product over the parents of P(met | the parent's state)

    Parameters
    ----------
    conditions : dict
        For each parent a number, the probability that its state `present` meets its condition, or a dict of such
        numbers by state; a state that is not named never does.
    failure : float, default 0
        Probability that the effect stays away where all conditions are met.
    present : label, default "yes"
        State of the variable, which has two, that is the effect.

    See Also
    --------
    NoisyOr : Causes that each bring the effect about on their own; the leak is its probability without any cause.
    BayesianNetwork : A network of discrete variables.

    Examples
    --------
    >>> fire, fuel, spark = (Variable(name, ("no", "yes")) for name in ("fire", "fuel", "spark"))
    >>> rule = NoisyAnd({"fuel": 0.5, "spark": {"yes": 1.0, "no": 0.25}}).bound(fire, [fuel, spark])
    >>> rule.table(fire, [fuel, spark])[..., 1]
    array([[0.   , 0.   ],
           [0.125, 0.5  ]])
    """

    conditions: Mapping[str, Any]
    failure: float = 0.0
    present: Any = "yes"

    def bound(self, variable: Variable, parents: Parents) -> "NoisyAnd":
        """Check names, states and probabilities.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        NoisyAnd
            The same conditions, with probabilities that were checked.

        See Also
        --------
        table : Write out P(variable | parents), one condition after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyAnd({"fuel": 0.5}).bound(fire, [fuel]).failure
        0.0
        """
        where = f"the noisy-AND of {variable.name!r}"
        _require_two_states(variable, self.present, where)
        _require_parents(self.conditions, parents, where)
        require_room(variable, parents)
        require_probability(self.failure, f"the failure of {where}")
        own = {p.name: _by_state(self.conditions[p.name], self.present, p, "the condition", where) for p in parents}
        return NoisyAnd(own, self.failure, self.present)

    def as_noisy_or(self, variable: Variable, parents: Parents) -> NoisyOr:
        """Give the noisy-OR of the absence: each condition that is not met brings it about on its own.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        NoisyOr
            The causes of the absence.

        See Also
        --------
        table : Write out P(variable | parents), one condition after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyAnd({"fuel": 0.5}).bound(fire, [fuel]).as_noisy_or(fire, [fuel]).present
        'no'
        """
        causes = {p.name: {state: 1.0 - self.conditions[p.name].get(state, 0.0) for state in p.states} for p in parents}
        absent = variable.states[1 - variable.code_of[self.present]]
        return NoisyOr(causes, self.failure, absent)

    def table(self, variable: Variable, parents: Parents) -> Array:
        """Write out P(variable | parents), one condition after the other.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        array
            Probabilities: ``(*n_states of the parents, n_states)``.

        See Also
        --------
        as_noisy_or : Give the noisy-OR of the absence: each condition that is not met brings it about on its own.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyAnd({"fuel": 0.5}).bound(fire, [fuel]).table(fire, [fuel])
        array([[1. , 0. ],
               [0.5, 0.5]])
        """
        return self.as_noisy_or(variable, parents).table(variable, parents)

    def n_parameters(self, variable: Variable, parents: Parents) -> int:
        """Count a parameter for each state that may meet its condition, and one for the failure.

        Parameters
        ----------
        variable, parents : Variable, sequence of Variable
            The variable and its parents.

        Returns
        -------
        int
            Number of free parameters.

        See Also
        --------
        table : Write out P(variable | parents), one condition after the other.

        Examples
        --------
        >>> fire, fuel = Variable("fire", ("no", "yes")), Variable("fuel", ("no", "yes"))
        >>> NoisyAnd({"fuel": 0.5}).bound(fire, [fuel]).n_parameters(fire, [fuel])
        2
        """
        return 1 + sum(map(len, self.conditions.values()))


def as_noisy_max(rule: Conditional, variable: Variable, parents: Parents) -> NoisyMax | None:
    """Say a noisy-OR or a noisy-AND as the noisy-MAX that it is; None for a table or a rule.

    >>> fever, flu = Variable("fever", ("yes", "no")), Variable("flu", ("yes", "no"))
    >>> as_noisy_max(NoisyOr({"flu": 0.75}, leak=0.25), fever, [flu])
    NoisyMax(causes={'flu': {'yes': (0.75, 0.25), 'no': (0.0, 1.0)}}, leak=(0.25, 0.75), ranking=('yes', 'no'))
    """
    if isinstance(rule, NoisyAnd):
        rule = rule.as_noisy_or(variable, parents)
    if isinstance(rule, NoisyMax):
        return rule
    if not isinstance(rule, NoisyOr):
        return None
    effect = variable.code_of[rule.present]

    def effect_row(strength: float) -> tuple[float, ...]:
        return (strength, 1.0 - strength) if effect == 0 else (1.0 - strength, strength)

    causes = {}
    for parent in parents:
        strengths = rule.strengths(parent)
        strongest_first = np.argsort(-strengths, kind="stable").tolist()
        causes[parent.name] = {parent.states[code]: effect_row(float(strengths[code])) for code in strongest_first}
    return NoisyMax(causes, effect_row(float(rule.leak)), (variable.states[effect], variable.states[1 - effect]))


def _require_two_states(variable: Variable, present: Any, where: str) -> None:
    if variable.n_states != 2 or present not in variable.code_of:
        raise ParameterError(
            f"{where} is for a variable of two states, one of them present={present!r}; {variable.name!r} has "
            f"{list(variable.states)[:10]}"
        )


def _by_state(given: Any, present: Any, parent: Variable, what: str = "", where: str = "") -> dict[Any, float]:
    """Read the probability of each state of a parent: a mapping from them, or a number, that of `present`."""
    by_state = dict(given) if isinstance(given, Mapping) else {present: given}
    _require_states(by_state, parent, where)
    for state, probability in by_state.items():
        require_probability(probability, f"{what} {parent.name}={state!r} in {where}")
    return by_state


def _require_parents(named: Mapping[str, Any], parents: Parents, where: str) -> None:
    known = {parent.name for parent in parents}
    if set(named) != known:
        raise ParameterError(f"{where} names the parents {sorted(named)}, and they are {sorted(known)}")


def _require_states(named: Mapping[Any, Any], parent: Variable, where: str) -> None:
    for state in named:
        if state not in parent.code_of:
            raise ParameterError(
                f"{where} names the state {state!r} of {parent.name!r}, which has {list(parent.states)[:10]}; name "
                f"these: {{{parent.name!r}: {{state: ...}}}}"
            )
