// The ladder of models on the same folds, with the intervals of what they lie behind the best.

import { el, label, replace, svg } from "./dom.js";
import { scale } from "./drawing.js";
import { number, percent } from "./numbers.js";

const WAIT = 700;

export function mount(root, app) {
  const { t } = app;
  const place = el("div", {});
  replace(root, el("h2", {}, t("ladder")), place);
  let has = false;

  async function look() {
    if (has || !root.contains(place)) return;
    const told = await app.ask("compare", "ladder", { lang: app.lang });
    if (!told) return;
    if (told.state === "running") {
      replace(place, el("p", {}, t("comparing", { done: told.n_done, all: told.n_all || "…" }), " ", label(told.model, 40)), el("progress", { max: told.n_all || 1, value: told.n_all ? told.n_done : undefined, "aria-label": t("ladder") }));
      setTimeout(look, WAIT);
    } else if (told.state === "failed") replace(place, el("p", { class: "warning" }, t.said(told.why)));
    else { has = true; replace(place, ladder(told, app)); root.dataset.answered = "done"; }
  }
  look();
  return () => {};
}

function ladder(told, app) {
  const { t } = app;
  const models = told.models.filter((own) => own.failure === null);
  const ends = [0, Math.max(...models.map((own) => (own.behind ?? 0) + (own.half ?? 0)).filter(Number.isFinite), 1e-6)];
  const low = Math.min(0, ...models.map((own) => (own.behind ?? 0) - (own.half ?? 0)).filter(Number.isFinite));
  const x = scale(low, ends[1], 6, 194);
  const bar = (own) => own.behind === null ? "" : svg("svg", { viewBox: "0 0 200 16", class: "ladder", role: "img", "aria-label": `${number(own.behind, 3)} ± ${number(own.half, 2)}` },
    svg("line", { class: "base", x1: x(0), x2: x(0), y1: 0, y2: 16 }),
    own.half === null ? null : svg("line", { class: "line accent", x1: x(own.behind - own.half), x2: x(own.behind + own.half), y1: 8, y2: 8 }), svg("circle", { class: "dot accent", cx: x(own.behind), cy: 8, r: 4 }));
  const rows = models.map((own) => el("tr", {}, el("th", { scope: "row" }, label(own.name, 30)), el("td", { class: "figure" }, number(own.log_loss, 4)), el("td", {}, bar(own)),
    el("td", { class: "figure" }, percent(own.error, 1)), el("td", { class: "figure" }, number(own.ece, 3)), el("td", { class: "figure" }, number(own.fit_seconds, 2)), el("td", { class: "figure" }, number(own.n_parameters))));
  return el("div", { class: "scroll" }, el("p", { class: "faint" }, t("compared_on", { n: number(told.n_rows), folds: told.n_folds })),
    el("table", {}, el("thead", {}, el("tr", {}, ["model", "log_loss", "behind", "error", "ece", "seconds", "parameters"].map((name, k) => el("th", { scope: "col", class: k && k !== 2 ? "figure" : null }, t(`ladder_${name}`))))), el("tbody", {}, rows)),
    told.models.filter((own) => own.failure !== null).map((own) => el("p", { class: "warning" }, label(own.name), ": ", own.failure)), told.remarks.map((text) => el("p", { class: "faint" }, text)));
}
