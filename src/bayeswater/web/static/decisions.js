// Decisions: costs as a table to edit, class frequencies as sliders, and what they come to.

import { el, drawn, label, replace, shortened, svg, term } from "./dom.js";
import { chart, colour, scale } from "./drawing.js";
import { number, percent, probability } from "./numbers.js";

export function lossOf(app) {
  if (app.state.loss) return app.state.loss;
  const { classes } = app.subject;
  return { actions: [...classes], costs: classes.map((_, i) => classes.map((__, j) => (i === j ? 0 : 1))) };
}

export function mount(root, app) {
  const { t, subject } = app;
  const [costs, row, rows, curves] = ["costs", "row", "rows", "curves"].map((name) => el("section", { class: `panel ${name}`, "aria-label": t(`panel_${name}`) }));
  replace(root, el("div", { class: "panels" }, costs, row, rows, curves));
  let last = "", before = null;

  return async (state) => {
    const loss = lossOf(app);
    drawCosts(costs, loss, state, app);
    const asked = { facts: state.facts, loss: state.loss, prior: state.prior, positive: state.positive ?? subject.classes.length - 1 };
    const as = JSON.stringify(asked);
    if (as === last) return;
    last = as;
    const told = await app.ask("decisions", "row", asked);
    if (told) drawRow(row, told, app);
    if (!subject.n_rows) return void replace(rows, el("h2", {}, t("panel_rows")), el("p", { class: "faint" }, t("no_rows")));
    const all = await app.ask("decisions", "over_rows", { ...asked, loss_before: before });
    if (!all) return;
    before = loss;
    drawRows(rows, all, app);
    drawCurves(curves, all, app);
    root.dataset.answered = as;
  };
}

// ---------------------------------------------------------------- the table of costs, and the frequencies

function drawCosts(place, loss, state, app) {
  const { t, subject } = app;
  if (place.contains(document.activeElement) && document.activeElement.matches("input")) {
    const focused = document.activeElement.dataset.place;
    build();
    place.querySelector(`[data-place="${focused}"]`)?.focus();
  } else build();

  function put(i, j, value) {
    const costs = loss.costs.map((row) => [...row]);
    costs[i][j] = value;
    app.change({ loss: { ...loss, costs } });
  }

  function build() {
    const head = el("tr", {}, el("th", { scope: "col" }, t("decide_true")), subject.classes.map((name) => el("th", { scope: "col" }, label(name, 14))), el("th", {}));
    const body = loss.actions.map((action, i) => el("tr", {}, el("th", { scope: "row" }, label(action, 18)),
      loss.costs[i].map((cost, j) => el("td", {}, el("input", { type: "number", step: "any", class: "tiny", value: cost, "data-place": `${i}-${j}`,
        "aria-label": t("cost_cell", { action: shortened(action), truth: shortened(subject.classes[j]) }),
        onchange: (event) => put(i, j, Number(event.target.value) || 0) }))),
      el("td", {}, loss.actions.length > 1 ? el("button", { type: "button", class: "forget", "aria-label": t("drop_action", { name: shortened(action) }),
        onclick: () => app.change({ loss: { actions: loss.actions.filter((_, k) => k !== i), costs: loss.costs.filter((_, k) => k !== i) } }) }, "×") : null)));
    const name = el("input", { type: "text", class: "medium", placeholder: t("new_action"), "aria-label": t("new_action"), maxlength: 60 });
    const price = el("input", { type: "number", step: "any", class: "tiny", value: 0.3, "aria-label": t("price") });
    const add = () => {
      const action = name.value.trim() || t("refuse");
      if (loss.actions.includes(action)) return app.notice(t("action_there"));
      app.change({ loss: { actions: [...loss.actions, action], costs: [...loss.costs, subject.classes.map(() => Number(price.value) || 0)] } });
    };
    const prior = state.prior || subject.frequencies;
    const frequencies = subject.classes.length > 12 ? [] : subject.classes.map((own, code) => {
      const slider = el("input", { type: "range", min: 0.001, max: 0.999, step: 0.001, value: prior[code], "data-place": `p${code}`, "aria-label": t("frequency_of", { name: shortened(own) }),
        onchange: () => app.change({ prior: moved(prior, code, Number(slider.value)) }) });
      return el("li", {}, el("div", { class: "caption" }, label(own, 20), el("span", { class: "figure" }, percent(prior[code], 1))), slider);
    });
    replace(place, el("h2", {}, t("panel_costs")),
      el("div", { class: "scroll" }, el("table", { class: "costs" }, el("thead", {}, head), el("tbody", {}, body))),
      el("p", { class: "actions" }, name, " ", t("price"), " ", price, " ", el("button", { type: "button", onclick: add }, t("add_action"))),
      el("p", { class: "actions" }, el("button", { type: "button", onclick: () => app.change({ loss: null }) }, t("zero_one"))),
      el("h3", {}, t("frequencies")), el("ul", { class: "sliders" }, frequencies),
      state.prior ? el("button", { type: "button", onclick: () => app.change({ prior: null }) }, t("as_learned")) : null);
  }
}

