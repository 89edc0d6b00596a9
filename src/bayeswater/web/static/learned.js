// What the model has learned: a wall of pictures, one a column, ordered by information; and the nomogram.

import { el, drawn, label, replace, shortened, svg, term } from "./dom.js";
import { legend, lettersWide, picture, scale } from "./drawing.js";
import { number, rounded, signed } from "./numbers.js";

export function mount(root, app) {
  const { t, subject } = app;
  const wall = el("div", { class: "wall" });
  const place = el("div", {});
  const toggle = (name) => el("button", { type: "button", "aria-pressed": "false", "data-mode": name, onclick: () => app.change({ mode: name === "columns" ? undefined : name }) }, t(`mode_${name}`));
  const modes = ["columns", "nomogram"].map(toggle);
  replace(root, el("p", { class: "actions" }, modes, " ", legend(subject.classes.slice(0, 12))), place);
  let told = null, nomogram = null, mode = null;

  return async (state) => {
    mode = state.mode || "columns";
    modes.forEach((own) => own.setAttribute("aria-pressed", String(own.dataset.mode === mode)));
    if (mode === "nomogram") {
      nomogram = await app.ask("learned", "nomogram", { lang: app.lang, ...(state.compared ? { chosen: state.compared[0], against: state.compared[1] } : {}) });
      if (nomogram && mode === "nomogram") { drawNomogram(place, nomogram, app); root.dataset.answered = "nomogram"; }
      return;
    }
    told ??= await app.ask("learned", "columns", { lang: app.lang });
    const marks = told && await app.ask("learned", "marks", { facts: state.facts, lang: app.lang });
    if (!marks || mode !== "columns" || state !== app.state) return;
    const isDrawn = told.columns.some((own) => own.picture);
    replace(place, isDrawn ? null : el("p", { class: "faint" }, t("no_picture")), wall, told.left_out.length ? el("details", { class: "rest" }, el("summary", {}, t("not_read", { n: told.left_out.length })),
      told.left_out.map((own) => el("p", {}, label(t.column(own.name)), " ", el("span", { class: "faint" }, own.why)))) : null);
    replace(wall, told.columns.map((own) => card(own, app, marks, isDrawn)));
    root.dataset.answered = "columns";
  };
}

function card(own, app, marks, isDrawn) {
  const { t, subject } = app;
  const mark = marks[own.name];
  const open = () => enlarge(own, app, mark);
  return el("article", { class: "card" },
    el("button", { type: "button", class: "plain", onclick: open, "aria-label": t("enlarge", { name: shortened(t.column(own.name)) }) },
      el("h3", {}, label(t.column(own.name), 26)),
      el("p", { class: "faint" }, [own.family, own.bits === null ? null : t("bits", { bits: rounded(own.bits) }), own.mean_log_odds && t("mean_odds", { odds: number(own.mean_log_odds, 3) })].filter(Boolean).join(" · "))),
    own.picture ? picture(own.picture, subject.classes, { mark, title: t("picture_of", { name: shortened(t.column(own.name)) }) }) : isDrawn ? el("p", { class: "faint" }, t("no_picture")) : null);
}

function enlarge(own, app, mark) {
  const { t, subject } = app;
  const dialog = el("dialog", { class: "large", "aria-label": shortened(t.column(own.name)), onclose: () => dialog.remove() },
    el("form", { method: "dialog" }, el("button", { class: "forget", "aria-label": t("close") }, "×")),
    el("h2", {}, label(t.column(own.name), 80)),
    el("p", {}, own.family, " ", own.bits === null ? "" : term(t, "bits", t("bits", { bits: number(own.bits, 4) }))),
    el("p", { class: "faint" }, own.why),
    legend(subject.classes),
    own.picture ? picture(own.picture, subject.classes, { width: 560, height: 260, mark, most: 40, title: t.column(own.name) }) : null,
    own.picture ? el("details", {}, el("summary", {}, t("table")), table(own.picture, subject.classes, t)) : null);
  document.body.append(dialog);
  dialog.showModal();
}

function table(own, classes, t) {
  const rows = own.at.map((at, i) => el("tr", {}, el("th", { scope: "row" }, typeof at === "number" ? number(at) : label(at, 40)),
    own.values.map((line) => el("td", { class: "figure" }, number(line[i], 3))), own.counts ? own.counts.map((line) => el("td", { class: "figure faint" }, number(line[i]))) : null));
  return el("table", {}, el("thead", {}, el("tr", {}, el("th", {}), classes.map((name) => el("th", { scope: "col" }, label(name, 16))),
    own.counts ? classes.map((name) => el("th", { scope: "col", class: "faint" }, "n ", label(name, 12))) : null)), el("tbody", {}, rows));
}

