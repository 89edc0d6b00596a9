"""Tests of what scikit-learn has said or done only since some version."""

import pytest
import sklearn
from sklearn.utils.fixes import parse_version


def skipped_before(version: str, why: str) -> pytest.MarkDecorator:
    """Mark a test that an older scikit-learn cannot pass."""
    is_older = parse_version(sklearn.__version__) < parse_version(version)
    return pytest.mark.skipif(is_older, reason=f"before scikit-learn {version} {why}")
