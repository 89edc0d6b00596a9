"""`Loss`: what each decision costs, and the decision of least expected cost.

    risk(i | row) = sum over classes j of cost[i, j] P(j | row),      best action = argmin of the risk

A loss is shown as a table, in plain text and in HTML.
"""

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np

from bayeswater.decision import risk
from bayeswater.decision.cost_sources import from_pairs, read_costs, read_file
from bayeswater.decision.cost_table import CostTable, for_one_row, for_rows
from bayeswater.decision.probabilities import Probabilities
from bayeswater.errors import DataError, DominatedActionWarning, ParameterError, SchemaError
from bayeswater.markup import html_table
from bayeswater.typing import Array

CORNER = "decide \\ true"


def text_table(table: CostTable) -> str:
    """Lay the costs out in columns: actions below one another, true classes side by side."""
    lines = [[CORNER, *map(str, table.classes)]]
    lines += [[str(action), *_cells(table, i)] for i, action in enumerate(table.actions)]
    width = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join(
        "  ".join([first.ljust(width[0]), *(cell.rjust(w) for cell, w in zip(cells, width[1:], strict=True))])
        for first, *cells in lines
    )


def cost_html(table: CostTable, corner: str = CORNER) -> str:
    """Write the costs as an HTML table."""
    rows = ([str(action), *_cells(table, i)] for i, action in enumerate(table.actions))
    return html_table([corner, *map(str, table.classes)], rows)


def _cells(table: CostTable, i: int) -> list[str]:
    return [
        _by_row(table.by_row[i, j]) if (i, j) in table.by_row else f"{table.cost[i, j]:g}"
        for j in range(len(table.classes))
    ]


def _by_row(cost: Any) -> str:
    if isinstance(cost, str):
        return f"[{cost}]"
    return f"{getattr(cost, '__name__', type(cost).__name__)}(X)" if callable(cost) else "[by row]"