// Each column is a scale: where a cell stands on it is what it adds to the log-odds.
function drawNomogram(place, told, app) {
  const { t, subject } = app;
  if (!told.scales.length) return void replace(place, el("p", { class: "faint" }, t("no_picture")));
  const names = told.scales.map((own) => shortened(t.column(own.name), 24));
  const left = Math.max(...[t("before"), ...names].map((name) => lettersWide(name, 12))) + 24; // they are bold
  const width = left + 600, line = 44, height = 60 + line * (told.scales.length + 1);
  const all = told.scales.flatMap((own) => own.odds).filter(Number.isFinite);
  const ends = [Math.min(0, ...all, told.intercept), Math.max(0, ...all, told.intercept)];
  const x = scale(...ends, left + 30, width - 30);
  const parts = [];
  const axis = (y) => {
    const step = [0.25, 0.5, 1, 2, 5, 10, 20, 50, 100].find((own) => (ends[1] - ends[0]) / own <= 12) || 1000;
    for (let k = Math.ceil(ends[0] / step) * step; k <= ends[1]; k += step) {
      parts.push(svg("line", { class: "grid", x1: x(k), x2: x(k), y1: 18, y2: height - 8 }));
      parts.push(svg("text", { class: "tick", x: x(k), y, "text-anchor": "middle" }, number(k, 3)));
    }
  };
  axis(12);
  parts.push(svg("line", { class: "base", x1: x(0), x2: x(0), y1: 18, y2: height - 8 }));
  parts.push(svg("text", { class: "tick strong", x: left - 12, y: 42, "text-anchor": "end" }, t("before")));
  parts.push(svg("circle", { class: "dot accent", cx: x(told.intercept), cy: 38, r: 4 }), svg("text", { class: "tick", x: x(told.intercept) + 7, y: 42 }, signed(told.intercept)));
  told.scales.forEach((own, i) => {
    const y = 38 + (i + 1) * line;
    parts.push(svg("text", { class: "tick strong", x: left - 12, y: y + 4, "text-anchor": "end" }, drawn(names[i], 24), svg("title", {}, shortened(t.column(own.name), 200))));
    parts.push(svg("line", { class: "base", x1: x(Math.min(...own.odds)), x2: x(Math.max(...own.odds)), y1: y, y2: y }));
    const isNumber = typeof own.at[0] === "number";
    const stops = own.at.map((at, k) => [at, own.odds[k]]).sort((a, b) => a[1] - b[1]);
    const written = new Set(), taken = { up: left - 4, down: left - 4 }; // where the last label above and the last one below end
    stops.forEach(([at, odds], k) => {
      const place_ = x(odds), text = isNumber ? number(at, 3) : at.replaceAll(" 12:00", "");
      const half = lettersWide(shortened(text, 24), 10.5) / 2 + 3, middle = Math.min(Math.max(place_, left + half), width - half);
      const side = ["up", "down"].find((own_) => middle - half >= taken[own_]);
      parts.push(svg("circle", { class: "dot", cx: place_, cy: y, r: 2.5 }, svg("title", {}, `${drawn(text, 60)} ${signed(odds)}`)));
      if (!side || written.has(text)) return; // the hours of a day begin and end alike
      written.add(text);
      taken[side] = middle + half;
      parts.push(svg("text", { class: "tick", x: middle, y: side === "up" ? y - 6 : y + 15, "text-anchor": "middle" }, drawn(text, 24)));
    });
  });
  const choose = (which) => el("select", { "aria-label": t(which), onchange: (event) => app.change({ compared: which === "chosen" ? [event.target.value, told.against] : [told.chosen, event.target.value] }) },
    subject.classes.map((name) => (which === "chosen" ? told.against : told.chosen) === name ? null : el("option", { value: name, selected: told[which] === name }, shortened(name, 24))));
  replace(place, el("section", { class: "nomogram" },
    el("h2", {}, t("nomogram_of"), " ", choose("chosen"), " ", t("rather_than"), " ", choose("against")),
    el("p", { class: "faint" }, t(told.is_sum ? "nomogram_how" : "nomogram_apart")),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "sheet", role: "img", "aria-label": t("mode_nomogram") }, parts),
    told.n_left_out ? el("p", { class: "faint" }, t("more_columns", { n: told.n_left_out })) : null));
}

