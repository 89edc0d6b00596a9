"""A `ScoringForm` as one C file without dependencies: numbers in, probabilities out, nothing allocated.

Every cell of a row is a double, in the order of the columns: a number; a date in seconds since 1970, as the clock on
the wall shows it; a label by its place, which a function finds; NAN where it is missing. The tables stand in the file
as constants, with the functions that look them up beside them, which are in `.c` files here. In single precision tables
are half as long, and sums still those of doubles.
"""

import re
from collections.abc import Callable, Iterable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from bayeswater.errors import ParameterError
from bayeswater.exports.form import (
    AverageTerm,
    CalibrationForm,
    Cell,
    ColumnTerm,
    FeaturesTerm,
    GaussianTerm,
    GraphTerm,
    ScoringForm,
    TextForm,
    TreeTerm,
    Weighing,
    WeightedTerm,
)
from bayeswater.inference.formula import BinForm, Circle, Distance, LabelForm, Lookup, NumberForm, Weights
from bayeswater.typing import Array

HERE = Path(__file__).parent


def written(name: str) -> str:
    """Give functions of C that stand in a file of their own."""
    return (HERE / f"{name}.c").read_text(encoding="utf-8")


PARTS = {
    "days": "({} / 86400)",
    "weekday": "part_of_date({}, 'w')",
    "month": "part_of_date({}, 'm')",
    "time": "part_of_date({}, 't')",
}


def quoted(text: str) -> str:
    """Write a text as a string of C, whatever stands in it."""
    plain = {*range(32, 127)} - set(b'"\\?%')
    return '"' + "".join(chr(b) if b in plain else f"\\{b:03o}" for b in text.encode("utf-8")) + '"'


def number(value: Any) -> str:
    """Write a number."""
    value = float(value)
    return "-INFINITY" if value == -np.inf else "INFINITY" if value == np.inf else repr(value)


def constants(name: str, values: Iterable[Any], kind: str = "double") -> str:
    """Write an array of numbers; C has none without an entry."""
    written = [str(int(v)) if kind in ("int", "long", "char") else number(v) for v in values] or ["0"]
    lines = [", ".join(written[at : at + 8]) for at in range(0, len(written), 8)]
    return f"static const {kind} {name}[] = {{\n  " + ",\n  ".join(lines) + "\n};\n"