// The others keep their proportions.
function moved(prior, code, share) {
  const rest = prior.reduce((sum, p, k) => (k === code ? sum : sum + p), 0) || 1;
  return prior.map((p, k) => (k === code ? share : (p / rest) * (1 - share)));
}

// ---------------------------------------------------------------- the row

function drawRow(place, told, app) {
  const { t, subject } = app;
  const tint = (code) => colour(actionColour(told.actions[code], code, subject));
  replace(place, el("h2", {}, t("panel_row")),
    el("p", { class: "advice" }, t("do"), " ", el("b", { class: "action" }, label(told.actions[told.best], 30)), " ", t("at_risk", { risk: number(told.risk[told.best], 3) })),
    told.regions?.kind === "line" ? line(told, app, tint) : told.regions?.kind === "triangle" ? triangle(told, app, tint) : null,
    el("table", {}, el("tbody", {}, told.actions.map((action, code) => el("tr", { class: code === told.best ? "best" : null }, el("th", { scope: "row" }, el("span", { class: `swatch ${tint(code)}` }), label(action, 24)), el("td", { class: "figure" }, number(told.risk[code], 4)))))),
    told.dominated.length ? el("p", { class: "warning" }, t("dominated"), " ", told.dominated.map((name) => [label(name, 24), " "])) : null);
}

// An action that is a class has its colour.
const actionColour = (action, code, subject) => {
  const place = subject.classes.indexOf(action);
  return place >= 0 ? place : subject.classes.length + code;
};

function line(told, app, tint) {
  const { t, subject } = app;
  const width = 320, x = scale(0, 1, 10, width - 10);
  let from = 0;
  const parts = told.regions.until.map((until, i) => {
    const own = svg("rect", { class: `fill ${tint(told.regions.action[i])} soft`, x: x(from), y: 20, width: x(until) - x(from), height: 22 }, svg("title", {}, shortened(told.actions[told.regions.action[i]])));
    const text = x(until) - x(from) > 50 ? svg("text", { class: "tick marked", x: (x(from) + x(until)) / 2, y: 35, "text-anchor": "middle" }, drawn(told.actions[told.regions.action[i]], 14)) : null;
    from = until;
    return [own, text];
  });
  return el("div", {}, svg("svg", { viewBox: `0 0 ${width} 70`, class: "chart", role: "img", "aria-label": t("threshold_line") }, parts,
    [[12, 20], [42, 50]].map(([y1, y2]) => svg("line", { class: "mark", x1: x(told.proba[1]), x2: x(told.proba[1]), y1, y2 })), // not over the words
    svg("text", { class: "tick marked", x: x(told.proba[1]), y: 10, "text-anchor": "middle" }, probability(told.proba[1])),
    svg("text", { class: "tick", x: 10, y: 60 }, "0"), svg("text", { class: "tick", x: width - 10, y: 60, "text-anchor": "end" }, "1"),
    svg("text", { class: "axis", x: width / 2, y: 62, "text-anchor": "middle" }, `P(${drawn(subject.classes[1], 20)})`)),
  told.regions.threshold === null ? null : el("p", { class: "faint" }, t("threshold", { p: number(told.regions.threshold, 4) })));
}

