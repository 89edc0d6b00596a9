"""Displays of what a model learned: what is drawn is what the model says."""

import matplotlib.pyplot as plt
import numpy as np
import pyarrow as pa
import pytest
from scipy.sparse import csr_matrix

import bayeswater as bw
from bayeswater.demo.loans import loans
from bayeswater.plots import ColumnDisplay, ImportanceDisplay, NomogramDisplay, WaterfallDisplay, WordsDisplay

plt.switch_backend("Agg")

TABLE = loans(200)
X = TABLE.drop_columns(["outcome"])
MODEL = bw.NaiveBayes(columns={"application_id": "ignored"}).fit(X, TABLE.column("outcome"))


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("column", ["income", "past_delays", "occupation", "savings", "purpose"])
def test_a_column_is_drawn_by_class(column):
    drawn = ColumnDisplay.from_estimator(MODEL, column)
    assert [text.get_text() for text in drawn.ax_.get_legend().get_texts()] == ["late", "repaid"]
    drawn.figure_.canvas.draw()
    assert drawn.ax_.get_legend().get_window_extent().y0 >= drawn.ax_.get_window_extent().y1  # over no bar and no curve
    drawn.figure_.canvas.draw()


def test_a_waterfall_ends_with_the_sum_of_its_steps():
    one = MODEL.explain(X)[0]
    bars = WaterfallDisplay(one).plot().ax_.patches
    widths = [bar.get_width() for bar in bars]
    assert sum(widths[:-1]) == pytest.approx(one.log_odds) == pytest.approx(widths[-1])


def test_importance_is_drawn_in_its_order():
    drawn = ImportanceDisplay.from_estimator(MODEL, X)
    widths = [bar.get_width() for bar in drawn.ax_.patches]
    assert widths == sorted(widths, reverse=True)
    assert drawn.importances.columns[0].column == drawn.ax_.get_yticklabels()[0].get_text()


@pytest.mark.parametrize("made", [list, np.array, csr_matrix])
def test_importance_takes_the_rows_that_fit_takes(made):
    rows = made([[3, 0], [4, 1], [0, 1], [1, 0]])
    model = (bw.MultinomialNB if made is csr_matrix else bw.NaiveBayes)().fit(rows, ["a", "a", "b", "b"])
    drawn = ImportanceDisplay.from_estimator(model, rows)
    assert [one.column for one in drawn.importances.columns] == ["x0", "x1"] and drawn.importances.n_rows == 4


def test_words_speak_for_the_class_they_are_drawn_for():
    drawn = WordsDisplay.from_estimator(MODEL, "purpose", n_words=3)
    curve = MODEL.curve("purpose")
    for word, k, weight in drawn.words:
        p = curve.values[list(curve.at).index(word)]
        assert weight == pytest.approx(np.log(p[k] / p[1 - k])) and weight > 0
    with pytest.raises(bw.ParameterError, match="has no words but states"):
        WordsDisplay.from_estimator(MODEL, "occupation")


def test_a_nomogram_has_the_log_odds_of_cells():
    drawn = NomogramDisplay.from_estimator(MODEL, positive="late")
    scale = next(scale for scale in drawn.scales if scale.column == "occupation")
    curve = MODEL.curve("occupation")
    p = curve.values[list(curve.at).index(scale.at[0])]
    assert scale.odds[0] == pytest.approx(np.log(p[0] / p[1]))
    with pytest.raises(bw.ParameterError, match="compares two of the classes"):
        NomogramDisplay.from_estimator(MODEL, positive="early")


@pytest.mark.filterwarnings("ignore:Glyph")
def test_names_with_dollars_long_names_and_other_scripts_are_drawn_as_they_are(monkeypatch):
    monkeypatch.setattr("bayeswater.plots.canvas.SCRIPTS", ("No Such Font", "DejaVu Serif"))
    labels = ["$1 to $2", "收入\u202e " + "y" * 60]
    rows = {"$a to $b": [1.0, 2.0, 8.0, 9.0], "收入": ["低", "低", "高", "高"]}
    model = bw.NaiveBayes(columns={"收入": "categorical"}).fit(pa.table(rows), [labels[0]] * 2 + [labels[1]] * 2)
    drawn = NomogramDisplay.from_estimator(model)
    assert r"of 收入\u202e yy" in drawn.ax_.get_xlabel() and len(drawn.ax_.get_xlabel()) < 60
    assert drawn.ax_.xaxis.label.get_fontfamily()[-1] == "DejaVu Serif"
    states = ColumnDisplay.from_estimator(model, "收入")
    assert states.ax_.get_legend().get_texts()[0].get_text() == r"\$1 to \$2"
    for one in (drawn, states, ColumnDisplay.from_estimator(model, "$a to $b")):
        one.figure_.canvas.draw()
        assert all(
            "DejaVu" in text.get_fontfamily()[-1] for text in one.ax_.get_yticklabels() if not text.get_text().isascii()
        )
