// The frame: which subject and which view, the state that all views share, its address, undo, keys and language.
//
// A view is a module that exports `mount(root, app)` and gives a function that is called whenever the state changes.
// `app` has the state, `change` to move to another one, `ask` for questions to the library, and `t` for words.

import { ask, overview, Refused, takeKey } from "./ask.js";
import { el, label, put, putText, replace } from "./dom.js";
import { translator } from "./strings.js";
import * as row from "./row.js";
import * as learned from "./learned.js";
import * as decisions from "./decisions.js";
import * as rows from "./rows.js";
import * as compare from "./compare.js";
import * as network from "./network.js";

const VIEWS = { row, learned, decisions, rows, compare, network };
const START = { subject: 0, view: null, lang: null, facts: {}, costs: {}, loss: null, prior: null, against: "", net: {} };

const app = { state: { ...START }, subjects: [], t: null, change, ask: asked, subject: null, notice };
let shown = null; // what the view on the screen is to be told of changes by
let shownAs = "";
const ADDRESS_WAITS = 250; // milliseconds
let writing = null, isStep = null; // the wait for it, and whether it is a step of its own

// ---------------------------------------------------------------- the state and its address

function fromAddress() {
  try {
    const told = JSON.parse(decodeURIComponent(location.hash.slice(1)) || "{}");
    return { ...START, ...(typeof told === "object" && told ? told : {}) };
  } catch {
    return { ...START };
  }
}

function address(state) {
  const told = {};
  for (const [name, value] of Object.entries(state)) {
    if (JSON.stringify(value) !== JSON.stringify(START[name])) told[name] = value;
  }
  return "#" + encodeURIComponent(JSON.stringify(told));
}

// Moves to another state. `step` says whether that is a step of its own to go back by, or part of the one before.
function change(partial, { step = true } = {}) {
  if (step) write();
  app.state = { ...app.state, ...partial };
  isStep ||= step;
  clearTimeout(writing);
  writing = setTimeout(write, ADDRESS_WAITS);
  show();
}

// To write an address takes a browser longer than to answer: it follows once the bars have moved.
function write() {
  if (!writing) return;
  clearTimeout(writing);
  history[isStep ? "pushState" : "replaceState"](null, "", address(app.state));
  writing = isStep = null;
}

function go(step) {
  write();
  history.go(step);
}

// An answer that comes after its view has gone is none.
function asked(view, question, document_ = {}) {
  const as = shownAs, ifThere = (own) => (told) => (as === shownAs ? own(told) : null);
  return ask(app.state.subject, view, question, document_).then(ifThere((told) => told), ifThere(failed));
}

function failed(error) {
  notice(error instanceof Refused ? app.t("no_key") : error instanceof TypeError ? app.t("no_server") : app.t.said(error.message));
  return null;
}

function notice(text) {
  const place = document.getElementById("notice");
  place.hidden = !text;
  putText(place, text || "");
}

// ---------------------------------------------------------------- the frame

function frame() {
  const { t, state, subject } = app;
  const tabs = subject.views.map((view) =>
    el("a", {
      href: address({ ...state, view }), role: "tab", id: `tab-${view}`, "aria-selected": String(view === state.view),
      tabindex: view === state.view ? "0" : "-1",
      onclick: (event) => { event.preventDefault(); change({ view }); },
    }, t(`view_${view}`)));
  const nav = el("nav", { role: "tablist", "aria-label": t("views"), onkeydown: alongTabs }, tabs);
  const name = app.subjects.length > 1
    ? el("select", { "aria-label": t("subject"), onchange: (event) => change({ ...START, lang: state.lang, subject: Number(event.target.value) }) },
      app.subjects.map((own, place) => el("option", { value: place, selected: place === state.subject }, own.name)))
    : label(subject.name, 30);
  const languages = ["en", "zh"].map((lang) =>
    el("button", { type: "button", lang, "aria-pressed": String(lang === app.lang), onclick: () => change({ lang }, { step: false }) },
      lang === "en" ? "EN" : "中文"));
  replace(document.getElementById("frame"),
    el("h1", {}, name), nav,
    el("span", { class: "tools" },
      el("button", { type: "button", title: t("undo_keys"), onclick: () => go(-1) }, t("undo")),
      el("button", { type: "button", title: t("redo_keys"), onclick: () => go(1) }, t("redo")),
      el("button", { type: "button", onclick: () => print() }, t("print")),
      el("span", { class: "languages", role: "group", "aria-label": t("language") }, languages)));
}

function alongTabs(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const views = app.subject.views;
  const place = (views.indexOf(app.state.view) + step + views.length) % views.length;
  change({ view: views[place] });
  document.getElementById(`tab-${views[place]}`).focus();
}

function show() {
  const state = app.state;
  if (!app.subjects[state.subject]) state.subject = 0;
  app.subject = app.subjects[state.subject];
  if (!app.subject.views.includes(state.view)) state.view = app.subject.views[0];
  app.lang = state.lang || app.preferred;
  app.t = translator(app.lang);
  put(document.documentElement, "lang", app.lang === "zh" ? "zh-CN" : "en");
  notice("");
  const as = `${state.subject} ${state.view} ${app.lang}`;
  if (as !== shownAs) {
    const focused = document.activeElement?.closest("#frame") ? document.activeElement.id : "";
    document.title = `${app.subject.name} · Bayeswater`;
    frame();
    if (focused) document.getElementById(focused)?.focus();
    const root = document.getElementById("view");
    root.className = `view-${state.view}`;
    root.setAttribute("aria-labelledby", `tab-${state.view}`);
    replace(root);
    shownAs = as;
    shown = VIEWS[state.view].mount(root, app);
  }
  shown(app.state);
}

// ---------------------------------------------------------------- keys

const isText = (node) => node.matches?.("textarea, input[type=text], input[type=search], input[type=number], input:not([type])");

addEventListener("keydown", (event) => {
  const control = event.ctrlKey || event.metaKey;
  if (control && event.key.toLowerCase() === "z" && !isText(event.target)) {
    event.preventDefault();
    go(event.shiftKey ? 1 : -1);
  } else if (control && event.key.toLowerCase() === "y" && !isText(event.target)) {
    event.preventDefault();
    go(1);
  } else if (event.key === "Escape" && !document.querySelector("dialog[open]")) {
    const names = Object.keys(app.state.facts);
    if (app.state.view !== "network" && names.length) {
      const { [names.at(-1)]: released, ...facts } = app.state.facts;
      change({ facts });
    }
  }
});

addEventListener("popstate", () => {
  if (!app.subjects.length) return;
  clearTimeout(writing);
  writing = isStep = null;
  app.state = fromAddress();
  show();
});

// ---------------------------------------------------------------- the start

takeKey();
const languages = navigator.language?.toLowerCase().startsWith("zh") ? "zh" : "en";
app.t = translator(languages);
replace(document.getElementById("view"), el("p", { class: "faint", role: "status" }, app.t("loading")));
overview().then((told) => {
  app.subjects = told.subjects;
  app.preferred = told.lang || languages;
  app.state = fromAddress();
  show();
  if (parent !== window) parent.postMessage("bayeswater", "*");
}).catch(failed);
