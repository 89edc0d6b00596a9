// One row: what is known, what that makes likely, why, and what to do and to ask for next.

import { el, label, put, putText, replace, seen, shortened, svg, term } from "./dom.js";
import { colour, scale } from "./drawing.js";
import { number, percent, rounded, probability, signed } from "./numbers.js";

const MOST_CLASSES = 12, MOST_REASONS = 24, FEW_STATES = 4, MANY_FIELDS = 14;

export function mount(root, app) {
  const { t, subject } = app;
  const columns = ["known", "likely", "why", "next"].map((name) =>
    el("section", { class: `column ${name}`, "aria-labelledby": `head-${name}` }, el("h2", { id: `head-${name}` }, t(`head_${name}`)), el("div", { class: "body" })));
  replace(root, el("div", { class: "four" }, columns));
  const [known, likely, why, next] = columns.map((column) => column.querySelector(".body"));
  const form = fields(known, app);
  const bars = posteriorBars(likely, app);
  let last = "";

  return async (state) => {
    const asked = { facts: state.facts, against: state.against, lang: app.lang };
    const deciding = { ...asked, loss: state.loss, prior: state.prior, costs: state.costs };
    const as = JSON.stringify(deciding);
    const coming = as === last ? null : app.ask("row", "posterior", asked); // while it is worked out, the fields follow
    last = as;
    form(state);
    const likely = await coming;
    if (!likely) return;
    bars.posterior(likely);
    const told = await app.ask("row", "why", asked);
    if (!told || as !== last) return;
    if (told.why_not) replace(why, el("p", { class: "faint" }, t.said(told.why_not)));
    else waterfall(why, told, app);
    form(app.state, told.unseen);
    const todo = await app.ask("row", "what_next", deciding);
    if (!todo || as !== last) return;
    whatNext(next, todo, app);
    const sure = await app.ask("row", "how_sure", asked);
    if (!sure || as !== last) return;
    bars.sure(sure);
    root.dataset.answered = as;
  };
}

// ---------------------------------------------------------------- what is known

export function setFact(app, name, value, options) {
  const { [name]: before, ...facts } = app.state.facts;
  app.change({ facts: value === undefined ? facts : { ...facts, [name]: value } }, options);
}

function fields(place, app) {
  const { t, subject } = app;
  const read = subject.fields.filter((own) => own.kind !== "not read");
  const rest = subject.fields.filter((own) => own.kind === "not read");
  const made = read.map((own) => field(own, app));
  const asRow = el("input", { type: "number", min: 1, max: subject.n_rows, value: 1, "aria-label": t("row_number"), class: "short" });
  const take = async () => {
    const row = Math.round(Number(asRow.value)) - 1;
    const told = await app.ask("rows", "one", { row });
    if (told) app.change({ facts: told.facts });
  };
  const search = el("input", { type: "search", placeholder: t("find_column"), "aria-label": t("find_column"), oninput: () => {
    const text = search.value.toLowerCase();
    made.forEach((own) => { own.node.hidden = !own.name.toLowerCase().includes(text); });
  } });
  replace(place,
    el("p", { class: "actions" },
      el("button", { type: "button", onclick: () => app.change({ facts: {} }) }, t("clear")),
      subject.n_rows ? el("span", {}, el("button", { type: "button", onclick: take }, t("as_row")), " ", asRow) : null),
    read.length > MANY_FIELDS ? search : null,
    el("div", { class: "fields" }, made.map((own) => own.node)),
    rest.length ? el("details", { class: "rest" }, el("summary", {}, t("not_read", { n: rest.length })),
      rest.map((own) => el("p", {}, label(own.name), " ", el("span", { class: "faint" }, own.why[app.lang === "zh" ? 1 : 0])))) : null);
  return (state, unseen = []) => made.forEach((own) => own.update(state.facts, unseen.includes(own.name)));
}