class Loss:
    r"""The cost of every action under every true class: ``loss[i, j]`` is paid for deciding i when j is true.

    Parameters
    ----------
    costs : array (n_actions, n_classes), nested dict {action: {truth: cost}}, or data frame
        Rows and first keys are actions, columns and second keys the truth. A frame has a column for each class;
        its actions are the index (pandas) or the first column. The cost of a right decision that is not stated
        is 0; any other pair has to be there. In a dict a cost may also be the name of a column of X, a function
        of X, or an array (n_rows,): it then differs from row to row.
    actions, classes : labels of the rows and columns of an array
        By default their places; a loss without labels takes those of the classifier it is used with.

    Warns
    -----
    DominatedActionWarning
        Where an action is never better than another one.

    See Also
    --------
    BayesDecision : A classifier whose `predict` takes the action of least expected cost.
    DecisionNetwork : A network with decisions and utilities.

    Examples
    --------
    >>> loss = Loss({"spam": {"ham": 10}, "ham": {"spam": 1}})
    >>> print(loss)
    decide \ true  spam  ham
    spam              0   10
    ham               1    0
    >>> loss["spam", "ham"], round(loss.binary_threshold(), 3)
    (10.0, 0.091)
    >>> loss.with_reject(0.5).best_action([[0.99, 0.01], [0.8, 0.2], [0.3, 0.7]])
    array(['spam', 'reject', 'ham'], dtype='<U6')
    """

    def __init__(self, costs: Any, *, actions: Any = None, classes: Any = None) -> None:
        self.table = read_costs(costs, actions, classes)
        self._warn_of_dominated()

    # ------------------------------------------------------------------ other ways to state costs

    @classmethod
    def zero_one(cls, classes: Iterable[Any]) -> Self:
        """Make a loss in which every error costs 1: the best action is the class of largest probability.

        Parameters
        ----------
        classes : iterable of labels
            The classes, which are the actions too.

        Returns
        -------
        Loss
            Costs 0 and 1.

        See Also
        --------
        from_costs : State costs as pairs {(action, truth): cost}.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss.zero_one(["a", "b"]).costs
        array([[0., 1.],
               [1., 0.]])
        """
        labels = np.asarray(classes).tolist() if isinstance(classes, np.ndarray) else list(classes)
        return cls(1.0 - np.eye(len(labels)), actions=labels, classes=labels)

    @classmethod
    def from_costs(cls, costs: Mapping[tuple[Any, Any], Any]) -> Self:
        """State costs as pairs {(action, truth): cost}.

        Parameters
        ----------
        costs : dict {(action, truth): cost}
            A number, or the name of a column of X, for every pair.

        Returns
        -------
        Loss
            Actions and classes in the order in which the pairs name them.

        See Also
        --------
        read : Read a small CSV or TOML file.
        zero_one : Make a loss in which every error costs 1: the best action is the class of largest probability.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss.from_costs({("spam", "ham"): 10, ("ham", "spam"): 1})["spam", "ham"]
        10.0
        """
        return cls._checked(from_pairs(costs))

    @classmethod
    def read(cls, path: Any) -> Self:
        r"""Read a small CSV or TOML file.

        The header of a CSV is ``action \ truth,ham,spam`` (or ``truth \ action``: the file says what its rows are);
        a TOML file has ``rows = "action"``, ``columns = "truth"`` and a table ``[costs.spam]`` for each row, where
        a text instead of a number names a column of X. An empty cell is a cost that is not stated.

        Parameters
        ----------
        path : path
            Name of the file; one that ends in ``.toml`` is read as TOML, any other as CSV.

        Returns
        -------
        Loss
            The costs of the file.

        Raises
        ------
        DataError
            Where the file cannot be read.

        See Also
        --------
        from_costs : State costs as pairs {(action, truth): cost}.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from bayeswater import Loss
        >>> with TemporaryDirectory() as folder:
        ...     path = Path(folder) / "costs.toml"
        ...     _ = path.write_text('rows = "action"\ncolumns = "truth"\n[costs.ham]\nspam = 1\n[costs.spam]\nham = 10')
        ...     Loss.read(path)["spam", "ham"]
        10.0
        """
        return cls._checked(read_file(path))

    def with_reject(self, cost: Any, label: Any = "reject") -> "Loss":
        """Append the action to refuse, at one cost or at one for each class.

        Under 0-1 loss and a cost r, exactly the rows are refused whose largest probability is below 1 - r.

        Parameters
        ----------
        cost : float or array of shape (n_classes,)
            What a refusal costs.
        label : label, default "reject"
            What the action is called.

        Returns
        -------
        Loss
            A new loss, with the refusal as its last action.

        See Also
        --------
        best_action : Give the action of least risk, the first one among equals.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss.zero_one(["a", "b"]).with_reject(0.2).best_action([[0.7, 0.3]])
        array(['reject'], dtype='<U6')
        """
        table = self.table
        if label in table.actions:
            raise ParameterError(f"there is an action {label!r} already; give the refusal another label")
        try:
            row = np.broadcast_to(np.asarray(cost, dtype=np.float64), (len(table.classes),))
        except (TypeError, ValueError):
            raise ParameterError(f"the cost of refusing is {cost!r}; give a number, or one for each class") from None
        return self._checked(replace(table, actions=(*table.actions, label), cost=np.vstack([table.cost, row])))

    def for_classes(self, classes: Sequence[Any]) -> "Loss":
        """Bring the columns into the order of a classifier's ``classes_``; labels that do not match are refused.

        Parameters
        ----------
        classes : sequence of labels
            The classes, in their order.

        Returns
        -------
        Loss
            The same costs.

        Raises
        ------
        SchemaError
            Where labels do not match.

        See Also
        --------
        for_rows : Evaluate costs that depend on the row for the rows X.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss({"a": {"b": 5}, "b": {"a": 1}}).for_classes(["b", "a"]).classes
        ['b', 'a']
        """
        return self._of(self.table.for_classes(classes))

    def for_rows(self, X: Any, n_rows: int | None = None) -> "Loss":
        """Evaluate costs that depend on the row for the rows X.

        Parameters
        ----------
        X : data frame or array
            The rows, with the columns that costs name.
        n_rows : int, optional
            Number of rows, where X does not tell it.

        Returns
        -------
        Loss
            Costs that are numbers, one for each row where they depend on it.

        See Also
        --------
        for_classes : Bring the columns into the order of a classifier's ``classes_``.

        Examples
        --------
        >>> import pandas as pd
        >>> from bayeswater import Loss
        >>> loss = Loss({"good": {"bad": "amount"}, "bad": {"good": 1}})
        >>> loss.for_rows(pd.DataFrame({"amount": [5, 90]})).realised(["good", "good"], ["bad", "bad"])
        array([ 5., 90.])
        """
        return self._of(for_rows(self.table, X, len(X) if n_rows is None else n_rows))

    # ------------------------------------------------------------------ risks and decisions

    def conditional_risk(self, proba: Any = None, *, log_proba: Any = None, X: Any = None) -> Array:
        """Give the expected cost of every action: (n_rows, n_actions).

        Parameters
        ----------
        proba, log_proba : arrays of shape (n_rows, n_classes)
            Probabilities of the classes, or their logarithms. Rows must sum to one within 1e-6 (1e-3 in single
            precision).
        X : data frame or array, optional
            The rows, where costs depend on them.

        Returns
        -------
        array of shape (n_rows, n_actions)
            Expected costs.

        Raises
        ------
        DataError
            Where a row of probabilities does not sum to one.

        See Also
        --------
        best_action : Give the action of least risk, the first one among equals.
        expected_loss : Give the expected cost of the best action, or of those given.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 10], [1, 0]]).conditional_risk([[0.8, 0.2]])
        array([[2. , 0.8]])
        """
        posterior, table = self._facing(proba, log_proba, X)
        return risk.conditional_risk(table, posterior)

    def best_action(
        self, proba: Any = None, *, log_proba: Any = None, X: Any = None, return_index: bool = False
    ) -> Array:
        """Give the action of least risk, the first one among equals; its place in `actions` with `return_index`.

        Parameters
        ----------
        proba, log_proba : arrays of shape (n_rows, n_classes)
            Probabilities of the classes, or their logarithms, as in `conditional_risk`.
        X : data frame or array, optional
            The rows, where costs depend on them.
        return_index : bool, default False
            Whether to give the place of the action in `actions` instead of its label.

        Returns
        -------
        array of shape (n_rows,)
            Labels of actions, or their places.

        See Also
        --------
        conditional_risk : Give the expected cost of every action.
        expected_loss : Give the expected cost of the best action, or of those given.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 10], [1, 0]]).best_action([[0.8, 0.2]])
        array([1])
        """
        posterior, table = self._facing(proba, log_proba, X)
        return risk.best_action(table, posterior, None if return_index else table.action_labels)

    def expected_loss(self, proba: Any = None, action: Any = None, *, log_proba: Any = None, X: Any = None) -> Array:
        """Give the expected cost of the best action, or of those given: (n_rows,).

        Parameters
        ----------
        proba : array of shape (n_rows, n_classes), optional
            Probabilities of the classes, as in `conditional_risk`.
        action : array of shape (n_rows,), optional
            The actions that are taken; default the best ones.
        log_proba : array of shape (n_rows, n_classes), optional
            Their logarithms, in the place of `proba`.
        X : data frame or array, optional
            The rows, where costs depend on them.

        Returns
        -------
        array of shape (n_rows,)
            Expected costs.

        See Also
        --------
        best_action : Give the action of least risk, the first one among equals.
        regret : Give the expected cost beyond that of the best action.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 10], [1, 0]]).expected_loss([[0.8, 0.2]])
        array([0.8])
        """
        posterior, table = self._facing(proba, log_proba, X)
        if action is None:
            return risk.least_risk(table, posterior)
        return _of_each_row(risk.conditional_risk(table, posterior), table.action_codes(action))

    def regret(self, proba: Any = None, action: Any = None, *, log_proba: Any = None, X: Any = None) -> Array:
        """Give the expected cost beyond that of the best action.

        Parameters
        ----------
        proba : array of shape (n_rows, n_classes), optional
            Probabilities of the classes, as in `conditional_risk`.
        action : array of shape (n_rows,), optional
            The actions that are taken; default all actions.
        log_proba : array of shape (n_rows, n_classes), optional
            Their logarithms, in the place of `proba`.
        X : data frame or array, optional
            The rows, where costs depend on them.

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_actions)
            Regrets, none of them below 0.

        See Also
        --------
        expected_loss : Give the expected cost of the best action, or of those given.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 10], [1, 0]]).regret([[0.5, 0.5]])
        array([[4.5, 0. ]])
        """
        posterior, table = self._facing(proba, log_proba, X)
        regret = risk.regrets(table, posterior)
        return regret if action is None else _of_each_row(regret, table.action_codes(action))

    def realised(self, action: Any, truth: Any, *, X: Any = None) -> Array:
        """Give the cost of actions once the truth is known: (n_rows,).

        Parameters
        ----------
        action : array of shape (n_rows,)
            The actions that were taken.
        truth : array of shape (n_rows,)
            The true classes.
        X : data frame or array, optional
            The rows, where costs depend on them.

        Returns
        -------
        array of shape (n_rows,)
            Costs.

        See Also
        --------
        expected_loss : Give the expected cost of the best action, or of those given.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss({"spam": {"ham": 10}, "ham": {"spam": 1}}).realised(["spam", "ham"], ["ham", "ham"])
        array([10.,  0.])
        """
        i, j = self.table.action_codes(action), self.table.class_codes(truth)
        if len(i) != len(j):
            raise DataError(f"there are {len(i)} actions and {len(j)} true classes; give one of each for every row")
        table = for_rows(self.table, X, len(i))
        cost = table.cost[i, j]
        for (row, column), by_row in table.by_row.items():
            there = (i == row) & (j == column)
            cost[there] = by_row[there]  # type: ignore[index]
        return cost

    def _facing(self, proba: Any, log_proba: Any, X: Any) -> tuple[Probabilities, CostTable]:
        posterior = Probabilities.of(proba, log_proba, len(self.classes))
        return posterior, for_rows(self.table, X, posterior.n_rows)

    # ------------------------------------------------------------------ what kind of loss it is

    def binary_threshold(self) -> float:
        """Give the probability of the second class above which its action is best, for two classes and two actions.

        p* = (c10 - c00) / (c10 - c00 + c01 - c11) with c_ij the cost of deciding i when j is true. At p* itself
        both actions cost the same, and the first is taken.

        Returns
        -------
        float
            The probability, above 0 and below 1.

        See Also
        --------
        best_action : Give the action of least risk, the first one among equals.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 9], [1, 0]]).binary_threshold()
        0.1
        """
        table = self.table.for_classes(self.classes) if self.table.named else self.table
        if table.cost.shape != (2, 2) or table.by_row:
            raise ParameterError(f"a threshold needs 2 actions and 2 classes of fixed costs, not {table.cost.shape}")
        regret = table.regret
        if not (regret[1, 0] > 0 and regret[0, 1] > 0):
            if regret[0, 0] > 0 and regret[1, 1] > 0:
                first, second = table.actions
                raise ParameterError(
                    f"{first!r} is the action for {table.classes[1]!r}, and {second!r} for {table.classes[0]!r}; give "
                    f"the actions in the order of the classes, {second!r} first"
                )
            raise ParameterError(f"there is no threshold: one action is never worse than the other\n{self}")
        return float(regret[1, 0] / (regret[1, 0] + regret[0, 1]))

    def is_reasonable(self) -> bool:
        """Say whether every class's own action is the cheapest one under it, and no action is dominated.

        The condition of Elkan (2001, The foundations of cost-sensitive learning): an error costs more than the right
        decision. Classes without an action of their own are held to the second half only.

        Returns
        -------
        bool
            Whether both conditions hold.

        See Also
        --------
        with_reject : Append the action to refuse, at one cost or at one for each class.

        Examples
        --------
        >>> from bayeswater import Loss
        >>> Loss([[0, 9], [1, 0]]).is_reasonable()
        True
        """
        table = self.table
        if table.by_row:
            raise ParameterError("some costs depend on the row; ask for_rows(X) and look at each")
        own = [(table.actions.index(label), j) for j, label in enumerate(table.classes) if label in table.actions]
        return not table.dominated() and all((np.delete(table.cost[:, j], i) > table.cost[i, j]).all() for i, j in own)

    @property
    def actions(self) -> Array:
        """Labels of the actions: (n_actions,)."""
        return self.table.action_labels

    @property
    def classes(self) -> list[Any]:
        """Labels of the classes, in the order of the columns."""
        return list(self.table.classes)

    @property
    def costs(self) -> Array:
        """The costs (n_actions, n_classes), NaN where they depend on the row."""
        costs = self.table.cost.copy()
        for place in self.table.by_row:
            costs[place] = np.nan
        return costs

    def __getitem__(self, pair: tuple[Any, Any]) -> Any:
        if not (isinstance(pair, tuple) and len(pair) == 2):
            raise SchemaError(f"ask for loss[action, truth], not for loss[{pair!r}]")
        place = int(self.table.action_codes([pair[0]])[0]), int(self.table.class_codes([pair[1]])[0])
        return self.table.by_row.get(place, float(self.table.cost[place]))

    # ------------------------------------------------------------------ housekeeping

    @classmethod
    def _of(cls, table: CostTable) -> Self:
        loss = cls.__new__(cls)
        loss.table = table
        return loss

    @classmethod
    def _checked(cls, table: CostTable) -> Self:
        loss = cls._of(table)
        loss._warn_of_dominated(stacklevel=4)
        return loss

    def _warn_of_dominated(self, stacklevel: int = 3) -> None:
        for action, better in self.table.dominated():
            warnings.warn(
                f"action {action!r} is never taken: {better!r} costs no more whatever is true",
                DominatedActionWarning,
                stacklevel=stacklevel,
            )

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Loss):
            return NotImplemented
        a, b = self.table, other.table
        same = (a.actions, a.classes, a.named) == (b.actions, b.classes, b.named)
        return same and np.array_equal(a.cost, b.cost) and repr(a.by_row) == repr(b.by_row)

    def __hash__(self) -> int:
        return hash((self.table.actions, self.table.classes, self.table.cost.tobytes()))

    def __str__(self) -> str:
        return text_table(self.table)

    def __repr__(self) -> str:
        return f"Loss({self.table.cost.tolist()}, actions={list(self.table.actions)}, classes={self.classes})"

    def _repr_html_(self) -> str:
        return cost_html(self.table)


def as_loss(loss: Any, classes: Sequence[Any]) -> Loss:
    """Take a `Loss`, anything that `Loss` reads, or None for 0-1 loss, with its columns in the order of the classes."""
    if loss is None:
        return Loss.zero_one(classes)
    return (loss if isinstance(loss, Loss) else Loss(loss)).for_classes(classes)


def loss_of(table: CostTable) -> Loss:
    """Give the loss of a table of costs."""
    return Loss._of(table)


def loss_of_row(loss: Loss, X: Any) -> Loss:
    """Give the costs of the one row X, where they differ from row to row."""
    return Loss._of(for_one_row(loss.table, X))


def _of_each_row(values: Array, codes: Array) -> Array:
    if len(values) != len(codes):
        raise DataError(f"there are {len(codes)} actions for {len(values)} rows; give one for each row")
    return values[np.arange(len(codes)), codes]
