// The drawing of a network: cards with bars, arcs, zoom and pan, and the gestures on them. It works nothing out: places,
// probabilities and information come from the library.

import { drawn, put, putText, shortened, svg } from "./dom.js";
import { number, percent, probability } from "./numbers.js";

const TITLE = 22, LINE = 15, NEAREST = 2.5, FARTHEST = 0.02;
const READABLE = 0.42; // scale from which bars are drawn
const OVERVIEW = 0.12; // scale from which a whole drawing can be made out, where all its bars are drawn
const FEW = 60; // nodes up to which they are
const DRAGGED = 5; // pixels from which a press is no click

export class Picture {
  constructor(t, gestures) {
    this.t = t;
    this.gestures = gestures;
    this.arcs = svg("g", { class: "arcs" });
    this.cards = svg("g", { class: "cards" });
    this.root = svg("svg", { class: "network", role: "group", "aria-label": t("net_picture") }, this.arcs, this.cards);
    this.view = { x: 0, y: 0, scale: 1 };
    this.nodes = new Map();
    this.pointers = new Map();
    this.told = null;
    this.root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    for (const kind of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) {
      this.root.addEventListener(kind, (event) => this[kind](event));
    }
    this.root.addEventListener("keydown", (event) => this.keydown(event));
    this.root.addEventListener("focusin", (event) => this.focused(event));
    new ResizeObserver(() => { this.measured = null; this.look(); }).observe(this.root);
  }

  // ------------------------------------------------------------ what is drawn

  draw(drawing, names, states, numbers) {
    Object.assign(this, { drawing, names, states, numbers });
    const folds = new Map(drawing.folds), before = this.nodes.get(this.anchor)?.place;
    this.nodes.clear();
    this.edges = drawing.edges.map((edge) => {
      const line = svg("path", { class: "arc", d: edge.line }, svg("title", {}));
      const head = svg("path", { class: "head", d: edge.head });
      return { ...edge, line, head };
    });
    this.arcs.replaceChildren(...this.edges.flatMap((edge) => [edge.line, edge.head]));
    for (const place of drawing.nodes) {
      const name = names[place.node];
      const card = svg("g", { class: "node", role: "group", tabindex: "-1", "data-node": place.node, transform: `translate(${place.x} ${place.y})` },
        svg("title", {}, shortened(name, 500)),
        svg("rect", { class: "card-edge", width: place.width, height: place.height, rx: 5 }),
        svg("text", { class: "node-name", x: place.width / 2, y: 16, "text-anchor": "middle" }, drawn(name)));
      this.nodes.set(place.node, { place, card, lines: null, fold: this.foldOf(place, folds.get(place.node)) });
    }
    this.cards.replaceChildren(...[...this.nodes.values()].map((own) => own.card), ...[...this.nodes.values()].map((own) => own.fold).filter(Boolean));
    this.current = this.nodes.has(this.current) ? this.current : drawing.nodes[0]?.node;
    this.told = null;
    const after = this.nodes.get(this.anchor)?.place, { view } = this;
    this.anchor = null;
    this.fit();
    if (before && after) this.nodes.get(this.current).fold?.focus({ preventScroll: true });
    if (before && after && this.view.scale < Math.min(1, view.scale)) { // what was unfolded stays under the pointer
      this.view = { ...view, x: view.x + after.x - before.x, y: view.y + after.y - before.y };
      return this.look();
    }
    if (this.view.scale < (this.nodes.size > FEW ? READABLE : OVERVIEW)) this.show(this.current); // nobody could read it
  }

  // The handle of a card: + and how many more it would show, or − to fold them away.
  foldOf({ node, x, y, width, height }, n) {
    if (n === undefined) return null;
    const text = n ? `+${n}` : "−", wide = 12 + 7 * (text.length - 1);
    const words = this.t(n ? "net_unfold" : "net_fold", { n, name: shortened(this.names[node]) });
    return svg("g", { class: "fold", role: "button", tabindex: "-1", "aria-label": words, "aria-expanded": String(!n), "data-node": node, transform: `translate(${x + width / 2} ${y + height})` },
      svg("title", {}, words), svg("rect", { x: -wide / 2 - 2, y: -8, width: wide + 4, height: 16, rx: 8 }), svg("text", { y: 4, "text-anchor": "middle" }, text));
  }

  toggle(node) {
    this.anchor = node;
    this.setCurrent(node);
    this.gestures.fold(node);
  }