function field(own, app) {
  const { t } = app;
  const id = `field-${app.subject.fields.indexOf(own)}`;
  const controls = { number: numberField, states: statesField, date: dateField, time: timeField, text: textField }[own.kind](own, app, id);
  const forget = el("button", { type: "button", class: "forget", title: t("not_known"), "aria-label": t("forget", { name: shortened(own.name) }), onclick: () => setFact(app, own.name, undefined) }, "×");
  const state = el("span", { class: "state" });
  const warning = el("p", { class: "warning", hidden: true }, t("never_seen"));
  const node = el("div", { class: "field" },
    el("div", { class: "caption" }, el("label", { for: id }, label(own.name, 28)), state,
      own.empty_is_state ? el("button", { type: "button", class: "plain", onclick: () => setFact(app, own.name, null) }, t("empty")) : null, forget), controls.node, warning);
  let shownAs = "";
  return {
    name: own.name,
    node,
    update(facts, isUnseen) {
      const isKnown = Object.hasOwn(facts, own.name), as = JSON.stringify([isKnown, facts[own.name], isUnseen]);
      if (as === shownAs) return;
      shownAs = node.contains(document.activeElement) ? "" : as; // who types is not disturbed: it is put right later
      node.classList.toggle("unknown", !isKnown);
      state.textContent = isKnown ? (facts[own.name] === null ? t("empty") : "") : t("not_known");
      forget.hidden = !isKnown;
      warning.hidden = !isUnseen;
      controls.update(isKnown ? facts[own.name] : undefined);
    },
  };
}

function numberField(own, app, id) {
  const step = own.is_whole ? 1 : "any";
  const box = el("input", { type: "number", id, step, class: "box" });
  const has = own.low !== null && own.low !== undefined && own.high > own.low;
  const slider = has ? el("input", { type: "range", min: own.low, max: own.high, step: own.is_whole ? 1 : (own.high - own.low) / 400, "aria-label": own.name }) : null;
  const put = (text, options) => {
    const value = text === "" ? undefined : Number(text);
    if (value === undefined || Number.isFinite(value)) setFact(app, own.name, value, options);
  };
  let dragging = false;
  box.addEventListener("change", () => put(box.value));
  slider?.addEventListener("input", () => { put(slider.value, { step: !dragging }); dragging = true; });
  slider?.addEventListener("change", () => { dragging = false; });
  return {
    node: el("div", { class: "line" }, slider, box),
    update(value) {
      if (document.activeElement !== box) box.value = value === undefined || value === null ? "" : Number(value.toPrecision(Number.isInteger(value) || Math.abs(value) >= 1e5 ? 15 : 6));
      if (slider && !dragging) slider.value = value === undefined || value === null ? (own.low + own.high) / 2 : value;
    },
  };
}

function statesField(own, app, id) {
  const { t } = app;
  if (own.states.length && own.states.length <= FEW_STATES && own.states.every((one) => one.state.length <= 12)) {
    const buttons = own.states.map((one) => el("button", {
      type: "button", "data-state": one.state,
      onclick: () => setFact(app, own.name, app.state.facts[own.name] === one.state ? undefined : one.state),
    }, label(one.state, 12), one.share === null ? null : el("small", {}, ` ${percent(one.share)}`)));
    return {
      node: el("div", { class: "choice", role: "group", id, "aria-label": own.name }, buttons),
      update(value) { buttons.forEach((one) => one.setAttribute("aria-pressed", String(one.dataset.state === value))); },
    };
  }
  const other = el("input", { type: "text", "aria-label": t("other_state"), placeholder: t("other_state"), hidden: true, maxlength: 10000 });
  const list = el("select", { id, class: "wide" },
    el("option", { value: "unknown" }, t("not_known")),
    own.empty_is_state ? el("option", { value: "empty" }, t("empty")) : null,
    own.states.map((one, place) => el("option", { value: `s${place}` }, shortened(one.state, 40) + (one.share === null ? "" : `  ${percent(one.share)}`))),
    el("option", { value: "other" }, t("other_state")));
  list.addEventListener("change", () => {
    other.hidden = list.value !== "other";
    if (list.value === "other") return other.focus();
    setFact(app, own.name, list.value === "unknown" ? undefined : list.value === "empty" ? null : own.states[Number(list.value.slice(1))].state);
  });
  other.addEventListener("change", () => { if (other.value) setFact(app, own.name, other.value); });
  return {
    node: el("div", {}, list, other),
    update(value) {
      const place = own.states.findIndex((one) => one.state === value);
      list.value = value === undefined ? "unknown" : value === null ? "empty" : place >= 0 ? `s${place}` : "other";
      other.hidden = list.value !== "other";
      if (!other.hidden && document.activeElement !== other) other.value = value;
    },
  };
}

