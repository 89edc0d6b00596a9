"""`learn_blanket`: which columns tell of one, given the others, by tests of independence."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError, nearest_names
from bayeswater.models.structures.mixed_learning import NumbersAndStates, is_mixed
from bayeswater.models.structures.state_table import StateTable, require_complete
from bayeswater.models.structures.structure_learning import checked_most_given, checked_significance, checked_test
from bayeswater.structure.blankets import BLANKETS, NEAR, TestAnswers, hpc
from bayeswater.structure.family_scores import FamilyScores
from bayeswater.structure.local_scores import LocalScores
from bayeswater.structure.moment_scores import MomentScore
from bayeswater.structure.scores import Score
from bayeswater.structure.search import checked_method, tests_of


def learn_blanket(
    data: Any,
    name: str,
    method: str = "iamb",
    *,
    significance: float = 0.05,
    test: str | None = None,
    max_given: int | None = None,
    seed: int = 0,
    numbers: str | None = None,
    discretize: str = "equal_frequency",
    columns: Mapping[Any, Any] | None = None,
    sample_weight: Any = None,
) -> tuple[str, ...]:
    """Find the Markov blanket of a column: given it, all other columns say nothing more about the column.

    No graph is learned, so it takes a fraction of the time of `learn_structure`.

    Parameters
    ----------
    data : as in `learn_structure`
        The rows.
    name : str
        The column.
    method : str, default "iamb"
        Of the Markov blanket "grow_shrink", "iamb", "inter_iamb", "fast_iamb" or "iamb_fdr"; of the parents and
        children alone "mmpc", "si_hiton_pc" or "hpc".
    significance, test, max_given : as in `learn_structure`
        The tests.
    seed : int, default 0
        Seed of tests that draw.
    numbers, discretize, columns, sample_weight : as in `learn_structure`
        How rows are read.

    Returns
    -------
    tuple of str
        Names, in the order of the columns.

    See Also
    --------
    learn_structure : Find the graph of the highest score.
    independence_test : Test whether two columns are independent, given others.

    Examples
    --------
    >>> import pandas as pd
    >>> from bayeswater import learn_blanket
    >>> rain, wet = ["yes", "no", "no", "no"] * 30, ["yes", "no", "no", "yes"] * 30
    >>> learn_blanket(pd.DataFrame({"rain": rain, "wet": wet, "coin": ["heads"] * 60 + ["tails"] * 60}), "rain")
    ('wet',)
    """
    method, mixed = checked_method(method), is_mixed(numbers, "bic", test)
    if method not in NEAR:
        raise ParameterError(f"method is {method!r}; choose one of {', '.join(NEAR)}")
    checked_significance(significance)
    test, most = checked_test(test, mixed=mixed), checked_most_given(max_given)
    table: StateTable | NumbersAndStates
    scores: FamilyScores
    if mixed:
        table = of_both = NumbersAndStates.of(data, discretize, columns, sample_weight)
        scores = of_both.scores(MomentScore("loglik"))
    else:
        table = of_states = StateTable.of(data, discretize, columns, sample_weight)
        require_complete(of_states)
        scores = LocalScores(of_states.codes, of_states.n_states, Score("bic"), of_states.weight)
    if name not in table.names:
        raise ParameterError(f"there is no column {name!r} ({nearest_names(name, table.names)})")
    ask = TestAnswers(tests_of(scores, test, seed), significance, max_given=np.inf if most is None else most)
    x, n = table.names.index(name), len(table.names)
    others = [[y for y in range(n) if y != own] for own in range(n)]
    found = hpc(ask, x, others, [set()] * n) if method == "hpc" else BLANKETS[method](ask, x, others[x], set())
    return tuple(table.names[y] for y in sorted(found))