class CSource:
    """Parts of the file: constants, functions, and lines of the body that scores a row."""

    def __init__(self, form: ScoringForm, prefix: str) -> None:
        self.form, self.prefix = form, prefix
        self.data: list[str] = []
        self.functions: dict[str, str] = {}
        self.body: list[str] = []
        for place, cell in enumerate(form.cells):
            self._cell(place, cell)

    def _cell(self, place: int, cell: Cell) -> None:
        field, form = self.form.fields[cell.field], cell.form
        if isinstance(form, TextForm):
            raise ParameterError(
                f"column {field.name!r} holds words, which C has no table of letters for; export the model as "
                "JavaScript, Python or a page, or leave the column out"
            )
        raw = f"x[{cell.field}]"
        if cell.part is not None:
            if cell.part != "days":
                self.functions["dates"] = written("dates")
            raw = PARTS[cell.part].format(raw)
        self.body.append(f"  v = {raw};")
        if self.form.refuses_missing:
            self.body.append("  if (isnan(v)) return REFUSED;")
        self.body.append("  if (isinf(v)) return REFUSED;")
        unseen = "return REFUSED" if self.form.refuses_unseen else None
        if isinstance(form, NumberForm):
            tests = [f"v {'<' if form.is_closed else '<='} {number(form.low)}"] if form.low > -np.inf else []
            tests += [f"v >= {number(form.high)}"] if form.high < np.inf else []
            tests += ["v != floor(v)"] if form.is_whole else []
            if tests:
                self.body.append(f"  if (!isnan(v) && ({' || '.join(tests)})) {unseen or 'v = NAN'};")
            zero = " && v != 0" if self.form.counts_nonzero else ""
            self.body += [f"  number[{place}] = v;", f"  known += !isnan(v){zero};"]
            return
        if isinstance(form, BinForm):
            self.data.append(constants(f"cuts_{place}", form.cuts))
            self.functions["bin"] = (
                "static int bin_of(double v, const double *cuts, int n, int above) {\n  int low = 0, high = n;\n"
                "  while (low < high) {\n    int middle = (low + high) / 2;\n"
                "    if (above ? cuts[middle] < v : cuts[middle] <= v) low = middle + 1; else high = middle;\n  }\n"
                "  return low;\n}\n"
            )
            found = f"bin_of(v, cuts_{place}, {len(form.cuts)}, {int(form.above)})"
        else:
            found = self._label_code(place, form)
        self.body.append(f"  code[{place}] = isnan(v) ? {cell.missing} : {found};")
        self.body.append(f"  if (code[{place}] < 0) {unseen or f'code[{place}] = {cell.n_states}'};")
        self.body.append(f"  known += code[{place}] < {cell.n_states};")

    def _label_code(self, place: int, form: LabelForm) -> str:
        n = form.n_states
        if all(isinstance(label, str) for label in form.labels) or form.labels == tuple(range(n)):
            return f"v >= 0 && v < {n} && v == floor(v) ? (int)v : -1"
        self.data.append(constants(f"labels_{place}", form.labels))
        self.functions["label"] = (
            "static int place_of(double v, const double *labels, int n) {\n"
            "  for (int i = 0; i < n; i++) if (labels[i] == v) return i;\n  return -1;\n}\n"
        )
        return f"place_of(v, labels_{place}, {n})"

    def text(self) -> str:
        """Put all parts together."""
        form, p = self.form, self.prefix
        for place, term in enumerate(form.terms):
            TERMS[type(term)](self, term, place)
        body = "\n".join(self.body)
        cells = max(len(form.cells), 1)
        calibrated = (
            "calibrate(score, probability, known)" if form.calibration is not None else "share(score, probability)"
        )
        if form.calibration is not None:
            _calibration(self, form.calibration)
        self.functions["share"] = written("share")
        order = [self.functions.pop(name) for name in ("log_sum", "share") if name in self.functions]
        return (
            f"{declarations(form, p)}\n#include <math.h>\n#include <string.h>\n\n"
            f"#define N_CLASSES {form.n_classes}\n#define REFUSED (-1)\n\n"
            f"{labels_text(form, p)}{''.join(self.data)}"
            f"{constants('log_prior', form.log_prior)}{constants('fallback', form.fallback)}\n"
            f"{''.join(order)}{''.join(self.functions.values())}\n"
            f"int {p}_score(const double *x, double *probability) {{\n"
            f"  double v, score[N_CLASSES], number[{cells}] = {{0}};\n  int known = 0, code[{cells}] = {{0}};\n"
            f"{body.split(MARK)[0]}\n  memcpy(score, log_prior, sizeof score);\n{body.split(MARK)[1]}\n"
            "  (void)number, (void)code, (void)known;\n"
            f"  return {calibrated};\n}}\n{_decision(form, p)}"
        )


MARK = "  /* what the cells add */"


def declarations(form: ScoringForm, p: str) -> str:
    """Write what a header says."""
    decide = ""
    if form.decision is not None:
        decide = (
            f"/* The place of the action of least expected cost in {p}_actions, or -1. */\n"
            f"int {p}_decide(const double *x);\nextern const char *const {p}_actions[{len(form.decision.actions)}];\n"
        )
    return f"""\
/* A {form.model}: {form.size()}.

   A row is an array of doubles in the order of {p}_columns: a number; a date in seconds since 1970-01-01, as the clock
   on the wall shows it; a text by {p}_code; NAN where a cell is missing. */
#ifndef BAYESWATER_{p.upper()}
#define BAYESWATER_{p.upper()}
#ifdef __cplusplus
extern "C" {{
#endif
extern const char *const {p}_columns[{max(len(form.fields), 1)}];
extern const char *const {p}_classes[{form.n_classes}];
/* P(class | row); returns the place of the most probable class, or -1 for a row that the model refuses. */
int {p}_score(const double *x, double *probability);
/* What stands for a text in a column: its place among the known ones, or -1. */
int {p}_code(int column, const char *text);
{decide}#ifdef __cplusplus
}}
#endif
#endif
"""