function dateField(own, app, id) {
  const box = el("input", { type: own.has_time ? "datetime-local" : "date", id, class: "wide", onchange: () => setFact(app, own.name, box.value || undefined) });
  return { node: box, update(value) { if (document.activeElement !== box) box.value = value || ""; } };
}

function timeField(own, app, id) {
  const box = el("input", { type: "time", step: 60, id, class: "short", onchange: () => setFact(app, own.name, box.value || undefined) });
  return { node: box, update(value) { if (document.activeElement !== box) box.value = value || ""; } };
}

function textField(own, app, id) {
  const box = el("textarea", { id, rows: 3, class: "wide", maxlength: 100000 });
  let typing = null;
  box.addEventListener("input", () => {
    clearTimeout(typing);
    typing = setTimeout(() => {
      typing = null;
      setFact(app, own.name, box.value === "" ? undefined : box.value, { step: false });
    }, 120);
  });
  // What is being written is newer than any state.
  return { node: box, update(value) { if (typing === null && box.value !== (value ?? "")) box.value = value ?? ""; } };
}

// ---------------------------------------------------------------- what is likely

function posteriorBars(place, app) {
  const { t, subject } = app;
  const shown = subject.classes.map((name, code) => {
    const bar = el("span", { class: `bar ${colour(code)}` });
    const span = el("span", { class: "interval", hidden: true });
    const value = el("output", { class: "figure" });
    const range = el("small", { class: "range faint" });
    const meter = el("div", { class: "meter", role: "meter", "aria-label": shortened(name), "aria-valuemin": 0, "aria-valuemax": 1 }, bar, span);
    return { node: el("li", {}, el("div", { class: "caption" }, label(name, 24), value), meter, range), bar, span, value, range, meter };
  });
  const facts = el("div", { class: "sure" });
  replace(place, el("ul", { class: "bars" }, shown.map((own) => own.node)), facts);
  return {
    posterior(told) {
      const order = told.proba.map((p, code) => [p, code]).sort((a, b) => b[0] - a[0]).slice(0, MOST_CLASSES).map(([, code]) => code);
      shown.forEach((own, code) => {
        own.node.hidden = shown.length > MOST_CLASSES && !order.includes(code);
        own.node.classList.toggle("best", code === told.prediction);
        own.bar.style.transform = `scaleX(${told.proba[code]})`;
        putText(own.value, probability(told.proba[code]));
        put(own.meter, "aria-valuenow", told.proba[code]);
        put(own.meter, "aria-valuetext", probability(told.proba[code]));
      });
      document.getElementById("status").textContent = `${shortened(subject.classes[told.prediction])} ${probability(told.proba[told.prediction])}`;
    },
    sure(more) {
      const { interval, novelty } = more;
      shown.forEach((own, code) => {
        const has = interval.low !== undefined;
        own.span.hidden = !has;
        own.range.textContent = has ? t("range", { low: probability(interval.low[code]), high: probability(interval.high[code]) }) : "";
        if (has) {
          own.span.style.transform = `translateX(${100 * interval.low[code]}%) scaleX(${Math.max(0.01, interval.high[code] - interval.low[code])})`;
        }
      });
      replace(facts,
        interval.why_not ? el("p", { class: "faint" }, t("no_interval", { why: t.said(interval.why_not) })) : el("p", {}, term(t, "interval", t(Object.keys(app.state.facts).length ? "support" : "support_none", { n: number(interval.support), level: percent(interval.level) }))),
        novelty.why_not ? el("p", { class: "faint" }, t("no_novelty", { why: t.said(novelty.why_not) })) : el("p", { class: "usual" }, term(t, "novelty", t("usual", { share: percent(novelty.share, novelty.share < 0.1 ? 1 : 0) }))),
        turning(more, app),
        subject.is_stale ? el("p", { class: "warning" }, t("stale")) : null);
    },
  };
}

