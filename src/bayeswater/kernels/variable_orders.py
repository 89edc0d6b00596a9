"""Orders of variables: walks that move one of them, and all orders gone through as subsets.

Walks down grow trees find the parents that each variable takes when only those before it in an order may be taken. A
node of a variable's tree is a set of parents. It lists the variables whose joining gains, the best first; a walk takes
the first of them that may be taken, and goes on from there. The score of a variable in an order is that of the node at
which its walk ends, after parents that do not pay any more were dropped.

A walk touches the variables it looks up: those it takes, and those it finds listed before them that may not be taken.
Whether any other variable may be taken makes no difference to it. So most of what a move would change is known
without a walk, and a move only spoils the walks that touched what moved.

Nodes are made on demand: a walk that would go where no node is yet writes down the link it needs, and ends there. The
caller makes the nodes and asks again.

The best order of all is found by dynamic programming over the subsets of the variables:

    best(S) = max over y in S of best(S without y) + gain of y from S without y,

where y takes the best of its sets of parents that lies within the others of S. Subsets are numbers whose bits are their
members; they are gone through in rising order, so that all parts of a subset come before it.
"""

import numpy as np

from bayeswater.kernels.compiling import compiled, compiled_plainly

UNMADE = -1
"""In place of a node: none yet."""

WANTED = -2
"""In place of a node: none yet, and asked for."""


@compiled_plainly
def settle(  # type: ignore[no-untyped-def]
    order,
    end,
    touched,
    spoiled,
    queue,
    turn,
    tie,
    required,
    root,
    first,
    n_listed,
    listed,
    child,
    score,
    wanted,
    n_wanted,
    may,
    own,
    with_x,
):
    """Move the variables of a queue, one by one to the place where it gains most, until none is left.

    Gives the number of links wanted so far; where walks needed some that are not there, it has to be called again
    when they are: ``turn[3]`` says so.

    Parameters
    ----------
    order : (n,) the variables as they stand
    end : (n,) node at which the walk of each variable ends
    touched : (n + 2, n + 1) in the last column the number of its walk, and in the others that of the last walk that
        touched a variable; the last two rows are for walks that are tried
    spoiled : (n,) whether the walk of a variable has to be made again
    queue : (n_most,) variables to move, a ring; one that moved comes last again
    turn : (6,) where the queue begins, how many wait in it, how many in a row gained nothing, whether links are wanted,
        how many walks are spoiled, and how many were made
    tie : difference below which scores are equal; of equal places the last is taken
    required : (n, n) whether an arc from parent to child has to be there
    root : (n,) node of each variable without a parent of choice
    first, n_listed : for each node, its part of `listed` (variables) and of `child` (nodes)
    score : of each node
    wanted, n_wanted : links that are needed; as many as are there already
    may : (n,) room for the last round in which a variable might be taken
    own, with_x : (n,) room, at i for the score of x after the first i others, and what the i-th other gains by having x
        before it
    """
    n = len(order)
    may_now = 0.0
    for v in range(n):
        may[v] = 0.0
    turn[3] = 0
    while True:
        x = -1  # a round in which spoiled walks are made again; else one that looks for the best place of x
        may_now += 1.0
        if turn[4] == 0:
            if turn[1] == 0:
                return n_wanted
            x = queue[turn[0]]
        i = now = 0
        u = -1  # the last other before this place
        has_x = False
        for at in range(n + 1):
            v = order[at] if at < n else -1
            if v >= 0 and v == x:
                now = i
                has_x = True
                continue
            for which in range(2):
                # First x itself where it would stand here, then the other, with x before it if it has not, or without.
                if which == 0:
                    if x < 0:
                        continue
                    if i > 0:
                        own[i] = own[i - 1]
                        if touched[n, u] != touched[n, n]:
                            continue
                    y, row = x, n
                else:
                    if v < 0:
                        continue
                    y, row = v, (v if x < 0 else n + 1)
                    if x < 0 and not spoiled[v]:
                        continue
                    if x >= 0:
                        with_x[i] = 0.0
                        if touched[v, x] != touched[v, n]:
                            continue
                        may[x] = 0.0 if has_x else may_now
                node = root[y]
                turn[5] += 1
                touched[row, n] = turn[5]
                is_made = True
                while True:
                    step = -1
                    for c in range(first[node], first[node] + n_listed[node]):
                        touched[row, listed[c]] = turn[5]
                        if may[listed[c]] == may_now:
                            step = c
                            break
                    if step < 0:
                        break
                    if child[step] < 0:
                        turn[3] = 1
                        is_made = False
                        if child[step] == UNMADE and n_wanted < len(wanted):
                            wanted[n_wanted] = step
                            n_wanted += 1
                            child[step] = WANTED
                        break
                    node = child[step]
                if which == 0:
                    own[i] = score[node]
                elif x < 0:
                    end[v] = node
                    spoiled[v] = not is_made
                    turn[4] -= is_made
                else:
                    with_x[i] = score[end[v]] - score[node] if has_x else score[node] - score[end[v]]
                    may[x] = 0.0
            if v >= 0:
                may[v] = may_now
                u = v
                i += 1
        if turn[3]:
            return n_wanted
        if x < 0:
            continue
        # x stays after the parents and before the children that are required.
        lowest, highest, i = 0, n - 1, 0
        for at in range(n):
            v = order[at]
            if v != x:
                if required[v, x]:
                    lowest = i + 1
                if required[x, v] and highest == n - 1:
                    highest = i
                i += 1
        # Where it stands at place i, the others from i on have x before them.
        later = best_score = score_now = 0.0
        best = -1
        for i in range(n - 1, -1, -1):
            if i < n - 1:
                later += with_x[i]
            found = later + own[i]
            if i == now:
                score_now = found
            if lowest <= i <= highest and (best < 0 or found > best_score + tie):
                best, best_score = i, found
        turn[0] = (turn[0] + 1) % len(queue)
        turn[1] -= 1
        turn[2] += 1
        if best_score > score_now + tie:
            way = 1 if best > now else -1
            for at in range(now, best, way):
                v = order[at + way]
                order[at] = v
                spoiled[v] = touched[v, x] == touched[v, n]
                turn[4] += spoiled[v]
            order[best] = x
            spoiled[x] = True
            turn[4] += 1
            queue[(turn[0] + turn[1]) % len(queue)] = x
            turn[1] += 1
            turn[2] = 0


@compiled
def best_last(first, sets, scores, required, best, last):  # type: ignore[no-untyped-def]
    """Fill `best` (2^n,) with the score of every subset and `last` (2^n,) with the member that stands last in it.

    Parameters
    ----------
    first : (n + 1,) where the sets of each variable begin in `sets` and `scores`, which are sorted best first
    required : (n,) for each variable, the members that must stand before it
    """
    n = len(first) - 1
    best[0] = 0.0
    for subset in range(1, 1 << n):
        top, top_last = -np.inf, -1
        for y in range(n):
            if not subset >> y & 1:
                continue
            others = subset & ~(1 << y)
            if best[others] == -np.inf or required[y] & ~others:
                continue
            for s in range(first[y], first[y + 1]):
                if not sets[s] & ~others:
                    if best[others] + scores[s] > top:
                        top, top_last = best[others] + scores[s], y
                    break
        best[subset], last[subset] = top, top_last
