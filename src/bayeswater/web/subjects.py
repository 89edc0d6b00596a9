"""What a page is about: a classifier with rows, or a network."""

from functools import cached_property
from typing import Any

from bayeswater.errors import SchemaError
from bayeswater.models.network.bayesian_network import BayesianNetwork
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


def subject_of(
    model: Any,
    rows: Any = None,
    y: Any = None,
    *,
    target: str | None = None,
    name: str | None = None,
) -> Subject:
    """Make a subject of a classifier or a network.

    Parameters
    ----------
    model : fitted classifier of ours, BayesianNetwork or MixedNetwork
    rows : table in memory, or an array of the model's columns, optional
    y : true classes of the rows, optional
    target : column of `rows` that holds them; by default the one that the model does not read and that holds classes
    name : what the page calls it

    Raises
    ------
    SchemaError
        Where the model can neither predict nor be asked, or `target` is no column of the rows.
    """
    if isinstance(model, BayesianNetwork):
        return NetworkSubject(name or model.title or "network", model)
    if hasattr(model, "predict_proba") and hasattr(model, "explain"):
        from bayeswater.web.classifier_subject import classifier_subject  # its imports take a second

        return classifier_subject(name or type(model).__name__, model, rows, y, target)
    from bayeswater.models.mixed_networks.mixed_network import MixedNetwork

    if isinstance(model, MixedNetwork):
        return MixedSubject(name or "network", model)
    raise SchemaError(
        f"a {type(model).__name__} cannot be explored; give a fitted classifier of Bayeswater or a network"
    )