  // `told`: {posteriors, shown, known, best, chosen, target}; `arcs`: [[parent, child, bits]]; `trail`: nodes in their order.
  tell(told) {
    this.told = told;
    for (const [node, own] of this.nodes) this.tellNode(node, own);
    const cut = new Set(told.known.does.map(([node]) => node));
    const bits = new Map((told.arcs || []).map(([parent, child, own]) => [`${parent} ${child}`, own]));
    const steps = new Set();
    (told.trail?.nodes || []).forEach((node, i, all) => i && steps.add(`${all[i - 1]} ${node}`).add(`${node} ${all[i - 1]}`));
    for (const edge of this.edges) {
      const key = `${edge.parent} ${edge.child}`, own = bits.get(key), isCut = cut.has(edge.child);
      const onTrail = steps.has(key) && !isCut;
      const kind = isCut ? " cut" : own === undefined || own === null ? "" : own < 1e-9 ? " closed" : "";
      put(edge.line, "class", `arc${kind}${onTrail ? (told.trail.open ? " open" : " blocked") : ""}`);
      put(edge.head, "class", `head${kind}${onTrail ? (told.trail.open ? " open" : " blocked") : ""}`);
      put(edge.line, "stroke-width", Math.max(onTrail ? 2.6 : 1, 1 + 6 * Math.min(1, Math.sqrt(isCut ? 0 : own || 0))).toFixed(2));
      const words = isCut ? this.t("net_cut") : own === undefined || own === null ? "" : this.t("net_bits", { n: number(own, 3) });
      putText(edge.line.firstChild, `${shortened(this.names[edge.parent])} → ${shortened(this.names[edge.child])}${words ? ": " + words : ""}`);
    }
    this.look();
  }

  kindOf(node) {
    const { observed, does, soft } = this.told.known;
    if (does.some(([own]) => own === node)) return "does";
    if (observed.some(([own]) => own === node)) return "observed";
    return soft.some(([own]) => own === node) ? "soft" : "";
  }

  tellNode(node, own) {
    const { told, t } = this, kind = this.kindOf(node);
    const place = told.chosen.indexOf(node);
    const block = told.trail && !told.trail.open && told.trail.blocks.some((one) => one.node === node);
    const edited = told.known.edits.some(([other]) => other === node);
    put(own.card, "class", ["node", kind, place >= 0 ? "chosen" : "", block ? "barrier" : "", edited ? "edited" : "", told.trail?.nodes.includes(node) ? "on-trail" : ""].join(" "));
    for (const one of [own.card, own.fold]) if (one) put(one, "tabindex", node === this.current ? "0" : "-1");
    put(own.card, "aria-label", [shortened(this.names[node]), kind && t(`net_is_${kind}`)].filter(Boolean).join(", "));
    if (own.lines) this.fillNode(node, own);
  }

  // Draws the states of a card, or takes them away where they could not be read.
  fillNode(node, own) {
    if (this.numbers.has(node)) return this.fillNumber(node, own);
    const p = this.told?.posteriors?.[node];
    const shown = p ? this.told.shown[node] : [];
    const as = shown.join(" ");
    if (!own.lines || own.as !== as) {
      own.lines?.group.remove();
      own.as = as;
      const { width, start, room } = own.place;
      const group = svg("g", {});
      const lines = shown.map((code, k) => {
        const y = TITLE + LINE * k;
        const bar = svg("rect", { class: "node-bar", x: start, y: y + 2, height: 9, width: 0 });
        const figure = svg("text", { class: "node-p", x: width - 8, y: y + 10, "text-anchor": "end" });
        const line = svg("g", { class: "state", role: "slider", tabindex: "-1", "aria-valuemin": 0, "aria-valuemax": 1, "data-node": node, "data-code": code },
          svg("title", {}), svg("rect", { class: "hit", x: 2, y, width: width - 4, height: LINE }),
          svg("text", { class: "node-state", x: 8, y: y + 10 }, drawn(this.states[node][code], 14)),
          svg("text", { class: "best-mark", x: width - 0.5, y: y + 9.5, "text-anchor": "end" }, "◆"),
          svg("rect", { class: "node-track", x: start, y: y + 2, height: 9, width: room }), bar, figure);
        group.append(line);
        return { code, line, bar, figure, label: `${shortened(this.names[node])} = ${shortened(this.states[node][code])}` };
      });
      const more = this.states[node].length - shown.length;
      if (p && more) group.append(svg("text", { class: "node-more", x: 8, y: TITLE + LINE * shown.length + 10 }, this.t("net_more", { n: more })));
      own.lines = { group, lines };
      own.card.append(group);
    }
    const codes = Object.fromEntries([...this.told.known.observed, ...this.told.known.does]);
    for (const { code, line, bar, figure, label } of own.lines.lines) {
      const best = this.told.best?.[node] === code;
      put(bar, "width", (own.place.room * p[code]).toFixed(2));
      putText(figure, (100 * p[code]).toFixed(1));
      put(line, "class", `state${codes[node] === code ? " held" : ""}${best ? " best-state" : ""}`);
      put(line, "aria-label", [label, codes[node] === code ? this.t(`net_is_${this.kindOf(node)}`) : "", best ? this.t("net_is_best") : ""].filter(Boolean).join(", "));
      put(line, "aria-valuenow", p[code]);
      put(line, "aria-valuetext", probability(p[code]));
      put(line, "tabindex", node === this.current ? "0" : "-1");
      putText(line.firstChild, `${label}: ${probability(p[code])}`);
    }
  }