function turning(more, app) {
  const { t, subject } = app;
  const alone = more.turns.length > 0;
  const turns = alone ? more.turns : more.turns_together;
  if (!turns.length) return el("p", { class: "faint" }, t("no_turn"));
  const put = (some) => app.change({ facts: { ...app.state.facts, ...Object.fromEntries(some.map((turn) => [turn.column, turn.fact])) } });
  const can = (turn) => turn.fact !== null && turn.fact !== undefined;
  return el("div", { class: "turns" }, el("h3", {}, t(alone ? "would_turn" : "would_turn_together")),
    el("ul", {}, turns.map((turn) => el("li", {},
      label(t.column(turn.column), 24), " ", label(turn.change, 30), alone ? [" → ", label(subject.classes[turn.prediction], 16), " "] : " ",
      alone && can(turn) ? el("button", { type: "button", onclick: () => put([turn]) }, t("set")) : null))),
    !alone && turns.every(can) ? el("button", { type: "button", onclick: () => put(turns) }, t("set_both")) : null);
}

// ---------------------------------------------------------------- why

function waterfall(place, told, app) {
  const { t, subject } = app;
  const against = el("select", { "aria-label": t("against"), onchange: (event) => app.change({ against: event.target.value }) },
    subject.classes.map((name, code) => code === told.prediction ? null : el("option", { value: name, selected: code === told.against }, seen(name, 24))));
  const reasons = told.reasons.slice(0, MOST_REASONS);
  const steps = [{ name: t("before"), value: told.intercept }, ...reasons.map((own) => ({ name: t.column(own.column), cell: own.value, value: own.contribution, own })), { name: t("sum"), value: told.log_odds, isSum: true }];
  const finite = (x) => (typeof x === "string" ? 0 : x);
  const others = told.reasons.slice(MOST_REASONS);
  if (others.length) { // so that what is shown adds up
    steps.splice(-1, 0, { name: t("more_columns", { n: others.length }), value: others.reduce((sum, own) => sum + finite(own.contribution), 0) });
  }
  let at = 0;
  for (const step of steps) {
    step.from = step.isSum ? 0 : at;
    step.to = step.isSum ? finite(step.value) : at + finite(step.value);
    if (!step.isSum) at = step.to;
  }
  const ends = steps.flatMap((step) => [step.from, step.to, 0]);
  const x = scale(Math.min(...ends), Math.max(...ends), 0, 100);
  const bar = (step) => {
    const code = finite(step.value) >= 0 ? told.prediction : told.against;
    const low = Math.min(x(step.from), x(step.to)), wide = Math.abs(x(step.to) - x(step.from));
    return svg("svg", { class: "step", viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("line", { class: "base", x1: x(0), x2: x(0), y1: 0, y2: 10 }),
      svg("rect", { class: `fill ${colour(code)}${step.isSum ? "" : " soft"}`, x: low, y: 1, width: Math.max(0.6, wide), height: 8 }));
  };
  // What a reason is made of is asked for when somebody points at it.
  const behind = async (step, node) => {
    if (!step.own || node.dataset.asked) return;
    node.dataset.asked = "yes";
    const told_ = await app.ask("row", "behind", { facts: app.state.facts, column: step.own.column });
    if (!told_ || told_.why_not) return;
    const of = (code) => `${t(told_.is_density ? "density_in" : "probability_in", { name: shortened(subject.classes[code], 24) })} ${number(told_.likelihood[code], 3)}${told_.counts ? ` (${t("n_rows", { n: number(told_.counts[code]) })})` : ""}`;
    node.title = [step.own.how, of(told.prediction), of(told.against)].join("\n");
    detail.textContent = `${shortened(step.own.column)}: ${of(told.prediction)}; ${of(told.against)}`;
  };
  const detail = el("p", { class: "faint detail", "aria-live": "polite" });
  const rows = steps.map((step) => el("tr", { class: step.isSum ? "sum" : null, title: step.own ? shortened(step.own.how, 240) : null, tabindex: step.own ? 0 : null,
    onpointerenter: (event) => behind(step, event.currentTarget), onfocus: (event) => behind(step, event.currentTarget) },
    el("th", { scope: "row" }, step.isSum ? term(t, "log_odds", step.name) : label(step.name, 26), step.cell !== undefined ? el("span", { class: "cell" }, " ", label(step.cell, 24)) : null),
    el("td", { class: "figure", "data-value": step.value }, signed(step.value)), el("td", { class: "steps" }, bar(step))));
  replace(place,
    el("p", { class: "rather" }, el("b", { class: `ink ${colour(told.prediction)}` }, label(subject.classes[told.prediction], 24)), " ", t("rather_than"), " ",
      subject.classes.length > 2 ? against : el("b", { class: `ink ${colour(told.against)}` }, label(subject.classes[told.against], 24))),
    told.is_impossible ? el("p", { class: "warning" }, t("impossible")) : null,
    el("table", { class: "waterfall", "aria-label": t("waterfall") }, el("tbody", {}, rows)), detail,
    told.calibrated_log_odds !== null ? el("p", { class: "faint" }, term(t, "calibrated", t("calibrated", { odds: signed(told.calibrated_log_odds) }))) : null,
    el("ul", { class: "sentences" }, reasons.slice(0, 5).map((own) => el("li", {}, el("b", {}, label(t.column(own.column), 24)), " ", shortened(own.how, 240),
      own.words.length ? el("span", { class: "words" }, own.words.slice(0, 8).map((word) => el("span", { class: `word ink ${colour(word.contribution >= 0 ? told.prediction : told.against)}`, title: signed(word.contribution) }, label(word.word, 20), " "))) : null))));
}

// ---------------------------------------------------------------- what next

function whatNext(place, more, app) {
  const { t } = app;
  const { decision, next } = more;
  const risks = decision.risk.map((risk, code) => ({ risk, code })).sort((a, b) => a.risk - b.risk).slice(0, 6);
  const top = Math.max(...risks.map((own) => own.risk), 1e-12);
  const questions = next.questions || [];
  const pays = next.pays && questions[0]?.worth > 5e-5 * top; // less is worth nobody's time
  const asks = questions.map((own, place_) => el("tr", { class: place_ === 0 && pays ? "best" : null },
    el("th", { scope: "row" }, el("button", { type: "button", class: "plain", onclick: () => focusOn(own.column, app) }, label(own.column, 22))),
    el("td", { class: "figure" }, rounded(own.worth)),
    el("td", {}, el("input", { type: "number", class: "tiny", step: "any", value: own.cost, "aria-label": t("cost_of", { name: shortened(own.column) }),
      onchange: (event) => app.change({ costs: { ...app.state.costs, [own.column]: Number(event.target.value) || 0 } }) })),
    el("td", { class: "figure" }, rounded(own.net))));
  replace(place,
    next.why_not ? el("p", { class: "faint" }, t("no_next", { why: t.said(next.why_not) })) : [
      el("p", { class: "advice" }, !questions.length ? t("nothing_to_ask") : pays ? [t("ask"), " ", el("b", {}, label(questions[0].column, 30)), " ", t("worth", { worth: rounded(questions[0].worth) })] : t("ask_nothing")),
      questions.length ? el("table", { class: "questions" }, el("thead", {}, el("tr", {}, ["fact", "worth_head", "cost_head", "net_head"].map((name) => el("th", { scope: "col" }, name === "worth_head" ? term(t, "worth", t(name)) : t(name))))), el("tbody", {}, asks)) : null,
      Object.entries(next.skipped || {}).map(([name, why]) => el("p", { class: "faint" }, label(name, 24), ": ", why))],
    el("h3", {}, t("do_head")),
    el("p", { class: "advice" }, t("do"), " ", el("b", { class: "action" }, label(decision.actions[decision.best], 30)), " ", t("at_risk", { risk: rounded(decision.risk[decision.best]) })),
    el("ul", { class: "risks" }, risks.map(({ risk, code }) => el("li", {}, el("div", { class: "caption" }, label(decision.actions[code], 22), el("span", { class: "figure" }, rounded(risk))),
      el("div", { class: "meter thin" }, el("span", { class: "bar accent", style: { transform: `scaleX(${risk / top})` } }))))),
    el("button", { type: "button", class: "plain", onclick: () => app.change({ view: "decisions" }) }, t("edit_costs")));
}

function focusOn(column, app) {
  const place = app.subject.fields.findIndex((own) => own.name === column || column.startsWith(`${own.name} (`));
  const node = document.getElementById(`field-${place}`);
  (node?.matches(".choice") ? node.querySelector("button") : node)?.focus();
  node?.scrollIntoView({ block: "center" });
}
