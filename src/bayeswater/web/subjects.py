"""What a page is about: a classifier with rows, or a network."""

from typing import Any

from bayeswater.errors import SchemaError
from bayeswater.models.network.bayesian_network import BayesianNetwork
from bayeswater.web.network_subjects import MixedSubject, NetworkSubject, Subject


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
