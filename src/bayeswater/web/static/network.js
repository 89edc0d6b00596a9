// A network: its drawing, evidence and what follows from it. Whatever is known stands in the address; the library answers.

import { download } from "./ask.js";
import { el, label, replace, shortened } from "./dom.js";
import { Picture, pixels, shareWords } from "./network_picture.js";
import { number, probability } from "./numbers.js";

const EMPTY = { observed: [], soft: [], does: [], edits: [], chosen: [], steps: 1, levels: null, opened: [], closed: [], best: false, doing: false };
const MANY = 300; // nodes from which what to observe next is told when it is asked for
const FOUND = 10; // names that a search shows

let escape = null; // what Escape does while a network is shown

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && escape && !document.querySelector("dialog[open]")) escape();
});

export function mount(root, app) {
  const { t } = app;
  let all = null; // names, states and formats
  // Without a choice a large network is shown around one node, a small one whole: focus is null.
  const net = () => ({ ...EMPTY, focus: all?.start, ...app.state.net });
  const known = () => { const { observed, soft, does, edits } = net(); return { observed, soft, does, edits }; };
  const part = () => { const { focus, steps, levels, opened, closed } = net(); return { focus, steps, levels, opened, closed }; };
  const partAs = () => { const { focus, steps, levels, ...folds } = part(); return JSON.stringify([focus, focus === null ? levels : steps, folds]); };
  const look = (focus, more = {}) => set({ focus, opened: [], closed: [], ...more }, false); // at another part of it
  const set = (partial, step = true) => app.change({ net: { ...net(), ...partial } }, { step });
  const isNumber = (node) => all.numbers.has(node);
  const others = (list, node) => list.filter(([own]) => own !== node);
  const told = { posteriors: null, shown: null, arcs: null, trail: null, best: null, n_left: 0 };
  let drawnAs = null, answeredAs = null, arcsAs = null, besideAs = null, panelAs = null;

  const gestures = {
    hold(node, code, doing) {
      const kind = doing || net().doing ? "does" : "observed", own = net();
      const is = own[kind].some(([other, held]) => other === node && held === code);
      const cleared = { observed: others(own.observed, node), does: others(own.does, node), soft: others(own.soft, node) };
      if (!is) cleared[kind] = [...cleared[kind], [node, code]];
      set(cleared);
    },
    async soften(node, code, value) {
      const found = await app.ask("network", "likelihood", { ...known(), node, state: code, value });
      if (found) likelihood(node, found.likelihood);
      else refresh();
    },
    choose(node) {
      const { chosen } = net();
      set({ chosen: chosen.at(-1) === node ? chosen.slice(0, -1) : [...chosen.filter((own) => own !== node), node].slice(-2) }, false);
    },
    async fold(node) {
      const found = await app.ask("network", "fold", { ...part(), node });
      if (found) set(found);
    },
    release(node) {
      const own = net();
      if (![...own.observed, ...own.does, ...own.soft].some(([other]) => other === node)) return escape();
      set({ observed: others(own.observed, node), does: others(own.does, node), soft: others(own.soft, node) });
    },
  };
  escape = () => {
    if (app.state.view !== "network") return;
    const own = net();
    for (const kind of ["observed", "does", "soft"]) {
      if (own[kind].length) return set({ [kind]: own[kind].slice(0, -1) });
    }
    if (own.chosen.length) set({ chosen: [] }, false);
  };
  const likelihood = (node, numbers) => {
    const own = net();
    set({ soft: [...others(own.soft, node), [node, numbers]], observed: others(own.observed, node), does: others(own.does, node) });
  };

  // ------------------------------------------------------------ the tools

  const picture = new Picture(t, gestures);
  const work = el("p", { class: "working", hidden: true }, t("net_working"));
  const found = el("ul", { class: "found", role: "listbox", "aria-label": t("net_found"), hidden: true });
  const search = el("input", { type: "search", placeholder: t("net_search"), "aria-label": t("net_search"), role: "combobox", "aria-expanded": "false",
    oninput: () => searched(), onkeydown: (event) => {
      if (event.key === "Enter") found.querySelector("button")?.click();
      else if (event.key === "ArrowDown") found.querySelector("button")?.focus();
      else if (event.key === "Escape") { search.value = ""; searched(); event.stopPropagation(); }
    } });
  function searched() {
    const text = search.value.trim().toLowerCase();
    const hits = !text || !all ? [] : all.names.map((name, node) => [name, node]).filter(([name]) => name.toLowerCase().includes(text)).slice(0, FOUND);
    found.hidden = !hits.length;
    search.setAttribute("aria-expanded", String(Boolean(hits.length)));
    replace(found, hits.map(([name, node]) => el("li", { role: "option" }, el("button", { type: "button", onclick: () => goTo(node) }, label(name, 40)))));
  }
  function goTo(node) {
    search.value = "";
    searched();
    const chosen = [...net().chosen.filter((own) => own !== node), node].slice(-2);
    if (picture.nodes.has(node)) set({ chosen }, false);
    else look(node, { chosen });
    picture.show(node, true);
  }
  const button = (word, onclick, more = {}) => el("button", { type: "button", onclick, ...more }, t(word));
  const doing = button("net_doing", () => set({ doing: !net().doing }, false), { title: t("net_doing_how") });
  const best = button("net_best", () => set({ best: !net().best }, false), { title: t("net_best_how") });
  const focus = button("net_focus", () => { const own = net(); look(own.focus === null ? own.chosen.at(-1) ?? picture.current : null); }, { title: t("net_focus_how") });
  const steps = el("select", { hidden: true, "aria-label": t("net_steps"), onchange: () => set({ steps: Number(steps.value) }, false) },
    [1, 2, 3].map((n) => el("option", { value: n }, t("net_step", { n }))));
  const levels = el("select", { "aria-label": t("net_levels"), title: t("net_levels_how"), onchange: () => look(null, { levels: Number(levels.value) || null }) },
    el("option", { value: "" }, t("net_all_levels")), [1, 2, 3, 4, 5].map((n) => el("option", { value: n }, t("net_level", { n }))));
  const file = el("input", { type: "file", accept: ".json,application/json", hidden: true, onchange: () => read() });
  const reader = button("net_read", () => file.click(), { title: t("net_read_how") });
  const kinds = el("select", { class: "short", "aria-label": t("net_save"), onchange: () => { save(kinds.value); kinds.value = ""; } }, el("option", { value: "" }, t("net_save")));
  const zooms = el("span", { class: "zooms", role: "group", "aria-label": t("net_zoom") },
    el("button", { type: "button", "aria-label": t("net_nearer"), onclick: () => picture.zoom(1.25) }, "+"),
    el("button", { type: "button", "aria-label": t("net_farther"), onclick: () => picture.zoom(0.8) }, "−"),
    button("net_fit", () => picture.fit()));
  const clear = button("net_clear", () => set({ observed: [], soft: [], does: [] }));
  const panel = Object.fromEntries(["known", "chosen", "table", "next"].map((name) => [name, el("section", { class: "panel" })]));
  const side = el("div", { class: "side", hidden: true }, Object.values(panel)); // until it is filled: nothing is to jump
  const left = el("p", { class: "left-out faint" });
  replace(root,
    el("p", { class: "actions" }, el("span", { class: "searching" }, search, found), zooms, doing, best, focus, steps, levels, clear, kinds, reader, file),
    el("div", { class: "desk" }, el("div", { class: "stage" }, picture.root, work, left), side));

  async function save(as) {
    const saved = await app.ask("network", "save", { ...known(), ...part(), as: as === "png" ? "svg" : as });
    if (!saved) return;
    const bytes = Uint8Array.from(atob(saved.content), (letter) => letter.charCodeAt(0));
    const blob = new Blob([bytes], { type: saved.name.endsWith(".svg") ? "image/svg+xml" : "application/octet-stream" });
    if (as === "png") download(await pixels(blob), "network.png");
    else download(blob, saved.name);
    app.notice(saved.notes.join(" "));
  }

  async function read() {
    const text = await file.files[0]?.text();
    file.value = ""; // the same file can be read again
    const found = text === undefined ? null : await app.ask("network", "read_evidence", { text });
    if (found) set(found);
  }

  // ------------------------------------------------------------ questions and answers

  async function refresh() {
    let own = net();
    const as = JSON.stringify(known());
    let drawing = all && partAs();
    doing.setAttribute("aria-pressed", String(own.doing));
    best.setAttribute("aria-pressed", String(own.best));
    const slow = setTimeout(() => { work.hidden = false; }, 250);
    try {
      if (!all || drawing !== drawnAs) {
        const found = await app.ask("network", "drawing", { ...part(), all: !all });
        if (!found) return;
        if (!all) {
          all = { ...found, numbers: new Set(found.numbers) };
          best.disabled = all.numbers.size > 0 || !all.states[0].length; // an explanation is of states
          kinds.append(...[...Object.entries(all.files), ["svg", "SVG"], ["png", "PNG"]]
            .map(([kind, name]) => el("option", { value: kind }, name ?? t("net_evidence"))));
          own = net();
          drawing = partAs();
        }
        drawnAs = drawing;
        arcsAs = null;
        picture.draw(found, all.names, all.states, all.numbers);
        if (own.focus !== null && !picture.nodes.has(picture.current)) picture.setCurrent(own.focus);
      }
      focus.setAttribute("aria-pressed", String(own.focus !== null));
      steps.hidden = own.focus === null;
      steps.value = own.steps;
      levels.hidden = own.focus !== null;
      levels.value = own.levels ?? "";
      if (as !== answeredAs) {
        const found = await app.ask("network", "posteriors", known());
        if (!found) return;
        if (found.impossible) app.notice(t("net_impossible"));
        else Object.assign(told, found);
        answeredAs = as; // the arcs keep what they carried until the new is there
      }
      pictured();
    } finally {
      clearTimeout(slow);
      work.hidden = true;
    }
    await further();
  }

  function pictured() {
    const own = net();
    picture.tell({ ...told, known: known(), chosen: own.chosen, best: own.best ? told.best?.states : null });
    replace(left, told.n_left ? t("net_arcs_left", { n: number(told.n_left) }) : []);
  }

  function shown() {
    pictured();
    panels();
  }

  // What follows the posteriors: arcs, the trail between two nodes, the explanation, what to observe next.
  async function further() {
    const own = net(), as = JSON.stringify([known(), part()]);
    const trailOf = ends(own);
    const beside = JSON.stringify([known(), trailOf, own.best]);
    if (beside !== besideAs) {
      besideAs = beside;
      const trail = trailOf ? await app.ask("network", "trail", { ...known(), start: trailOf[0], end: trailOf[1] }) : null;
      if (besideAs !== beside) return;
      told.trail = trail;
      shown();
      const explanation = own.best && !best.disabled ? await app.ask("network", "explanation", known()) : null;
      if (besideAs !== beside) return;
      told.best = explanation;
    }
    shown();
    if (as !== arcsAs && told.posteriors) {
      arcsAs = as;
      const found = await app.ask("network", "arcs", { ...known(), ...part() });
      if (!found || arcsAs !== as) return;
      Object.assign(told, { arcs: found.arcs, n_left: found.n_left });
      shown();
    }
    root.dataset.answered = as;
  }

  // The ends of the trail that is shown: two chosen nodes, or what was observed last and the chosen one.
  function ends(own) {
    if (own.chosen.length === 2) return own.chosen;
    const last = own.observed.map(([node]) => node).filter((node) => node !== own.chosen[0]).at(-1);
    return own.chosen.length && last !== undefined ? [last, own.chosen[0]] : null;
  }

  // ------------------------------------------------------------ the panels

  const nameOf = (node, most = 30) => label(all.names[node], most);
  const stateOf = (node, code) => (isNumber(node) ? number(code, 6) : label(all.states[node][code], 24));
  const dropper = (title, onclick) => el("button", { type: "button", class: "forget", "aria-label": title, title, onclick }, "×");

  function panels() {
    const own = net();
    const as = JSON.stringify([known(), own.chosen, told.trail, told.best?.probability, told.probability, own.best, own.focus]);
    if (as === panelAs || !all) return;
    panelAs = as;
    side.hidden = false;
    replace(panel.known, known_(own));
    if (!panel.chosen.contains(document.activeElement) || !document.activeElement.matches("input")) replace(panel.chosen, chosen_(own));
    const node = own.chosen.at(-1);
    panel.next.hidden ||= node === undefined;
    tableOf(node).then(() => whatNext(node));
  }

  function known_(own) {
    const line = (kind, node, words) => el("li", {}, el("span", { class: `tag ${kind}` }, t(`net_is_${kind}`)), " ", nameOf(node), words ? [" = ", words] : null,
      dropper(t("net_release", { name: shortened(all.names[node]) }), () => (kind === "edited" ? set({ edits: others(own.edits, node) }) : gestures.release(node))));
    const lines = [
      ...own.observed.map(([node, code]) => line("observed", node, stateOf(node, code))),
      ...own.does.map(([node, code]) => line("does", node, stateOf(node, code))),
      ...own.soft.map(([node]) => line("soft", node, null)),
      ...[...new Set(own.edits.map(([node]) => node))].map((node) => line("edited", node, null))];
    return [el("h2", {}, t("head_known")), lines.length ? el("ul", { class: "knowns" }, lines) : el("p", { class: "faint" }, t("net_nothing")),
      typeof told.probability === "number" && own.observed.length ? el("p", { class: "faint" }, t("net_probability", { p: shareWords(told.probability) })) : null,
      own.best && !best.disabled ? el("p", {}, t("net_best_told", { p: told.best ? shareWords(told.best.probability) : "…" })) : null,
      own.chosen.length || lines.length ? null : el("p", { class: "faint" }, t(all.numbers.size ? "net_how_numbers" : "net_how"))];
  }

  function chosen_(own) {
    const node = own.chosen.at(-1);
    if (node === undefined) return [el("h2", {}, t("net_chosen")), el("p", { class: "faint" }, t("net_choose_how"))];
    const p = told.posteriors?.[node];
    const held = Object.fromEntries([...own.observed, ...own.does].map(([other, code]) => [other, code]))[node];
    const soft = own.soft.find(([other]) => other === node)?.[1];
    if (isNumber(node)) return [el("h2", {}, t("net_chosen")), el("h3", {}, nameOf(node, 60)), trailWords(own), own.focus === node ? null : button("net_only_blanket", () => look(node)), valueOf(node, held, p)];
    const likelihoods = soft || all.states[node].map(() => 1);
    const rows = all.states[node].map((state, code) => el("tr", {},
      el("td", {}, el("button", { type: "button", "aria-pressed": String(held === code), onclick: () => gestures.hold(node, code, false) }, label(state, 22))),
      el("td", { class: "figure" }, p ? probability(p[code]) : "–"),
      el("td", {}, el("input", { type: "number", min: 0, max: 1, step: "any", class: "tiny", value: number(likelihoods[code], 3), "aria-label": t("net_likelihood_of", { state: shortened(state) }),
        onchange: (event) => { const value = Number(event.target.value); event.target.blur(); if (value >= 0 && value <= 1) likelihood(node, likelihoods.map((one, k) => (k === code ? value : one))); } })),
      el("td", {}, el("button", { type: "button", "aria-label": t("net_do", { state: shortened(state) }), onclick: () => gestures.hold(node, code, true) }, "do"))));
    return [el("h2", {}, t("net_chosen")), el("h3", {}, nameOf(node, 60)), trailWords(own),
      own.focus === node ? null : button("net_only_blanket", () => look(node)),
      rows.length ? el("div", { class: "scroll" }, el("table", { class: "states" }, el("thead", {}, el("tr", {}, [t("net_state"), t("column_probability"), t("net_likelihood"), ""].map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows))) : null];
  }

  // A number: what it is likely to be, and a box to observe or set it by.
  function valueOf(node, held, p) {
    const typed = (doing) => { const value = box.valueAsNumber; box.blur(); if (Number.isFinite(value)) gestures.hold(node, value, doing); else gestures.release(node); };
    const box = el("input", { type: "number", step: "any", class: "box", value: held ?? "", "aria-label": t("net_value_of", { name: shortened(all.names[node]) }), onchange: () => typed(net().doing) });
    return el("div", {}, p && held === undefined ? el("p", {}, t("net_moments", { mean: number(p.mean), sd: number(p.sd, 3) })) : null,
      el("p", { class: "line" }, el("label", {}, t("net_value"), " ", box), el("button", { type: "button", "aria-label": t("net_set_value", { name: shortened(all.names[node]) }), onpointerdown: (event) => event.preventDefault(), onclick: () => typed(true) }, "do")));
  }

  function trailWords(own) {
    const between = ends(own), { trail } = told;
    if (!between || !trail) return null;
    const names = { a: shortened(all.names[between[0]], 30), b: shortened(all.names[between[1]], 30) };
    const path = trail.nodes.map((node, i) => [i ? ` ${{ "->": "→", "<-": "←" }[trail.arrows[i - 1]]} ` : "", nameOf(node, 24)]);
    if (trail.open) return el("p", { class: "trail" }, t("net_open", names), " ", path);
    if (!trail.nodes.length) return el("p", { class: "trail" }, t("net_apart", names));
    return el("div", { class: "trail" }, el("p", {}, t("net_blocked", names), " ", path),
      el("ul", {}, trail.blocks.map(({ node, why }) => el("li", {}, t(`net_blocked_${why}`, { name: shortened(all.names[node], 30) })))));
  }

  // The last panel: what comes above it is there already.
  let nextAs = "";
  async function whatNext(target) {
    const as = JSON.stringify([known(), target]), place = panel.next;
    if (as === nextAs || target !== net().chosen.at(-1)) return;
    nextAs = as;
    place.hidden = target === undefined || all.numbers.size > 0 || !told.posteriors;
    if (place.hidden) return;
    const head = el("h2", {}, t("net_next"));
    const tell = async () => {
      if (place.firstChild?.textContent !== head.textContent) replace(place, head, el("p", { class: "faint" }, t("net_working")));
      const found = await app.ask("network", "next", { ...known(), target });
      if (!found || nextAs !== as) return;
      const lines = found.questions.filter((one) => one.bits > 1e-9).map(({ node, bits, worth }) => el("tr", {},
        el("th", { scope: "row" }, el("button", { type: "button", class: "plain", onclick: () => goTo(node) }, nameOf(node))),
        el("td", { class: "figure" }, number(bits, 3)), el("td", { class: "figure" }, number(worth < 1e-12 ? 0 : worth, 3))));
      replace(place, head, lines.length
        ? el("table", { class: "states" }, el("thead", {}, el("tr", {}, [t("net_node"), t("net_bits_head"), t("net_worth")].map((own, k) => el("th", { scope: "col", class: k ? "figure" : null }, own)))), el("tbody", {}, lines))
        : el("p", { class: "faint" }, t("net_nothing_next")),
      lines.length ? el("p", { class: "faint" }, t("net_next_how", { n: number(found.entropy, 3) })) : null);
    };
    if (all.names.length < MANY) await tell();
    else replace(place, button("net_next", tell));
  }

  // ------------------------------------------------------------ the table of a node

  let tableAs = "";
  async function tableOf(node, first = 0) {
    const as = JSON.stringify([node, first, net().edits]);
    if (as === tableAs) return;
    tableAs = as;
    panel.table.hidden = node === undefined || !(all.states[node].length || isNumber(node));
    if (panel.table.hidden) return;
    const found = await app.ask("network", "table", { ...known(), node, first });
    if (!found || tableAs !== as) return;
    const { edits } = net();
    const heads = [...found.parents.map((parent) => nameOf(parent, 16)), ...(isNumber(node) ? [nameOf(node, 24)] : all.states[node].map((state) => label(state, 12)))];
    const fixed = all.numbers.size > 0; // tables of such a network are to be read
    const rows = found.rows.map(({ row, given, p, ...law }) => el("tr", { class: edits.some(([other, own]) => other === node && own === row) ? "edited" : null },
      given.map((code, k) => el("th", { scope: "row" }, stateOf(found.parents[k], code))),
      isNumber(node) ? el("td", {}, lawOf(law)) : p.map((value, code) => el("td", {}, el("input", { type: "number", disabled: fixed, min: 0, max: 1, step: "any", class: "tiny", title: value, value: inCell(value),
        "aria-label": t("net_cell", { row: [...given.map((own, k) => `${shortened(all.names[found.parents[k]], 20)} = ${shortened(all.states[found.parents[k]][own], 20)}`), shortened(all.states[node][code], 20)].join(", ") }),
        onchange: (event) => changed(node, row, code, event.target) })))));
    const pages = found.n_rows > found.n_shown ? el("p", { class: "actions" },
      el("button", { type: "button", "aria-label": t("net_back"), disabled: first === 0, onclick: () => tableOf(node, Math.max(0, first - found.n_shown)) }, "‹"),
      ` ${number(first + 1)}–${number(Math.min(first + found.n_shown, found.n_rows))} / ${number(found.n_rows)} `,
      el("button", { type: "button", "aria-label": t("net_on"), disabled: first + found.n_shown >= found.n_rows, onclick: () => tableOf(node, first + found.n_shown) }, "›")) : null;
    const at = panel.table.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
    replace(panel.table, el("h2", {}, t(isNumber(node) ? "net_law" : "net_table")),
      isNumber(node) ? null : el("p", {}, "P(", nameOf(node, 40), found.parents.length ? [" | ", found.parents.map((parent, k) => [k ? ", " : "", nameOf(parent, 24)])] : null, ")"),
      el("div", { class: "scroll tall" }, el("table", { class: "states" }, el("thead", {}, el("tr", {}, heads.map((head) => el("th", { scope: "col" }, head)))), el("tbody", {}, rows))),
      pages, fixed ? null : el("p", { class: "faint" }, t("net_table_how")));
    if (at) [...panel.table.querySelectorAll("input")].find((own) => own.getAttribute("aria-label") === at)?.focus(); // who types goes on
  }

  // The regression of a number: what its parents add to it, and how far it strays.
  const inCell = (p) => (p > 0 && p < 0.001 ? p.toExponential(1) : Number(p.toFixed(4)));
  const lawOf = ({ intercept, slopes, sd }) => [number(intercept), ...slopes.map(([parent, slope]) => [slope < 0 ? " − " : " + ", number(Math.abs(slope)), " · ", nameOf(parent, 20)]), ` ± ${number(sd, 3)}`];

  async function changed(node, row, code, input) {
    const value = Number(input.value);
    const found = input.value !== "" && value >= 0 && value <= 1 ? await app.ask("network", "changed_row", { ...known(), node, row, state: code, value }) : null;
    if (found) set({ edits: [...net().edits.filter(([other, own]) => other !== node || own !== row), [node, row, found.row]] });
    else {
      app.notice(t("net_no_share"));
      tableAs = "";
      tableOf(node);
    }
  }

  return refresh;
}