  // A number: its mean and deviation, and its density over where it may lie.
  fillNumber(node, own) {
    const { width } = own.place, base = TITLE + 3 * LINE - 5, { mean, sd, low, high, curve } = this.told.posteriors[node];
    if (!own.lines) {
      const parts = { words: svg("text", { class: "node-p", x: width / 2, y: TITLE + 10, "text-anchor": "middle" }), curve: svg("path", { class: "node-curve" }) };
      const group = svg("g", { role: "img" }, parts.words, svg("line", { class: "node-base", x1: 8, x2: width - 8, y1: base, y2: base }), parts.curve);
      own.lines = { group, lines: [], ...parts };
      own.card.append(group);
    }
    const words = sd ? `${number(mean)} ± ${number(sd, 3)}` : number(mean, 6);
    putText(own.lines.words, words);
    put(own.lines.group, "aria-label", `${shortened(this.names[node])}: ${words}`);
    const top = Math.max(...(curve || [1])), x = (share) => (8 + (width - 16) * share).toFixed(1), y = (density) => (base - (2 * LINE - 8) * density / top).toFixed(1);
    const at = x(high > low ? (mean - low) / (high - low) : 0.5);
    put(own.lines.curve, "d", curve ? `M8,${base}${curve.map((density, k) => `L${x(k / (curve.length - 1))},${y(density)}`).join("")}L${width - 8},${base}Z` : `M${at - 1},${base}V${y(1)}h2V${base}Z`);
  }

  // ------------------------------------------------------------ what is seen of it

  get size() { // asked once: whoever asks makes the browser lay out whatever has changed
    return (this.measured ??= { width: this.root.clientWidth || 800, height: this.root.clientHeight || 500 });
  }

  fit() {
    const { width, height } = this.size, { drawing } = this;
    const scale = Math.max(FARTHEST, Math.min(1.5, width / drawing.width, height / drawing.height));
    this.view = { scale, x: (drawing.width - width / scale) / 2, y: Math.min(0, (drawing.height - height / scale) / 2) };
    this.look();
  }

  zoom(factor, at) {
    const { width, height } = this.size, { view } = this;
    const scale = Math.max(FARTHEST, Math.min(NEAREST, view.scale * factor));
    const [px, py] = at || [width / 2, height / 2];
    this.view = { scale, x: view.x + px / view.scale - px / scale, y: view.y + py / view.scale - py / scale };
    this.look();
  }

  // Brings a node into the middle, near enough to be read.
  show(node, focus = false, least = 0.75) {
    const own = this.nodes.get(node);
    if (!own) return;
    const { width, height } = this.size, { place } = own;
    const scale = Math.max(this.view.scale, least);
    const middle = (at, long, shown, all) => { // of it, but no emptier than the drawing is
      const edge = 20, from = at + (long - shown) / 2;
      return shown >= all + 2 * edge ? (all - shown) / 2 : Math.min(Math.max(from, -edge), all + edge - shown);
    };
    this.view = { scale, x: middle(place.x, place.width, width / scale, this.drawing.width), y: middle(place.y, place.height, height / scale, this.drawing.height) };
    this.setCurrent(node);
    this.look();
    if (focus) own.card.focus({ preventScroll: true });
  }

