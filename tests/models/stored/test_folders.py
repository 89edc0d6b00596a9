"""Whether a file can be written where it is asked for."""

import os

import pytest

from bayeswater.errors import ModelFileError
from bayeswater.models.stored.folders import require_folder


def test_a_folder_that_may_not_be_written_to_is_refused(tmp_path, monkeypatch):
    require_folder(tmp_path / "model.bayes")
    # What the system says is made up here: to an administrator, who may run this test, it forbids nothing.
    monkeypatch.setattr(os, "access", lambda path, mode: not mode & os.W_OK)
    with pytest.raises(ModelFileError, match=r"you may not write to the folder '.*'; choose another, or ask"):
        require_folder(tmp_path / "model.bayes")