def labels_text(form: ScoringForm, p: str) -> str:
    """Write the names of columns and classes, and how texts are found."""
    names = ", ".join(quoted(field.name) for field in form.fields) or '""'
    classes = ", ".join(quoted(str(label)) for label in form.classes)
    cases, lists = [], []
    for cell in form.cells:
        if isinstance(cell.form, LabelForm) and cell.part is None and all(isinstance(x, str) for x in cell.form.labels):
            own = ", ".join(map(quoted, cell.form.labels)) or '""'
            lists.append(f"static const char *const texts_{cell.field}[] = {{{own}}};\n")
            cases.append(
                f"  if (column == {cell.field})\n    for (int i = 0; i < {cell.form.n_states}; i++)\n"
                f"      if (strcmp(texts_{cell.field}[i], text) == 0) return i;\n"
            )
    return (
        f"const char *const {p}_columns[] = {{{names}}};\nconst char *const {p}_classes[] = {{{classes}}};\n"
        f"{''.join(lists)}int {p}_code(int column, const char *text) {{\n  (void)column, (void)text;\n"
        f"{''.join(cases)}  return -1;\n}}\n"
    )


# ---------------------------------------------------------------------- terms


def _column(source: CSource, term: ColumnTerm, place: int, into: str = "score") -> None:
    f, cell = term.formula, term.cell
    loop = "for (int k = 0; k < N_CLASSES; k++)"
    if isinstance(f, Lookup):
        source.data.append(constants(f"table_{place}", f.log_likelihood.ravel(), "real"))
        source.body.append(f"  {loop} {into}[k] += table_{place}[code[{cell}] * N_CLASSES + k];")
        return
    x = f"number[{cell}]"
    if isinstance(f, Distance):
        for name in ("intercept", "weight", "mean", "scale"):
            source.data.append(constants(f"{name}_{place}", getattr(f, name)))
        z = "log1p(v * v)" if f.is_student else "v * v"
        line = f"v = ({f'log({x})' if f.is_log else x} - mean_{place}[k]) * scale_{place}[k], {into}[k] += "
        line += f"intercept_{place}[k] - weight_{place}[k] * {z};"
    elif isinstance(f, Circle):
        for name in ("intercept", "kappa", "mu"):
            source.data.append(constants(f"{name}_{place}", getattr(f, name)))
        line = f"v = sin({x} * {number(np.pi)} / {number(f.period)} - mu_{place}[k] / 2), {into}[k] += "
        line += f"intercept_{place}[k] - 2 * kappa_{place}[k] * v * v;"
    else:
        assert isinstance(f, Weights)
        source.data.append(constants(f"intercept_{place}", f.intercept))
        line = f"{into}[k] += intercept_{place}[k];"
        written = {"x": x, "log x": f"log({x})", "log(1 - x)": f"log1p(-{x})"}
        for i, (feature, weights) in enumerate(zip(f.features, f.weights, strict=True)):
            source.data.append(constants(f"weight_{place}_{i}", weights))
            line += f"\n    if ((v = {written[feature]}) != 0) {loop} {into}[k] += v * weight_{place}_{i}[k];"
    source.body.append(f"  if (!isnan({x})) {{\n    {loop} {line}\n  }}")


def _features(source: CSource, term: FeaturesTerm, place: int) -> None:
    f, n = term.formula, len(term.cells)
    source.data += [constants("feature_weight", f.weights.ravel(), "real"), constants("any_feature", f.intercept)]
    amount = "number[j] > 0" if f.is_marked else "log1p(number[j])"
    source.body.append(
        f"""\
  double length = 0;
  for (int j = 0; j < {n}; j++) v = {amount}, length += v * v;
  if (length > 0) {{
    length = {"sqrt(sqrt(length))" if f.by_root else "sqrt(length)"};
    for (int k = 0; k < N_CLASSES; k++) score[k] += any_feature[k];
    for (int j = 0; j < {n}; j++)
      if ((v = {amount}) != 0)
        for (int k = 0; k < N_CLASSES; k++) score[k] += v / length * feature_weight[j * N_CLASSES + k];
  }}"""
    )


def _weighing(source: CSource, w: Weighing) -> None:
    for name in ("slope", "shift", "prior", "low", "high", "doubt", "bounded"):
        source.data.append(constants(f"weighing_{name}", getattr(w, name).ravel()))
    source.functions |= {name: written(name) for name in ("log_sum", "weigh")}


def _weighted(source: CSource, term: WeightedTerm, place: int) -> None:
    _weighing(source, term.weighing)
    source.body.append("  for (int k = 0; k < N_CLASSES; k++) score[k] += weighing_shift[known * N_CLASSES + k];")
    for i, own in enumerate(term.terms):
        source.body.append("  {\n  double term[N_CLASSES] = {0};")
        _column(source, own, i, "term")
        source.body.append(f"  weigh(term, {i}, known, score);\n  }}")


