"""What the columns of a tree add in SQL: a lookup where a parent is there, and messages where it is missing.

Missing parents are summed over by messages, level by level from the leaves: for each state s of a missing cell, b_s is
the sum of what its children say; t is the largest of them, e_s = exp(b_s - t), and what the cell itself says to a state
of its parent is t + log(sum of P(s | parent) e_s). Each is a column for every state and class; where a dialect makes
lists of lists, a list of all states and classes, those of a state together.
"""

from collections.abc import Callable
from functools import partial

import numpy as np

from bayeswater.exports.form import TreeTerm
from bayeswater.exports.sql.query import Query
from bayeswater.typing import Array


def tree_term(query: Query, term: TreeTerm) -> list[str]:
    """Add what is looked up where parents are there, and messages where they are not."""
    return _Tree(query, term).scores()


class _Tree:
    """A term on its way into a query; j and p are places of a column and of its parent."""

    def __init__(self, query: Query, term: TreeTerm) -> None:
        self.query, self.tables, self.parents = query, term.tables, term.parents
        self.n_states = [table.shape[1] for table in term.tables]
        self.code = [query.codes[cell] for cell in term.cells]
        self.children = {p: [j for j, own in enumerate(term.parents) if own == p] for p in range(len(term.cells))}
        self.inner = [j for j in term.from_leaves if self.children[j]]
        self.makes_lists = query.dialect.makes_lists

    def scores(self) -> list[str]:
        """Write what the columns add to the score of each class."""
        for level in self._levels():
            if self.makes_lists:
                self._add_lists(level)
            else:
                self._add_columns(level)
        found = []
        for k in self.query.classes:
            said = [f"COALESCE(m{j}[{k + 1}], 0)" if self.makes_lists else f"m{j}_{k}" for j in self.inner]
            found.append(self.query.total([*said, *(self._direct(j, k) for j in range(len(self.tables)))]))
        return found

    def _levels(self) -> list[list[int]]:
        """Columns that have children, those furthest from the root first, in groups of the same depth."""

        def depth(j: int) -> int:
            return 0 if self.parents[j] < 0 else 1 + depth(self.parents[j])

        return [[j for j in self.inner if depth(j) == d] for d in sorted({depth(j) for j in self.inner}, reverse=True)]

    def _is_gone(self, j: int) -> str:
        return f"{self.code[j]} >= {self.n_states[j]}"

    def _is_gone_under(self, j: int) -> str:
        """Write whether a column is missing, and its parent is not."""
        p = self.parents[j]
        return self._is_gone(j) if p < 0 else f"{self._is_gone(j)} AND {self.code[p]} < {self.n_states[p]}"

    def _direct(self, j: int, k: int) -> str:
        p, table = self.parents[j], self.tables[j][:, :, k]
        if self.query.dialect.listed is None:
            return self._by_parent(j, lambda s: self.query.lookup(self.code[j], _padded(table[s])))
        place = self.code[j] if p < 0 else f"({self.code[p]} * {self.n_states[j] + 1} + {self.code[j]})"
        return self.query.lookup(place, np.pad(table, ((0, int(p >= 0)), (0, 1))).ravel())  # 0 for what is not there

    def _by_parent(self, j: int, written: Callable[[int], str]) -> str:
        """Choose by the state of the parent; nothing where it is missing."""
        p = self.parents[j]
        if p < 0:
            return written(0)

        def between(first: int, last: int) -> str:
            if last - first == 1:
                return self.query.number(0) if first == len(self.tables[j]) else written(first)
            middle = (first + last) // 2
            return f"CASE WHEN {self.code[p]} < {middle} THEN {between(first, middle)} ELSE {between(middle, last)} END"

        return between(0, len(self.tables[j]) + 1)

    # ------------------------------------------------------------------ a column for every state and class

    def _add_columns(self, level: list[int]) -> None:
        query, zero = self.query, self.query.number(0)
        sums = {
            f"b{j}_{s}_{k}": f"CASE WHEN {self._is_gone(j)} THEN "
            f"{query.total([self._said(c, k, s) for c in self.children[j]])} ELSE {zero} END"
            for j in level
            for s in range(self.n_states[j])
            for k in query.classes
        }
        query.step(sums)
        tops = {
            f"t{j}_{k}": query.dialect.largest([f"b{j}_{s}_{k}" for s in range(self.n_states[j])])
            for j in level
            for k in query.classes
        }
        query.step(tops)
        below = tuple(f"{letter}{c}_" for j in level for c in self.children[j] for letter in "et")
        kept = [name for name in query.steps[-1] if name not in sums and not name.startswith(below)]
        exps = {
            name.replace("b", "e", 1): query.dialect.exp(f"({name} - t{name[1:].split('_')[0]}_{name.split('_')[2]})")
            for name in sums
        }
        query.step(exps, kept)
        messages = {
            f"m{j}_{k}": f"CASE WHEN {self._is_gone_under(j)} THEN {self._by_parent(j, partial(self._heard, j, k))} "
            f"ELSE {zero} END"
            for j in level
            for k in query.classes
        }
        query.step(messages)

    def _said(self, c: int, k: int, s: int) -> str:
        """What a child says to state s of its parent."""
        there = self.query.lookup(self.code[c], _padded(self.tables[c][s, :, k]))
        if not self.children[c]:
            return there
        return f"CASE WHEN {self._is_gone(c)} THEN {self._heard(c, k, s)} ELSE {there} END"

    def _heard(self, j: int, k: int, s: int) -> str:
        """What a missing column says to state s of its parent."""
        share = np.exp(self.tables[j][s, :, k])
        parts = [f"e{j}_{b}_{k} * {self.query.number(share[b])}" for b in range(self.n_states[j])]
        return self._log_of_sum(f"t{j}_{k}", self.query.total(parts), share)

    def _log_of_sum(self, top: str, whole: str, share: Array) -> str:
        """Write top + log(whole), of shares times e, one of which is 1: where no share is 0 the sum is not."""
        return f"({top} + LN({whole}))" if (share > 0).all() else self.query.log_of_sum(top, [whole])

    # ------------------------------------------------------------------ a list of them

    def _add_lists(self, level: list[int]) -> None:
        query, n_classes, kept = self.query, len(self.query.classes), list(self.query.steps[-1])
        said = {f"l{c}": self._list_said(c) for j in level for c in self.children[j]}
        query.step(said)
        sums, tops, exps, messages = {}, {}, {}, {}
        for j in level:
            n, p = self.n_states[j], self.parents[j]
            whole = " + ".join(f"l{c}[i + 1]" for c in self.children[j])
            sums[f"b{j}"] = f"CASE WHEN {self._is_gone(j)} THEN [{whole} for i in range({n * n_classes})] END"
            own = f"[b{j}[s * {n_classes} + k + 1] for s in range({n})]"
            tops[f"t{j}"] = f"[list_max({own}) for k in range({n_classes})]"
            away = query.dialect.exp(f"(b{j}[i + 1] - t{j}[i % {n_classes} + 1])")
            exps[f"e{j}"] = f"[{away} for i in range({n * n_classes})]"
            share, place = np.exp(self.tables[j]), f"(i // {n_classes} * {n} + s) * {n_classes} + i % {n_classes}"
            parts = f"e{j}[s * {n_classes} + i % {n_classes} + 1] * {query.dialect.taken(share.ravel(), place)}"
            heard = self._log_of_sum(f"t{j}[i % {n_classes} + 1]", f"list_sum([{parts} for s in range({n})])", share)
            first, last = "0", str(n_classes)
            if p >= 0:  # to the one state that it has, or to all of them
                is_gone, states = self._is_gone(p), self.n_states[p] * n_classes
                first = f"CASE WHEN {is_gone} THEN 0 ELSE {self.code[p]} * {n_classes} END"
                last = f"CASE WHEN {is_gone} THEN {states} ELSE ({self.code[p]} + 1) * {n_classes} END"
            messages[f"h{j}"] = f"CASE WHEN {self._is_gone(j)} THEN [{heard} for i in range({first}, {last})] END"
        query.step(sums, kept)
        query.step(tops)
        query.step(exps)
        query.step(messages, [*kept, *tops, *exps])
        told = {f"m{j}": f"CASE WHEN {self._is_gone_under(j)} THEN h{j} END" for j in level}
        query.step(told, [*kept, *messages])

    def _list_said(self, c: int) -> str:
        """What a child says to all states of its parent."""
        p = self.parents[c]
        size = self.n_states[p] * len(self.query.classes)
        given = np.pad(self.tables[c], ((0, 0), (0, 1), (0, 0))).swapaxes(0, 1)  # (n_states + 1, of the parent, class)
        there = self.query.dialect.taken(given.ravel(), f"{self.code[c]} * {size}", size)
        return f"CASE WHEN {self._is_gone(c)} THEN h{c} ELSE {there} END" if self.children[c] else there


def _padded(values: Array) -> Array:
    return np.append(values, 0.0)  # of what is not there
