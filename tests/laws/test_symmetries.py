"""What must not matter: the order of columns, of rows, and the names of classes."""

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.laws.models import are_counts, every_model, require_close_scores, require_same_sums
from tests.laws.tables import any_weights, tables


@every_model
@settings(max_examples=12)
@given(st.data())
def test_permuting_columns_permutes_the_sums_and_leaves_the_scores(kind: Any, data: Any) -> None:
    missing = kind.takes_missing and data.draw(st.booleans())
    rows = data.draw(tables(kind.cells, n_columns=(2, 5), weights=data.draw(any_weights()), missing=missing))
    order = np.array(data.draw(st.permutations(range(rows.X.shape[1]))))
    setting = {"missing": "ignore"} if missing else {}
    model = kind.make(**setting).fit(**rows.arguments)
    turned = kind.make(**setting).fit(rows.X[:, order], rows.y, rows.weight)
    for name, sums in turned.statistics_.columns.to_arrays().items():
        if name == "table":
            found = [turned.statistics_.columns.of_column(j) for j in range(len(order))]
            expected = [model.statistics_.columns.of_column(j) for j in order]
            assert all(np.array_equal(a, b) for a, b in zip(found, expected, strict=True))
        else:
            original = model.statistics_.columns.to_arrays()[name]
            np.testing.assert_array_equal(sums, original[:, order] if original.shape[1] > 1 else original)
    # The terms of a row are the same numbers, added in another order.
    require_close_scores(turned.predict_joint_log_proba(rows.X[:, order]), model.predict_joint_log_proba(rows.X))


@every_model
@settings(max_examples=12)
@given(st.data())
def test_permuting_rows_leaves_counts_to_the_bit(kind: Any, data: Any) -> None:
    rows = data.draw(tables(kind.cells, weights=data.draw(any_weights())))
    order = np.array(data.draw(st.permutations(range(len(rows)))))
    model, turned = kind.make().fit(**rows.arguments), kind.make().fit(**rows.take(order).arguments)
    require_same_sums(turned.statistics_, model.statistics_, to_the_bit=are_counts(kind, rows.weight))


@every_model
@settings(max_examples=12)
@given(st.data())
def test_renaming_classes_renames_the_answers(kind: Any, data: Any) -> None:
    """New names come in another order, of another type: sums and scores follow their class."""
    rows = data.draw(tables(kind.cells, weights=data.draw(any_weights())))
    names = np.array(data.draw(st.permutations(["ant", "bee", "cat"])))
    model = kind.make().fit(**rows.arguments)
    renamed = kind.make().fit(rows.X, names[rows.y], rows.weight)
    place = [renamed.classes_.tolist().index(names[label]) for label in model.classes_]
    np.testing.assert_array_equal(renamed.class_count_[place], model.class_count_)
    scores, expected = renamed.predict_log_proba(rows.X)[:, place], model.predict_log_proba(rows.X)
    require_close_scores(scores, expected)
    # Equal posteriors go to the first class, and another one is first now: labels agree where one class is ahead.
    second, first = np.sort(expected, axis=1)[:, [max(0, expected.shape[1] - 2), -1]].T
    ahead = (first - second > 1e-9) | (expected.shape[1] == 1)
    np.testing.assert_array_equal(renamed.predict(rows.X)[ahead], names[model.predict(rows.X)][ahead])