def _file(source: CSource, name: str) -> None:
    source.functions["log_sum"] = written("log_sum")
    source.functions[name] = written(name)
    source.body.append(f"  if (add_{name}(code, score)) return REFUSED;")


def _starts(sizes: Iterable[int]) -> Array:
    return np.cumsum([0, *sizes])


def _tree(source: CSource, term: TreeTerm, place: int) -> None:
    states = [table.shape[1] for table in term.tables]
    slots = _starts(states)
    source.data += [
        f"#define TREE_COLUMNS {len(states)}\n#define TREE_SLOTS {slots[-1]}\n",
        constants("tree_order", term.from_leaves, "int"),
        constants("tree_parent", term.parents, "int"),
        constants("tree_states", states, "int"),
        constants("tree_cell", term.cells, "int"),
        constants("tree_slot", slots, "int"),
        constants("tree_start", _starts(table.size for table in term.tables), "long"),
        constants("tree_table", np.concatenate([table.ravel() for table in term.tables]), "real"),
    ]
    _file(source, "tree")


def _graph(source: CSource, term: GraphTerm, place: int) -> None:
    states = [source.form.cells[cell].n_states for cell in term.cells]
    members = [(*parents, j) for j, parents in enumerate(term.parents)]
    order: list[int] = []
    while len(order) < len(members):
        order += [j for j, own in enumerate(term.parents) if j not in order and set(own) <= set(order)]
    source.data += [
        f"#define GRAPH_COLUMNS {len(states)}\n#define MOST_FILLED 65536\n",
        constants("graph_order", order, "int"),
        constants("graph_states", states, "int"),
        constants("graph_cell", term.cells, "int"),
        constants("graph_first", _starts(map(len, members)), "int"),
        constants("graph_member", [i for own in members for i in own], "int"),
        constants("graph_start", _starts(prod(table.shape) for table in term.tables), "long"),
        constants("graph_table", np.concatenate([table.ravel() for table in term.tables]), "real"),
    ]
    _file(source, "graph")


def _average(source: CSource, term: AverageTerm, place: int) -> None:
    states = [len(own) - 1 for own in term.weights]
    slots = _starts(n + 1 for n in states)
    given = np.concatenate([np.concatenate(own, axis=1) for own in term.given], axis=0)
    implied = np.zeros((1, 1)) if term.implied is None else np.block([list(own) for own in term.implied])
    source.data += [
        f"#define AVERAGE_COLUMNS {len(states)}\n#define AVERAGE_SLOTS {slots[-1]}\n",
        f"#define AVERAGE_IMPLIES {int(term.implied is not None)}\n",
        f"#define AVERAGE_WEIGHED {int(term.weighing is not None)}\n",
        constants("average_cell", term.cells, "int"),
        constants("average_states", states, "int"),
        constants("average_slot", slots, "int"),
        constants("average_implied", implied.ravel(), "char"),
        constants("average_weight", np.concatenate(term.weights)),
        constants("average_even", np.concatenate(term.even)),
        constants("average_prior", term.log_prior),
        constants("average_joint", np.concatenate(term.joints).ravel(), "real"),
        constants("average_marginal", np.concatenate(term.marginals).ravel(), "real"),
        constants("average_given", given.ravel(), "real"),
    ]
    if term.weighing is not None:
        _weighing(source, term.weighing)
    _file(source, "average")


def _gaussian(source: CSource, term: GaussianTerm, place: int) -> None:
    n, d = term.whitening.shape[1:]
    student = f"(gaussian_degrees[k] + {d}) / 2 * log1p(distance / gaussian_degrees[k])"
    away = "-v" if term.is_line else f"(isinf(gaussian_degrees[k]) ? distance / 2 : {student})"
    source.data += [
        constants("gaussian_mean", term.mean.ravel()),
        constants("gaussian_whitening", term.whitening.ravel()),
        constants("gaussian_constant", term.constant),
        constants("gaussian_degrees", term.degrees),
    ]
    source.body.append(
        f"""\
  for (int j = 0; j < {n}; j++) if (isnan(number[j])) return REFUSED;
  for (int k = 0; k < N_CLASSES; k++) {{
    double distance = 0;
    for (int d = 0; d < {d}; d++) {{
      v = 0;
      for (int j = 0; j < {n}; j++)
        v += (number[j] - gaussian_mean[k * {n} + j]) * gaussian_whitening[(k * {n} + j) * {d} + d];
      distance += v * v;
    }}
    score[k] += gaussian_constant[k] - {away};
  }}"""
    )


