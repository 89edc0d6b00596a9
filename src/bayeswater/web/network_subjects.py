"""What a page about a network holds, and what a page about anything does."""

from functools import cached_property
from typing import Any

from bayeswater.records import record
from bayeswater.web.network_drawing import DRAWINGS_KEPT, Drawn
from bayeswater.web.network_variants import Recent, Variants


@record
class Subject:
    """Something with a name that a page shows."""

    name: str
    model: Any

    def facts(self) -> dict[str, Any]:
        """Say what the page has to know before it asks."""
        return {"name": self.name, "kind": type(self.model).__name__, "views": ["network"]}


@record(eq=False)
class NetworkSubject(Subject):
    """A network, with what was made of it so far."""

    @cached_property
    def variants(self) -> Variants:
        """The network as it is, and as browsers have changed it."""
        return Variants(self.model)

    @cached_property
    def drawings(self) -> Recent[Drawn]:
        """Where the nodes stand, by the node that is looked at."""
        return Recent(DRAWINGS_KEPT)


@record(eq=False)
class MixedSubject(Subject):
    """A network with numbers."""

    @cached_property
    def drawings(self) -> Recent[Drawn]:
        """Where the nodes stand, by the node that is looked at."""
        return Recent(DRAWINGS_KEPT)

    @cached_property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """Where each number lies when nothing is known, but for some in ten thousand."""
        found = {name: self.model.query(name) for name in self.model.numbers}
        return {name: (own.mean - 4 * own.std, own.mean + 4 * own.std) for name, own in found.items()}
