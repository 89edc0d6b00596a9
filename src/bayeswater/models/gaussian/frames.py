"""The parameters of Gaussian classes as labelled frames."""

from typing import TYPE_CHECKING, Any

import numpy as np

from bayeswater.data.frames import write_frame

if TYPE_CHECKING:
    from bayeswater.models.gaussian.gaussian_classifier import GaussianClassifier


def gaussian_tables(model: "GaussianClassifier") -> dict[str, Any]:
    """Give the class prior, mean and standard deviation of the columns, and covariances where they have any."""
    names, classes, covariances = model._column_names(), model.classes_, model.covariances_
    columns: dict[str, Any] = {"column": names}
    for k, label in enumerate(classes):
        columns[f"mean({label})"] = model.means_[k]
        columns[f"std({label})"] = np.sqrt(np.diagonal(covariances[k]))
    result = {"class": model._class_table(), "columns": write_frame(columns, model._library)}
    if model._densities.blend.reading.is_diagonal:
        return result
    is_one = model.covariance == "shared" and model.prior is None
    for k, label in enumerate(classes[:1] if is_one else classes):
        rows: dict[str, Any] = {"column": names, **dict(zip(names, covariances[k].T, strict=True))}
        result["covariance" if is_one else f"covariance({label})"] = write_frame(rows, model._library)
    return result