  isSeen({ place }) {
    const { x, y, scale } = this.view, { width, height } = this.size;
    return place.x + place.width > x && place.x < x + width / scale && place.y + place.height > y && place.y < y + height / scale;
  }

  look() {
    if (!this.drawing) return;
    const { x, y, scale } = this.view, { width, height } = this.size;
    put(this.root, "viewBox", `${x.toFixed(2)} ${y.toFixed(2)} ${(width / scale).toFixed(2)} ${(height / scale).toFixed(2)}`);
    this.root.classList.toggle("far", scale < 0.16);
    cancelAnimationFrame(this.waiting);
    this.waiting = requestAnimationFrame(() => {
      if (!this.told) return;
      const all = this.nodes.size <= FEW;
      for (const [node, own] of this.nodes) {
        const wanted = this.told.posteriors && (all || (scale >= READABLE && this.isSeen(own)));
        if (wanted && !own.lines) this.fillNode(node, own);
        else if (!wanted && own.lines) {
          own.lines.group.remove();
          own.lines = null;
        }
      }
    });
  }

  wheel(event) {
    event.preventDefault();
    const box = this.root.getBoundingClientRect();
    this.zoom(Math.exp(-event.deltaY * 0.0015), [event.clientX - box.left, event.clientY - box.top]);
  }

  // ------------------------------------------------------------ press, drag, release

  pointerdown(event) {
    if (event.button) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const state = event.target.closest(".state"), card = event.target.closest(".node"), fold = event.target.closest(".fold");
    this.press = { x: event.clientX, y: event.clientY, state, card, fold, moved: false, view: { ...this.view } };
    if (state && event.target.closest(".node-bar, .node-track")) this.press.bar = state;
  }

  pointermove(event) {
    if (!this.pointers.has(event.pointerId) || !this.press) return;
    if (this.pointers.size === 2) return this.pinch(event);
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const dx = event.clientX - this.press.x, dy = event.clientY - this.press.y;
    if (!this.press.moved && Math.hypot(dx, dy) < DRAGGED) return;
    if (!this.press.moved) this.root.setPointerCapture(event.pointerId);
    this.press.moved = true;
    if (this.press.bar) {
      const share = this.shareAt(this.press.bar, event.clientX);
      const place = this.nodes.get(Number(this.press.bar.dataset.node)).place;
      const bar = this.press.bar.querySelector(".node-bar"), figure = this.press.bar.querySelector(".node-p");
      bar.setAttribute("width", (place.room * share).toFixed(2));
      figure.textContent = (100 * share).toFixed(1);
      this.press.bar.classList.add("dragged");
      return;
    }
    this.view = { ...this.view, x: this.press.view.x - dx / this.view.scale, y: this.press.view.y - dy / this.view.scale };
    this.root.classList.add("panning");
    this.look();
  }

  // Where on a bar the pointer is, from 0 to 1.
  shareAt(state, clientX) {
    const box = state.querySelector(".node-track").getBoundingClientRect();
    return Math.max(0, Math.min(1, Math.round(100 * (clientX - box.left) / box.width) / 100));
  }

  pinch(event) {
    const before = [...this.pointers.values()];
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    const after = [...this.pointers.values()];
    const apart = ([a, b]) => Math.hypot(a[0] - b[0], a[1] - b[1]) || 1;
    const box = this.root.getBoundingClientRect();
    this.press.moved = true;
    this.press.bar = null;
    this.zoom(apart(after) / apart(before), [(after[0][0] + after[1][0]) / 2 - box.left, (after[0][1] + after[1][1]) / 2 - box.top]);
    this.press.view = { ...this.view };
  }

  pointerup(event) {
    this.pointers.delete(event.pointerId);
    this.root.classList.remove("panning");
    const { press } = this;
    this.press = null;
    if (!press) return;
    press.bar?.classList.remove("dragged");
    if (press.moved) {
      if (press.bar) this.gestures.soften(...this.stateOf(press.bar), this.shareAt(press.bar, event.clientX));
    } else if (press.fold) this.toggle(Number(press.fold.dataset.node));
    else if (press.state) {
      this.setCurrent(Number(press.state.dataset.node));
      this.gestures.hold(...this.stateOf(press.state), event.altKey || event.ctrlKey || event.metaKey);
    } else if (press.card) {
      this.setCurrent(Number(press.card.dataset.node));
      this.gestures.choose(Number(press.card.dataset.node));
    }
  }