function triangle(told, app, tint) {
  const { t, subject } = app;
  const size = 300, high = size * 0.866;
  // The corners are the classes: the first on the left, the second on the right, the third on top.
  const at = (a, b, c) => [20 + size * (b + c / 2), 20 + high * (1 - c)];
  const areas = told.regions.corners.map((corners, k) => svg("polygon", {
    class: `fill ${tint(told.regions.action[k])} soft`, points: corners.map((own) => at(...own).join(",")).join(" "),
  }, svg("title", {}, shortened(told.actions[told.regions.action[k]]))));
  const [px, py] = at(...told.proba);
  return svg("svg", { viewBox: `0 0 ${size + 40} ${high + 50}`, class: "chart", role: "img", "aria-label": t("triangle") }, areas,
    svg("circle", { class: "here", cx: px, cy: py, r: 6 }),
    svg("text", { class: "tick strong", x: 20, y: high + 38 }, drawn(subject.classes[0], 16)),
    svg("text", { class: "tick strong", x: size + 20, y: high + 38, "text-anchor": "end" }, drawn(subject.classes[1], 16)),
    svg("text", { class: "tick strong", x: 20 + size / 2, y: 14, "text-anchor": "middle" }, drawn(subject.classes[2], 16)));
}

// ---------------------------------------------------------------- all rows

function drawRows(place, told, app) {
  const { t, subject } = app;
  const figure = (name, value) => value === undefined || value === null ? null : el("div", { class: "tile" }, el("b", { "data-figure": name }, value), el("span", {}, t(`figure_${name}`)));
  const many = subject.classes.length > 12;
  replace(place, el("h2", {}, t("panel_rows")),
    el("div", { class: "tiles" }, figure("cost", number(told.cost, 4)), figure("cost_of_likeliest", told.cost_of_likeliest === undefined || told.cost_of_likeliest === null ? null : number(told.cost_of_likeliest, 4)), figure("expected_cost", number(told.expected_cost, 4)),
      figure("accuracy", told.accuracy === undefined ? null : percent(told.accuracy, 1)), figure("changed", told.changed === null ? null : number(told.changed))),
    el("p", {}, t("of_rows", { n: number(told.n_rows) }), " ", told.actions.map((action, code) => told.n_by_action[code] || told.actions.length < 8 ? el("span", { class: "pill" }, label(action, 18), " ", number(told.n_by_action[code])) : null)),
    told.confusion && !many ? el("div", { class: "scroll" }, el("table", { class: "confusion" }, el("caption", {}, t("confusion")),
      el("thead", {}, el("tr", {}, el("th", { scope: "col" }, t("true_decided")), told.actions.map((action) => el("th", { scope: "col" }, label(action, 14))))),
      el("tbody", {}, told.confusion.map((line_, code) => el("tr", {}, el("th", { scope: "row" }, label(subject.classes[code], 18)), line_.map((count, j) => el("td", { class: `figure${told.actions[j] === subject.classes[code] ? " right" : ""}` }, number(count)))))))) : null,
    app.state.prior ? el("p", { class: "faint" }, t("weighted")) : null);
}

