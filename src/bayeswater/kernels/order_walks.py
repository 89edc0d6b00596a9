"""Walks down grow trees: the parents that each variable takes when only those before it in an order may be taken.

A node of a variable's tree is a set of parents. It lists the variables whose joining gains, the best first; a walk
takes the first of them that may be taken, and goes on from there. The score of a variable in an order is that of the
node at which its walk ends, after parents that do not pay any more were dropped.

Nodes are made on demand: a walk that would go where no node is yet writes down the link it needs, and ends there. The
caller makes the nodes and asks again.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled

UNMADE = -1
"""In place of a node: none yet."""

WANTED = -2
"""In place of a node: none yet, and asked for."""


@compiled
def best_place(x, order, lowest, highest, root, first, n_listed, listed, child, score, wanted, workspace):  # type: ignore[no-untyped-def]
    """Find where x stands best, from `lowest` to `highest`: (place, gain over its place now, n_wanted).

    Parameters
    ----------
    order : (n,) the variables as they stand
    root : (n,) node of each variable without a parent of choice
    first, n_listed : for each node, its part of `listed` (variables) and of `child` (nodes)
    score : of each node
    wanted : (n_most,) links that are needed, filled up to n_wanted; then place and gain have no meaning
    workspace : (3, n + 1) numbers and, in its last row, who may be taken
    """
    n = len(order)
    own, with_x, may = workspace[0], workspace[1], workspace[2]
    may[:] = 0.0
    n_wanted = 0
    now = 0
    # own[i]: score of x after the first i others; with_x[i]: what it gains the i-th other to have x before it.
    i = 0
    total = 0.0  # of the others, with x after all of them
    for at in range(n + 1):
        is_end = at == n
        v = x if is_end or order[at] == x else order[at]
        if not is_end and v == x:
            now = at
            continue
        for turn in range(3):
            # First x itself where it would stand here; then the other without x; then, if x might matter, with x.
            if turn == 0:
                y = x
            else:
                if is_end:
                    break
                y = v
            if turn == 2:
                may[x] = 1.0
            node = root[y]
            meets_x = False
            while True:
                step = -1
                for c in range(first[node], first[node] + n_listed[node]):
                    if may[listed[c]] > 0.0:
                        step = c
                        break
                    if listed[c] == x:
                        meets_x = True
                if step < 0:
                    break
                if child[step] < 0:
                    if child[step] == UNMADE and n_wanted < len(wanted):
                        wanted[n_wanted] = step
                        n_wanted += 1
                        child[step] = WANTED
                    break
                node = child[step]
            if turn == 0:
                own[i] = score[node]
            elif turn == 1:
                without = score[node]
                total += without
                with_x[i] = 0.0
                if not meets_x:
                    break
            else:
                with_x[i] = score[node] - without
                may[x] = 0.0
        if not is_end:
            may[v] = 1.0
            i += 1
    # Standing at place i: the others from i on have x before them.
    later = 0.0
    best, best_score, score_now = -1, -np.inf, 0.0
    for i in range(n - 1, -1, -1):
        if i < n - 1:
            later += with_x[i]
        found = total + later + own[i]
        if i == now:
            score_now = found
        if lowest <= i <= highest and found > best_score:
            best, best_score = i, found
    return best, best_score - score_now, n_wanted


@compiled
def end_nodes(order, root, first, n_listed, listed, child, wanted, ends):  # type: ignore[no-untyped-def]
    """Fill `ends` (n,) with the node at which the walk of every variable ends, and give the number of links wanted."""
    n = len(order)
    may = np.zeros(n, dtype=np.bool_)
    n_wanted = 0
    for at in range(n):
        y = order[at]
        node = root[y]
        while True:
            step = -1
            for c in range(first[node], first[node] + n_listed[node]):
                if may[listed[c]]:
                    step = c
                    break
            if step < 0:
                break
            if child[step] < 0:
                if child[step] == UNMADE and n_wanted < len(wanted):
                    wanted[n_wanted] = step
                    n_wanted += 1
                    child[step] = WANTED
                break
            node = child[step]
        ends[y] = node
        may[y] = True
    return n_wanted
