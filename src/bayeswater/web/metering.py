"""What a server counts of itself, as Prometheus reads it; and how many requests a client may make."""

from bisect import bisect_left
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator
from time import monotonic

from bayeswater.web.served import Served

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Seconds of the latency histogram."""

MOST_CLIENTS = 10_000
"""Addresses whose rate is kept: the latest."""


class Meter:
    """Requests by path and status, and how long they took."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.buckets = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def count(self, question: str, status: int, seconds: float) -> None:
        """Count a request."""
        self.requests[question, status] += 1
        self.buckets[bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def text(self, served: Iterable[Served]) -> str:
        """Write all counts."""
        return "\n".join([*self._of_requests(), *_of_models(list(served))]) + "\n"

    def _of_requests(self) -> Iterator[str]:
        yield "# TYPE bayeswater_requests_total counter"
        for (question, status), n in sorted(self.requests.items()):
            yield f'bayeswater_requests_total{{question="{question}",status="{status}"}} {n}'
        yield "# TYPE bayeswater_request_seconds histogram"
        total = 0
        for limit, n in zip([*map(str, BUCKETS), "+Inf"], self.buckets, strict=True):
            total += n
            yield f'bayeswater_request_seconds_bucket{{le="{limit}"}} {total}'
        yield f"bayeswater_request_seconds_sum {self.seconds:.6f}"
        yield f"bayeswater_request_seconds_count {total}"


def _of_models(served: list[Served]) -> Iterator[str]:
    counts = {
        "bayeswater_unseen_cells_total": "n_unseen",
        "bayeswater_novelty_rows_total": "n_looked_at",
        "bayeswater_novel_rows_total": "n_novel",
        "bayeswater_reloads_total": "n_reloads",
    }
    for metric, name in counts.items():
        yield f"# TYPE {metric} counter"
        for one in served:
            label = one.name.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
            yield f'{metric}{{model="{label}"}} {getattr(one, name)}'


class Rate:
    """At most so many requests a second from one address, and as many at once."""

    def __init__(self, per_second: float) -> None:
        self.per_second = per_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def allows(self, client: str) -> bool:
        """Say whether one more request may be made."""
        now, most = monotonic(), max(self.per_second, 1.0)
        left, then = self._left.pop(client, (most, now))
        left = min(most, left + (now - then) * self.per_second)
        self._left[client] = (left - 1 if left >= 1 else left, now)
        if len(self._left) > MOST_CLIENTS:
            self._left.popitem(last=False)
        return left >= 1