TERMS: dict[type, Callable[[CSource, Any, int], None]] = {
    ColumnTerm: _column,
    FeaturesTerm: _features,
    WeightedTerm: _weighted,
    TreeTerm: _tree,
    GraphTerm: _graph,
    AverageTerm: _average,
    GaussianTerm: _gaussian,
}


# ---------------------------------------------------------------------- probabilities and decisions


def _calibration(source: CSource, c: CalibrationForm) -> None:
    for name in ("shift", "prior", "to_counted"):
        source.data.append(constants(f"calibration_{name}", getattr(c, name)))
    source.data += [constants("doubted", c.doubted, "char"), constants("impossible", c.impossible, "char")]
    spread = " * ".join(f"fmax(known - {o}, 0) / {number(c.usual - o)}" for o in c.others) or "(known > 0)"
    spread = f"fmin({spread}, 1)" if len(c.others) > 1 else spread
    given = """\
  if (1) {
    double whole = 0;
    for (int k = 0; k < N_CLASSES; k++)
      whole += probability[k] = impossible[k] ? 0 : probability[k] * exp(-calibration_to_counted[k]);
    for (int k = 0; k < N_CLASSES; k++) probability[k] /= whole;
  }
"""
    source.functions["calibrate"] = f"""\
static int calibrate(double *score, double *probability, int known) {{
  double spread = {spread};
  double bounded = fmin(spread, 1), slope = 1 / (1 + {number(c.temperature - 1)} * spread), top = -INFINITY;
  double lapse = {number(c.lapse)} * bounded;
  int possible = 0, raised = 0, best = 0;
  for (int k = 0; k < N_CLASSES; k++) if (score[k] > top) top = score[k];
  if (top == -INFINITY) {{
    memcpy(score, fallback, sizeof fallback);
    for (int k = 0; k < N_CLASSES; k++) if (score[k] > top) top = score[k];
  }}
  for (int k = 0; k < N_CLASSES; k++) {{
    if (score[k] == -INFINITY) {{ raised += doubted[k]; continue; }}
    possible++;
    score[k] = calibration_prior[k] + slope * (score[k] - top + calibration_to_counted[k] - calibration_prior[k])
      + bounded * calibration_shift[k];
  }}
  share(score, probability);
  for (int k = 0; k < N_CLASSES; k++) {{
    if (score[k] == -INFINITY) probability[k] = doubted[k] ? {number(c.doubt)} / raised : 0;
    else probability[k] = ((1 - lapse) * probability[k] + lapse / possible) * (raised ? 1 - {number(c.doubt)} : 1);
  }}
{given if c.is_given else "  (void)impossible;"}
  for (int k = 1; k < N_CLASSES; k++) if (probability[k] > probability[best]) best = k;
  return best;
}}
"""


def _decision(form: ScoringForm, p: str) -> str:
    if form.decision is None:
        return ""
    actions = ", ".join(quoted(str(action)) for action in form.decision.actions)
    return f"""\
const char *const {p}_actions[] = {{{actions}}};
{constants("regret", form.decision.regret.ravel())}\
int {p}_decide(const double *x) {{
  double probability[N_CLASSES], least = INFINITY;
  int best = -1;
  if ({p}_score(x, probability) < 0) return -1;
  for (int i = 0; i < {len(form.decision.actions)}; i++) {{
    double risk = 0;
    for (int k = 0; k < N_CLASSES; k++) risk += regret[i * N_CLASSES + k] * probability[k];
    if (risk < least) least = risk, best = i;
  }}
  return best;
}}
"""


def c_files(form: ScoringForm, name: str, *, single: bool = False) -> dict[str, str]:
    """Write a form as a C file and its header; the file does not need the header."""
    prefix = re.sub(r"\W", "_", name, flags=re.ASCII)
    prefix = prefix if prefix[:1].isalpha() else f"m_{prefix}"
    source = CSource(form, prefix)
    source.body.append(MARK)
    text = source.text().replace(
        "#define N_CLASSES", f"typedef {'float' if single else 'double'} real;\n#define N_CLASSES", 1
    )
    return {".c": text, ".h": declarations(form, prefix)}
