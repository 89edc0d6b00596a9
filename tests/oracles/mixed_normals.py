"""Networks of states and numbers by brute force: every configuration, and the normal distribution of all numbers."""

from itertools import product

import numpy as np
from scipy.stats import multivariate_normal

from bayeswater.data.variable import Variable
from bayeswater.networks.conditionals import Table
from bayeswater.networks.mixed_core import MixedCore, discrete_part
from bayeswater.networks.network import Network
from bayeswater.networks.regressions import Regressions
from bayeswater.structure.dag import Dag


def random_core(seed, n_states=3, n_numbers=4, arcs=0.5):
    """A random network: nodes in random order, parents among those before."""
    rng = np.random.default_rng(seed)
    n = n_states + n_numbers
    numbers = frozenset(rng.choice(n, n_numbers, replace=False).tolist())
    rank = rng.permutation(n)
    names = tuple("abcdefghijklmnop"[:n])
    parents = tuple(
        tuple(p for p in range(n) if rank[p] < rank[v] and (v in numbers or p not in numbers) and rng.random() < arcs)
        for v in range(n)
    )
    dag = Dag(names, parents)
    part = discrete_part(dag, numbers)
    cards = {v: int(rng.integers(2, 4)) for v in range(n) if v not in numbers}
    variables = [Variable(names[v], tuple(range(card)), frozenset(range(card))) for v, card in cards.items()]
    tables = []
    for v, card in cards.items():
        shape = tuple(cards[p] for p in parents[v])
        tables.append(Table(rng.dirichlet(np.ones(card), shape)))
    regressions = {}
    for v in numbers:
        shape = tuple(cards[p] for p in parents[v] if p in cards)
        k = sum(p in numbers for p in parents[v])
        regressions[v] = Regressions(
            rng.normal(size=shape), rng.normal(size=(*shape, k)), rng.uniform(0.2, 2.0, size=shape)
        )
    return MixedCore.of(dag, Network.of(variables, part, tables), regressions)


def components(core):
    """For each configuration of all states: its codes by node, probability, and mean and covariance of all numbers."""
    nodes = list(core.place)
    numbers = [v for v in core.dag.order if v in core.numbers]
    at = {v: j for j, v in enumerate(numbers)}
    for codes in product(*(range(core.variable(v).n_states) for v in nodes)):
        code = dict(zip(nodes, codes, strict=True))
        p = 1.0
        for v in nodes:
            p *= core.states.tables[core.place[v]][tuple(code[m] for m in (*core.dag.parents[v], v))]
        mean, cov = np.zeros(len(numbers)), np.zeros((len(numbers), len(numbers)))
        for v in numbers:
            own, place = core.numbers[v], tuple(code[m] for m in core.discrete(v))
            slope = np.zeros(len(numbers))
            slope[[at[m] for m in core.numeric(v)]] = own.slopes[place]
            mean[at[v]] = own.intercept[place] + slope @ mean
            row = slope @ cov
            cov[at[v]], cov[:, at[v]] = row, row
            cov[at[v], at[v]] = own.variance[place] + slope @ row
        yield code, p, mean, cov, at


def conditioned(core, states, values, soft=None):
    """Configurations that evidence leaves: codes, log P(codes, evidence), mean and covariance of numbers given it."""
    for code, p, mean, cov, at in components(core):
        if any(code[v] != s for v, s in states.items()):
            continue
        seen = [at[v] for v in values]
        log_p = np.log(p) + sum(np.log(own[code[v]]) for v, own in (soft or {}).items())
        if seen:
            x = np.array(list(values.values()))
            log_p += multivariate_normal(mean[seen], cov[np.ix_(seen, seen)]).logpdf(x)
            gain = cov[:, seen] @ np.linalg.inv(cov[np.ix_(seen, seen)])
            mean, cov = mean + gain @ (x - mean[seen]), cov - gain @ cov[seen]
        yield code, log_p, mean, cov, at


def answer(core, states, values, soft=None):
    """Log-evidence, marginals of states, mean and covariance of all numbers, and the place of each among these."""
    found = list(conditioned(core, states, values, soft))
    at = found[0][-1]
    logs = np.array([one[1] for one in found])
    log_evidence = np.logaddexp.reduce(logs)
    weights = np.exp(logs - log_evidence)
    mean = sum(w * one[2] for w, one in zip(weights, found, strict=True))
    cov = sum(w * (one[3] + np.outer(one[2] - mean, one[2] - mean)) for w, one in zip(weights, found, strict=True))
    marginals = {
        v: np.array(
            [
                sum(w for w, one in zip(weights, found, strict=True) if one[0][v] == s)
                for s in range(core.variable(v).n_states)
            ]
        )
        for v in core.place
    }
    return log_evidence, marginals, mean, cov, at
