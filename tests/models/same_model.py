"""Whether two models are the same in all that can be seen of them, to the bit; and a model through a file."""

from pathlib import Path
from typing import Any

import numpy as np

from bayeswater import load, save


def reloaded(model: Any, path: Path) -> Any:
    """A model saved to a file, and loaded from it."""
    save(model, path)
    return load(path)


def require_same_model(found: Any, model: Any, X: Any) -> None:
    """Equal in all that can be seen of a model, to the bit."""
    assert type(found) is type(model)
    assert vars(found).keys() - {*model._not_sent} == vars(model).keys() - {*model._not_sent}
    with np.printoptions(floatmode="unique"):
        assert repr(found.get_params()) == repr(model.get_params())
        assert repr(vars(found).get("calibration_")) == repr(vars(model).get("calibration_"))
    assert found.statistics_ == model.statistics_
    for mine, theirs in (
        (found.statistics_.class_count, model.statistics_.class_count),
        (found.statistics_.columns, model.statistics_.columns),
    ):
        assert [repr(state) for state in mine.classes.states] == [repr(state) for state in theirs.classes.states]
        assert mine.classes.declared == theirs.classes.declared
        for name, array in theirs.to_arrays().items():
            mine_array = mine.to_arrays()[name]
            assert (mine_array.dtype, mine_array.shape) == (array.dtype, array.shape)
            assert mine_array.tobytes() == array.tobytes()
            assert not mine_array.flags.writeable
    assert found.classes_.dtype == model.classes_.dtype
    assert found.classes_.tolist() == model.classes_.tolist()
    seen = {name: value for name, value in vars(model).items() if name.endswith("_in_") or name == "_library"}
    assert {name: repr(value) for name, value in vars(found).items() if name in seen} == {
        name: repr(value) for name, value in seen.items()
    }
    if hasattr(model, "columns_"):
        assert repr(found.columns_) == repr(model.columns_)  # the reasons too, which are not compared
    assert found.predict_joint_log_proba(X).tobytes() == model.predict_joint_log_proba(X).tobytes()
    assert found.predict(X).tolist() == model.predict(X).tolist()
    assert found.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