function drawCurves(place, told, app) {
  const { t, subject } = app;
  if (!told.curves) return void replace(place, el("p", { class: "faint" }, t("no_truth")));
  const { roc, reliability, cost, reject, threshold } = told.curves;
  const c = colour(told.positive);
  const top = (...lines) => [0, Math.max(...lines.flat().filter(Number.isFinite), 1e-9) * 1.05];
  const figure = (name, own, draw, note, dashed) => !own ? null : el("figure", {}, el("figcaption", {}, term(t, name, t(name)), note ? el("span", { class: "faint" }, ` ${note}`) : null), own.why_not ? el("p", { class: "faint" }, t.said(own.why_not)) : [draw(), dashed ? el("small", {}, t("dashed", { what: t(dashed) })) : null]);
  const square = { x: [0, 1], y: [0, 1] };
  const biggest = reliability.weight ? Math.max(...reliability.weight, 1) : 1;
  replace(place,
    el("h2", {}, t("panel_curves"), " ", el("select", { "aria-label": t("positive"), onchange: (event) => app.change({ positive: Number(event.target.value) }) }, subject.classes.map((name, code) => el("option", { value: code, selected: code === told.positive }, shortened(name, 24))))),
    el("div", { class: "charts" },
      figure("roc", roc, () => chart([{ x: [0, 1], y: [0, 1], class: "grey" }, { x: roc.false, y: roc.true, class: c }], { ...square, xLabel: t("false_rate"), yLabel: t("true_rate") }, { title: t("roc") }), roc.area === undefined ? "" : t("area", { area: number(roc.area, 4) })),
      figure("precision_recall", roc, () => chart([{ x: [0, 1], y: [roc.frequency, roc.frequency], class: "grey" }, { x: roc.true, y: roc.precision, class: c }], { ...square, xLabel: t("recall"), yLabel: t("precision") }, { title: t("precision_recall") })),
      figure("reliability", reliability, () => chart([{ x: [0, 1], y: [0, 1], class: "grey" }, { x: reliability.probability, y: reliability.frequency, class: c },
        { x: reliability.probability, y: reliability.frequency, class: c, dots: reliability.weight.map((w) => 2 + 6 * Math.sqrt(w / biggest)), titles: reliability.weight.map((w, i) => `${t("n_rows", { n: number(w, 4) })}: ${number(reliability.probability[i], 3)} → ${number(reliability.frequency[i], 3)} ± ${number(reliability.error[i], 2)}`) }],
        { ...square, xLabel: t("said"), yLabel: t("came_true") }, { title: t("reliability") }), told.ece === undefined ? "" : `ECE ${number(told.ece, 3)}`),
      figure("cost_curve", cost, () => chart([{ x: [0, 0.5, 1], y: [0, 0.5, 0], class: "grey" }, { x: cost.at, y: cost.best, class: `${c} dashed`, label: t("best_threshold") }, { x: cost.at, y: cost.decided, class: c, label: t("as_decided") }], { x: [0, 1], y: [0, Math.max(0.55, top(cost.decided)[1])], xLabel: t("probability_cost"), yLabel: t("normalised_cost") }, { title: t("cost_curve") }), "", "best_threshold"),
      figure("reject_curve", reject, () => chart([{ x: reject.rejected, y: reject.expected, class: "accent dashed", label: t("promised") }, { x: reject.rejected, y: reject.error, class: "accent", label: t("realised") }], { x: [0, 1], y: top(reject.error, reject.expected), xLabel: t("refused"), yLabel: t("cost_of_rest") }, { title: t("reject_curve") }), "", "promised"),
      figure("threshold_curve", threshold, () => chart([{ x: threshold.threshold, y: threshold.expected, class: "accent dashed", label: t("promised") }, { x: threshold.threshold, y: threshold.realised, class: "accent", label: t("realised") }],
        { x: [0, 1], y: top(threshold.realised, threshold.expected), xLabel: t("threshold_axis", { name: shortened(subject.classes[1], 16) }), yLabel: t("cost_a_row"), marks: [{ x: threshold.stated, label: t("stated") }] }, { title: t("threshold_curve") }), "", "promised")));
}
