// Rows as a table: sorted, filtered, opened with a click, and downloaded.

import { download } from "./ask.js";
import { el, label, replace, shortened, term } from "./dom.js";
import { colour } from "./drawing.js";
import { number, probability } from "./numbers.js";

const PAGE = 50, FIGURES = ["row", "prediction", "probability", "risk", "novelty", "truth", "surprise"];

export function mount(root, app) {
  const { t, subject } = app;
  const place = el("div", { class: "scroll" });
  const count = el("p", { class: "faint" });
  const pages = el("p", { class: "actions" });
  const settings = () => app.state.rows || {};
  const set = (partial) => app.change({ rows: { ...settings(), first: 0, ...partial } }, { step: false });
  const search = el("input", { type: "search", placeholder: t("find_cell"), "aria-label": t("find_cell"), value: settings().search || "", oninput: () => set({ search: search.value }) });
  const chosen = (name, title) => el("select", { "aria-label": title, onchange: (event) => set({ [name]: event.target.value === "" ? undefined : Number(event.target.value) }) },
    el("option", { value: "" }, title), subject.classes.map((own, code) => el("option", { value: code, selected: settings()[name] === code }, shortened(own, 24))));
  const wrong = el("input", { type: "checkbox", checked: settings().only_wrong, onchange: () => set({ only_wrong: wrong.checked }) });
  const asked = () => ({ ...settings(), loss: app.state.loss, prior: app.state.prior, count: PAGE });
  const csv = async () => {
    const blob = await app.ask("rows", "csv", asked());
    if (blob) download(blob, "rows.csv");
  };
  replace(root, el("p", { class: "actions" }, search, chosen("prediction", t("predicted")), subject.has_truth ? chosen("truth", t("truth")) : null,
    subject.has_truth ? el("label", {}, wrong, " ", t("only_wrong")) : null,
    subject.has_truth ? el("button", { type: "button", onclick: () => set({ by: "surprise", falling: true }) }, t("most_wrong")) : null,
    el("button", { type: "button", onclick: csv }, t("csv"))), count, place, pages);
  let last = "";

  return async (state) => {
    const as = JSON.stringify(asked());
    if (as === last) return;
    last = as;
    const told = await app.ask("rows", "table", asked());
    if (!told) return;
    count.textContent = t("found", { n: number(told.n_found), all: number(told.n_all) }) + (subject.is_cut ? ` – ${t("rows_are_cut")}` : "");
    replace(place, table(told, settings(), set, app));
    const first = settings().first || 0;
    replace(pages, el("button", { type: "button", disabled: first === 0, onclick: () => set({ first: Math.max(0, first - PAGE) }) }, "‹"), ` ${told.n_found ? first + 1 : 0}–${Math.min(first + PAGE, told.n_found)} `,
      el("button", { type: "button", disabled: first + PAGE >= told.n_found, onclick: () => set({ first: first + PAGE }) }, "›"));
    root.dataset.answered = as;
  };
}

function table(told, settings, set, app) {
  const { t, subject } = app;
  const shown = FIGURES.filter((name) => (name === "novelty" ? told.has_novelty : name === "truth" || name === "surprise" ? subject.has_truth : true));
  const columns = subject.fields.map((own) => own.name), dates = subject.fields.filter((own) => own.kind === "date").map((own) => own.name);
  const by = settings.by || "row";
  const isFigure = (name) => FIGURES.includes(name) ? name !== "prediction" && name !== "truth" : subject.fields.find((own) => own.name === name).kind === "number";
  const head = (name, title) => el("th", { scope: "col", class: isFigure(name) ? "figure" : null, "aria-sort": by === name ? (settings.falling ? "descending" : "ascending") : "none" },
    el("button", { type: "button", class: "plain", onclick: () => set({ by: name, falling: by === name ? !settings.falling : FIGURES.includes(name) && name !== "row" }) }, title, by === name ? (settings.falling ? " ↓" : " ↑") : ""));
  const class_ = (code) => code === null ? "" : el("span", {}, el("span", { class: `swatch ${colour(code)}` }), label(subject.classes[code], 18));
  const cell = {
    row: (own) => number(own.row + 1), prediction: (own) => class_(own.prediction), probability: (own) => probability(own.probability),
    risk: (own) => number(own.risk, 3), novelty: (own) => number(own.novelty, 3), truth: (own) => class_(own.truth), surprise: (own) => number(own.surprise, 3),
  };
  const open = (row) => async () => {
    const one = await app.ask("rows", "one", { row });
    if (one) app.change({ facts: one.facts, view: "row" });
  };
  const lines = told.figures.map((own, i) => el("tr", { class: own.truth !== null && own.truth !== own.prediction ? "wrong" : null, onclick: open(own.row) },
    shown.map((name) => el(name === "row" ? "th" : "td", { scope: name === "row" ? "row" : null, class: name === "prediction" || name === "truth" ? "class" : "figure" }, name === "row" ? el("button", { type: "button", class: "plain", "aria-label": t("open_row", { n: own.row + 1 }) }, cell.row(own)) : cell[name](own))),
    columns.map((name) => { const value = Object.hasOwn(told.cells[i], name) ? told.cells[i][name] : null; return el("td", { class: typeof value === "number" ? "figure" : null }, value === undefined || value === null ? "" : typeof value === "number" ? number(value, 6) : label(dates.includes(name) ? value.replace("T", " ").replace(/:00$/, "") : value, 28)); })));
  return el("table", { class: "rows" }, el("thead", {}, el("tr", {}, shown.map((name) => head(name, ["novelty", "surprise", "risk"].includes(name) ? term(t, name, t(`column_${name}`)) : t(`column_${name}`))), columns.map((name) => head(name, label(name, 20))))), el("tbody", {}, lines));
}
