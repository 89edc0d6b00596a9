"""Trees of boosters on coded columns: slopes of the log-loss, the search for questions, steps of leaves, their sums.

A question is whether the code of a column lies above a cut. The leaf of a row is the number whose bits are the answers,
the first one foremost. In an oblivious tree all nodes of a level ask the same: it is a list of `depth` questions. Else
every node has its own: they stand level by level, 2^depth - 1 of them.

The gain of a question is that of one Newton step in every leaf. With g the sum of slopes of the rows in a leaf, in some
directions, and h the sum of their curvatures,

    sum over leaves of |g|^2 / (h + ridge),    after the question less before

Sums of a leaf are kept for every code of every column looked at. Of two leaves that come of one, the rows of the
smaller are added up, and the other has what is left.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled, compiled_plainly

LEAST_GAIN = 1e-9
"""Gain that is no more than rounding."""

NO_CUT = 2**31 - 1
"""Above every code: all rows stay below."""

ROWS_OF_BLOCK = 2048
"""Rows that trees are added for at a time: their codes stay in cache."""

ROWS_OF_NODES = 512
"""The same where nodes have questions of their own: then all cells of these rows are to stay there."""


@compiled_plainly
def loss_slopes(score, log_prior, labels, weight, loss, slope, curvature):  # type: ignore[no-untyped-def]
    """Fill each row's log-loss (n_rows,), and its first and second derivatives by the scores, (n_rows, n_classes) each.

    With p_k proportional to exp(log_prior_k + score_k) they are, for a row of class y,

        -w log p_y,    w (p_k - [k is y]),    w p_k (1 - p_k)
    """
    n_rows, n_classes = score.shape
    for i in range(n_rows):
        top = -np.inf
        for k in range(n_classes):
            slope[i, k] = score[i, k] + log_prior[k]
            top = max(top, slope[i, k])
        own, total = slope[i, labels[i]], 0.0
        for k in range(n_classes):
            slope[i, k] = np.exp(slope[i, k] - top)
            total += slope[i, k]
        for k in range(n_classes):
            p = slope[i, k] / total
            curvature[i, k] = weight[i] * p * (1 - p)
            slope[i, k] = weight[i] * (p - (labels[i] == k))
        loss[i] = weight[i] * (top + np.log(total) - own)


@compiled
def grow_tree(codes, first, columns, rows, terms, ridge, least, depth, column, cut, leaf):  # type: ignore[no-untyped-def]
    """Find the questions of a tree, one level after the other, and the leaf of every row.

    Parameters
    ----------
    codes : (n_columns, n_rows), narrow unsigned codes
    first : (n_looked_at + 1,), where the codes of each column that is looked at begin, one after the other
    columns : (n_looked_at,), these columns
    rows : (n,), the rows to learn from
    terms : (n_rows, n_directions + 1), slopes of the log-loss in some directions, and its curvature
    ridge : curvature that every leaf has beside that of its rows
    least : curvature below which a side of a question does not count
    depth : levels of the tree
    column, cut : (depth,) of an oblivious tree, else (2^depth - 1,); they are filled, codes above the cut go to the
        second child
    leaf : (n_rows,), filled
    """
    n_rows, width, is_oblivious = codes.shape[1], terms.shape[1], len(column) == depth
    n_looked_at, last, n_slots = len(columns), width - 1, first[len(columns)]
    sums, above = np.zeros((1 << depth, n_slots, width)), np.zeros((1 << depth, n_slots, width))
    gain, whole, below = np.zeros(n_slots), np.zeros(width), np.zeros(width)
    size, is_lesser = np.zeros(1 << depth, np.int64), np.ones(1 << depth, np.bool_)
    added, n_added = rows.copy(), len(rows)
    size[0] = len(rows)
    for i in range(n_rows):
        leaf[i] = 0
    for level in range(depth):
        n_nodes = 1 << level
        if level:
            for node in range(n_nodes):
                size[node] = 0
            for t in range(len(rows)):
                size[leaf[rows[t]]] += 1
            for node in range(n_nodes):
                other = node ^ 1
                is_lesser[node] = size[node] < size[other] or (size[node] == size[other] and node < other)
            n_added = 0
            for t in range(len(rows)):
                if is_lesser[leaf[rows[t]]]:
                    added[n_added] = rows[t]
                    n_added += 1
        above, sums = sums, above
        for node in range(n_nodes):
            for slot in range(n_slots):
                for q in range(width):
                    sums[node, slot, q] = 0.0
        for c in range(n_looked_at):
            for t in range(n_added):
                i = added[t]
                node, slot = leaf[i], first[c] + codes[columns[c], i]
                for q in range(width):
                    sums[node, slot, q] += terms[i, q]
        for node in range(n_nodes):
            if not is_lesser[node]:
                for slot in range(n_slots):
                    for q in range(width):
                        sums[node, slot, q] = above[node >> 1, slot, q] - sums[node ^ 1, slot, q]
        for node in range(n_nodes):
            before = 0.0
            for q in range(width):
                whole[q] = 0.0
                for slot in range(first[1]):
                    whole[q] += sums[node, slot, q]
            for q in range(last):
                before += whole[q] * whole[q] / (whole[last] + ridge)
            for c in range(n_looked_at if size[node] > 1 else 0):  # a single row cannot be parted
                for q in range(width):
                    below[q] = 0.0
                for slot in range(first[c], first[c + 1] - 1):
                    for q in range(width):
                        below[q] += sums[node, slot, q]
                    h, other_h = below[last], whole[last] - below[last]
                    if h >= least and other_h >= least:
                        square, other_square = 0.0, 0.0
                        for q in range(last):
                            square += below[q] * below[q]
                            other_square += (whole[q] - below[q]) * (whole[q] - below[q])
                        gain[slot] += square / (h + ridge) + other_square / (other_h + ridge) - before
            if is_oblivious and node < n_nodes - 1:
                continue
            best, q = LEAST_GAIN, level if is_oblivious else n_nodes - 1 + node
            column[q], cut[q] = columns[0], NO_CUT
            for c in range(n_looked_at):
                for slot in range(first[c], first[c + 1] - 1):
                    if gain[slot] > best:
                        best = gain[slot]
                        column[q], cut[q] = columns[c], slot - first[c]
                    gain[slot] = 0.0
        for i in range(n_rows):
            q = level if is_oblivious else n_nodes - 1 + leaf[i]
            leaf[i] = 2 * leaf[i] + (codes[column[q], i] > cut[q])


@compiled
def leaf_steps(leaf, slope, curvature, ridge, rate, step):  # type: ignore[no-untyped-def]
    """Fill the Newton steps of all leaves: minus `rate` g / (h + `ridge`), (n_leaves, n_classes)."""
    curved = np.zeros((len(step), step.shape[1]))
    for v in range(len(step)):
        for k in range(step.shape[1]):
            step[v, k], curved[v, k] = 0.0, ridge
    for i in range(len(leaf)):
        for k in range(step.shape[1]):
            step[leaf[i], k] -= slope[i, k]
            curved[leaf[i], k] += curvature[i, k]
    for v in range(len(step)):
        for k in range(step.shape[1]):
            step[v, k] *= rate / curved[v, k]


@compiled
def add_trees(codes, column, cut, order, ranks, slot, step, score):  # type: ignore[no-untyped-def]
    """Add the steps of oblivious trees to the scores (n_rows, n_classes) of coded rows.

    Parameters
    ----------
    codes : (n_columns, n_rows)
    column, cut : (n_trees, depth)
    order : (n_trees,), which row of `ranks` replaces the codes of states by places in an order
    ranks : (n_orders, n_slots), place of every code of all columns of states
    slot : (n_columns,), where the codes of a column begin in a row of `ranks`; -1 for a column of numbers
    step : (n_trees, 2^depth, n_classes)
    """
    n_columns, n_rows = codes.shape
    n_block = min(n_rows, ROWS_OF_BLOCK)
    leaf, place = np.zeros(n_block, np.int32), np.zeros((n_columns, n_block), np.int32)
    placed_by = np.zeros(n_columns, np.int64)
    for start in range(0, n_rows, ROWS_OF_BLOCK):
        n = min(ROWS_OF_BLOCK, n_rows - start)
        own = score[start : start + n]
        for j in range(n_columns):
            placed_by[j] = -1
        for tree in range(len(column)):
            for i in range(n):
                leaf[i] = 0
            for level in range(column.shape[1]):
                j, bound = column[tree, level], cut[tree, level]
                cells, places = codes[j, start : start + n], place[j]
                if slot[j] < 0:
                    for i in range(n):
                        leaf[i] = 2 * leaf[i] + (cells[i] > bound)
                else:
                    if placed_by[j] != order[tree]:  # once for all trees of an order
                        placed_by[j] = order[tree]
                        for i in range(n):
                            places[i] = ranks[order[tree], slot[j] + cells[i]]
                    for i in range(n):
                        leaf[i] = 2 * leaf[i] + (places[i] > bound)
            for i in range(n):
                for k in range(own.shape[1]):
                    own[i, k] += step[tree, leaf[i], k]


@compiled
def add_node_trees(codes, column, cut, order, ranks, slot, step, score):  # type: ignore[no-untyped-def]
    """Do so with trees whose nodes have questions of their own, (n_trees, 2^depth - 1)."""
    n_columns, n_rows = codes.shape
    n_block, n_inner = min(n_rows, ROWS_OF_NODES), np.uint64(column.shape[1])
    place = np.zeros((n_block, n_columns), np.int32)  # the cells of a row side by side
    for start in range(0, n_rows, ROWS_OF_NODES):
        n, placed_by = min(ROWS_OF_NODES, n_rows - start), -1
        own = score[start : start + n]
        for j in range(n_columns):
            for i in range(n):
                place[i, j] = codes[j, start + i]
        for tree in range(len(column)):
            if placed_by != order[tree]:
                placed_by = order[tree]
                for j in range(n_columns):
                    if slot[j] >= 0:
                        for i in range(n):
                            place[i, j] = ranks[placed_by, slot[j] + codes[j, start + i]]
            asked, bound, steps = column[tree], cut[tree], step[tree]
            for i in range(n):
                cells, node = place[i], np.uint64(0)  # without a sign, an index needs no second look
                while node < n_inner:
                    is_above = cells[np.uint64(asked[node])] > bound[node]
                    node = np.uint64(2) * node + np.uint64(1) + np.uint64(is_above)
                for k in range(own.shape[1]):
                    own[i, k] += steps[node - n_inner, k]
