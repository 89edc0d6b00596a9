"""Scores of a variable with its parents and one arc more or less, of weighted rows (whole ones: `local_score_columns`).

    scores[x] = score(y | P + x), or score(y | P - x) where x is in P;   scores[y] = score(y | P)

Sums of weights are no whole numbers, so that no bits are counted and no term is read from a table. A cell, a
configuration of the parents that some row has and a state of y, is numbered as it comes; each x is one pass over the
rows. Weights are added in the order of the rows, whatever the number of threads. Deleting a parent reads no row.
"""

from math import lgamma, log

import numpy as np

from bayeswater.kernels.compiling import compiled
from bayeswater.kernels.local_score_columns import MOST_CELLS


@compiled
def score_weighted_column(codes, weight, n_states, y, parents, marks, constant, most_gain, scores):  # type: ignore[no-untyped-def]
    """Fill `scores` (n_variables,).

    Parameters
    ----------
    codes : (n_variables, n_rows)
    weight : (n_rows,)
    marks : (2, n_variables), for each x the pseudo-count of a cell and of a configuration; below 0 for n ln n
    constant, most_gain : (n_variables,), as in `score_column`
    """
    n_variables, n_rows = codes.shape
    n_y = n_states[y]

    # Number the configurations of the parents that some row has, and then the cells; keep one row of each cell.
    configuration = np.zeros(n_rows, dtype=np.int32)
    n_configurations = 1
    n_cells = 0
    for k in range(len(parents) + 1):
        member = parents[k] if k < len(parents) else y
        n = n_states[member]
        number = np.full(n_configurations * n, -1, dtype=np.int32)
        n_cells = n_configurations  # of the configurations before y comes
        n_configurations = 0
        for i in range(n_rows):
            key = configuration[i] * n + codes[member, i]
            if number[key] < 0:
                number[key] = n_configurations
                n_configurations += 1
            configuration[i] = number[key]
        if k == len(parents):
            n_cells, n_configurations = n_configurations, n_cells
    cell = configuration
    of_cell = np.full(n_cells, -1, dtype=np.int64)
    count = np.zeros(n_cells)
    for i in range(n_rows):
        count[cell[i]] += weight[i]
        if of_cell[cell[i]] < 0:
            of_cell[cell[i]] = i

    is_parent = np.zeros(n_variables, dtype=np.bool_)
    for parent in parents:
        is_parent[parent] = True
    most = 1
    for x in range(n_variables):
        if n_cells * n_states[x] <= MOST_CELLS:
            most = max(most, n_states[x])
    cell_count = np.empty(n_cells * most)
    row_count = np.empty(n_cells * most)
    row_of = np.empty(n_cells, dtype=np.int64)
    for turn in range(n_variables + 1):  # y first: what it has without x bounds what x can bring
        x = y if turn == 0 else turn - 1
        if turn == y + 1:
            continue
        joins = x != y and not is_parent[x]
        n = n_states[x] if joins else 1
        if joins:
            price = constant[y] - constant[x]
            cannot_pay = min(constant[y] - scores[y], most_gain[x]) <= price and most_gain[x] < np.inf
            if cannot_pay or n_cells * n > MOST_CELLS:
                scores[x] = -np.inf
                continue
        # Number the configurations of the parents that stay, from one row of each cell.
        n_of_rows = 1
        row_of[:] = 0
        for parent in parents:
            if parent != x:
                states = n_states[parent]
                number = np.full(n_of_rows * states, -1, dtype=np.int32)
                n_of_rows = 0
                for c in range(n_cells):
                    key = row_of[c] * states + codes[parent, of_cell[c]]
                    if number[key] < 0:
                        number[key] = n_of_rows
                        n_of_rows += 1
                    row_of[c] = number[key]
        row_count[: n_of_rows * n] = 0.0
        if joins:
            cell_count[: n_cells * n] = 0.0
            for i in range(n_rows):
                cell_count[cell[i] * n + codes[x, i]] += weight[i]
            n_counts = n_cells * n
            for c in range(n_cells):
                for s in range(n):
                    row_count[row_of[c] * n + s] += cell_count[c * n + s]
        else:
            n_counts = n_of_rows * n_y
            if n_counts > cell_count.shape[0]:
                cell_count = np.empty(n_counts)
            cell_count[:n_counts] = 0.0
            for c in range(n_cells):
                cell_count[row_of[c] * n_y + codes[y, of_cell[c]]] += count[c]
                row_count[row_of[c]] += count[c]
        total = constant[x]
        for which in range(2):
            mark = marks[which, x]
            sign = 1.0 - 2.0 * which
            n_terms = n_of_rows * n if which else n_counts
            for k in range(n_terms):
                rows = row_count[k] if which else cell_count[k]
                if rows > 0 and mark < 0:
                    total += sign * rows * log(rows)
                elif rows > 0:
                    total += sign * (lgamma(rows + mark) - lgamma(mark))
        scores[x] = total
