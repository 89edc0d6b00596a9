"""Class trees in exact arithmetic: plain loops over rows, every count and probability a `Fraction`.

The structure is taken as it is; the codes of the cells are found anew. Counting again without a row is meant
literally: all other rows are counted, one after the other.
"""

from collections import Counter
from fractions import Fraction


def code_row(numbers, states, cuts, n_states):
    """Codes of a row: how many cuts lie below a number, one past the last where it is missing; states by themselves."""
    row = [len(own) + 1 if x != x else sum(x > cut for cut in own) for x, own in zip(numbers, cuts, strict=True)]
    return row + [s if 0 <= s < n else n for s, n in zip(states, n_states, strict=True)]


def codes_of(table, codebook):
    cuts = [codebook.cuts_of(j).tolist() for j in range(codebook.n_numbers)]
    return [
        code_row(x, s, cuts, codebook.n_states.tolist())
        for x, s in zip(table.numbers.tolist(), table.states.tolist(), strict=True)
    ]


def path(row, trees, tree, codebook):
    """Nodes that a row of codes passes in a tree, from the root to its leaf."""
    if trees.order[tree] >= 0:
        places = trees.ranks[trees.order[tree]].tolist()
        first = codebook.n_numbers
        starts = [sum(n + 1 for n in codebook.n_states[:j].tolist()) for j in range(len(row) - first)]
        row = row[:first] + [places[start + code] for start, code in zip(starts, row[first:], strict=True)]
    node = int(trees.start[tree])
    nodes = [node]
    while trees.splits[node][0]:
        jump, column, low, high = trees.splits[node].tolist()
        node += jump + (0 if low <= row[column] <= high else 1)
        nodes.append(node)
    return nodes


def count_nodes(paths, labels, weights):
    """Weight of every class at every node."""
    count = Counter()
    for nodes, y, w in zip(paths, labels, weights, strict=True):
        for node in nodes:
            count[node, y] += Fraction(w)
    return count


def posterior(nodes, count, n_classes, concentration):
    """Go down from equal shares: p = (n_y + c p) / (N + c) at every node."""
    c = Fraction(concentration)
    p = [Fraction(1, n_classes)] * n_classes
    for node in nodes:
        n = [count[node, y] for y in range(n_classes)]
        p = [(n[y] + c * p[y]) / (sum(n) + c) for y in range(n_classes)]
    return p


def mean(posteriors):
    return [sum(column) / len(posteriors) for column in zip(*posteriors, strict=True)]