  pointercancel(event) {
    this.pointers.delete(event.pointerId);
    this.press = null;
    this.root.classList.remove("panning");
  }

  // ------------------------------------------------------------ keys

  stateOf(line) {
    return [Number(line.dataset.node), Number(line.dataset.code)];
  }

  setCurrent(node) {
    const before = this.nodes.get(this.current);
    this.current = node;
    for (const own of [before, this.nodes.get(node)]) {
      if (!own) continue;
      const at = own === this.nodes.get(node) ? "0" : "-1";
      own.card.setAttribute("tabindex", at);
      own.fold?.setAttribute("tabindex", at);
      own.lines?.lines.forEach(({ line }) => line.setAttribute("tabindex", at));
    }
  }

  focused(event) {
    const card = event.target.closest(".node, .fold");
    if (card) this.setCurrent(Number(card.dataset.node));
  }

  keydown(event) {
    const state = event.target.closest(".state"), card = event.target.closest(".node, .fold");
    if (!card || event.ctrlKey || event.metaKey) return;
    const done = state ? this.keyOnState(event, state) : this.keyOnNode(event, Number(card.dataset.node));
    if (done) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  keyOnState(event, line) {
    const [node, code] = this.stateOf(line), p = this.told.posteriors[node][code];
    const beside = { ArrowUp: line.previousElementSibling, ArrowDown: line.nextElementSibling }[event.key];
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      (beside?.matches(".state") ? beside : this.nodes.get(node).card).focus();
    } else if (event.key === "ArrowLeft" || event.key === "ArrowRight") {
      const share = Math.round(20 * p + (event.key === "ArrowRight" ? 1 : -1)) / 20;
      this.gestures.soften(node, code, Math.max(0, Math.min(1, share)));
    } else if (event.key === "Enter" || event.key === " ") this.gestures.hold(node, code, event.altKey);
    else if (event.key === "d") this.gestures.hold(node, code, true);
    else if (event.key === "Escape") this.gestures.release(node);
    else return false;
    return true;
  }

  keyOnNode(event, node) {
    const { fold } = this.nodes.get(node);
    if (fold && (event.key === "f" || (event.target === fold && (event.key === "Enter" || event.key === " ")))) this.toggle(node);
    else if (event.key === "Enter" || event.key === " ") this.gestures.choose(node);
    else if (event.key === "Escape") this.gestures.release(node);
    else if (event.key === "+" || event.key === "=") this.zoom(1.25);
    else if (event.key === "-") this.zoom(0.8);
    else if (event.key === "0") this.fit();
    else if (event.key.startsWith("Arrow")) {
      const next = this.beside(node, event.key);
      if (next === undefined) return true;
      if (this.isSeen(this.nodes.get(next)) && this.view.scale >= READABLE) {
        this.setCurrent(next);
        this.nodes.get(next).card.focus({ preventScroll: true });
      } else this.show(next, true);
    } else return false;
    return true;
  }

  // The nearest node in a direction.
  beside(node, key) {
    const middle = ({ place }) => [place.x + place.width / 2, place.y + place.height / 2];
    const [x, y] = middle(this.nodes.get(node));
    let best, least = Infinity;
    for (const [other, own] of this.nodes) {
      const [a, b] = middle(own), dx = a - x, dy = b - y;
      const [along, aside] = { ArrowRight: [dx, dy], ArrowLeft: [-dx, dy], ArrowDown: [dy, dx], ArrowUp: [-dy, dx] }[key];
      const far = along + 2.5 * Math.abs(aside);
      if (other !== node && along > 1 && far < least) [best, least] = [other, far];
    }
    return best;
  }
}

// A picture in pixels of one in lines: drawn by the browser, as the file looks.
export async function pixels(blob) {
  const image = new Image();
  const address = URL.createObjectURL(blob);
  try {
    image.src = address;
    await image.decode();
    const factor = Math.min(2, 8000 / Math.max(image.naturalWidth, image.naturalHeight));
    const canvas = document.createElement("canvas");
    canvas.width = Math.round(image.naturalWidth * factor);
    canvas.height = Math.round(image.naturalHeight * factor);
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    return await new Promise((found) => canvas.toBlob(found, "image/png"));
  } finally {
    URL.revokeObjectURL(address);
  }
}

export const shareWords = (p) => (p >= 0.001 ? percent(p, 1) : number(p, 3));
