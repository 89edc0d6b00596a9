// Pictures that several views draw: axes, lines, bars by class.

import { drawn, el, label, shortened, svg } from "./dom.js";
import { number, signed } from "./numbers.js";

// About how wide a text is drawn: letters of Chinese, Japanese and Korean are as wide as they are high.
export const lettersWide = (text, size) => [...String(text)].reduce((sum, letter) => sum + size * (letter > "\u2e80" ? 1 : 0.56), 0);

export const colour = (code) => `c${code % 7}`;

export const scale = (low, high, from, to) => {
  const span = high - low || 1;
  return (x) => from + ((x - low) / span) * (to - from);
};

function ticks(low, high, most) {
  const rough = (high - low) / most || 1;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((k) => k * power).find((own) => own >= rough);
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) found.push(Math.abs(x) < step / 1e6 ? 0 : x);
  return found;
}

// A picture of lines. `lines`: [{x, y, class, label, dots}], `frame`: {x: [low, high], y: [low, high], xLabel, yLabel}.
export function chart(lines, frame, { width = 300, height = 210, title } = {}) {
  const heights = ticks(...frame.y, 4);
  const left = 23 + Math.max(21, ...heights.map((at) => lettersWide(number(at, 3), 10.5))), right = 10, top = 10, bottom = 36;
  const x = scale(...frame.x, left, width - right), y = scale(...frame.y, height - bottom, top);
  const parts = [];
  for (const at of ticks(...frame.x, 5)) {
    parts.push(svg("line", { class: "grid", x1: x(at), x2: x(at), y1: top, y2: height - bottom }));
    parts.push(svg("text", { class: "tick", x: x(at), y: height - bottom + 13, "text-anchor": "middle" }, number(at, 3)));
  }
  for (const at of heights) {
    parts.push(svg("line", { class: "grid", x1: left, x2: width - right, y1: y(at), y2: y(at) }));
    parts.push(svg("text", { class: "tick", x: left - 5, y: y(at) + 4, "text-anchor": "end" }, number(at, 3)));
  }
  parts.push(svg("text", { class: "axis", x: (left + width - right) / 2, y: height - 5, "text-anchor": "middle" }, frame.xLabel));
  parts.push(svg("text", { class: "axis", x: 11, y: (top + height - bottom) / 2, "text-anchor": "middle",
    transform: `rotate(-90 11 ${(top + height - bottom) / 2})` }, frame.yLabel));
  for (const own of lines) {
    const places = own.x.map((at, i) => [x(at), y(own.y[i])]).filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
    if (own.dots) {
      places.forEach(([a, b], i) => parts.push(svg("circle", { class: `dot ${own.class}`, cx: a, cy: b, r: own.dots[i] },
        own.titles ? svg("title", {}, own.titles[i]) : null)));
    } else {
      parts.push(svg("polyline", { class: `line ${own.class}`, points: places.map((place) => place.join(",")).join(" ") },
        own.label ? svg("title", {}, own.label) : null));
    }
  }
  for (const mark of frame.marks || []) {
    parts.push(svg("line", { class: "mark", x1: x(mark.x), x2: x(mark.x), y1: top, y2: height - bottom }, svg("title", {}, mark.label)));
  }
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "chart", role: "img", "aria-label": title || frame.yLabel }, parts);
}

// What a column looks like in each class. `mark` is where the row stands in it, if that is known, and how it is written.
export function picture(own, classes, { width = 240, height = 110, mark = null, most = 8, title } = {}) {
  const root = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "picture", role: "img", "aria-label": title });
  if (own.kind === "words") return words(root, own, classes, width, height, most);
  if (own.kind === "density" || own.kind === "counts") return curves(root, own, width, height, mark);
  return bars(root, own, width, height, mark, most);
}

function curves(root, own, width, height, mark) {
  const bottom = height - 16;
  const at = own.is_log ? own.at.map((place) => Math.log(Math.max(place, 1e-300))) : own.at;
  const x = scale(at[0], at.at(-1), 4, width - 4);
  const top = Math.max(...own.values.flat().filter(Number.isFinite), 1e-300);
  const y = scale(0, top, bottom, 6);
  own.values.forEach((line, code) => {
    const places = line.map((value, i) => `${x(at[i])},${y(Math.min(value === "inf" ? top : value, top))}`);
    root.append(svg("polygon", { class: `area ${colour(code)}`, points: [`${x(at[0])},${bottom}`, ...places, `${x(at.at(-1))},${bottom}`].join(" ") }));
    root.append(svg("polyline", { class: `line ${colour(code)}`, points: places.join(" ") }));
  });
  root.append(svg("line", { class: "base", x1: 4, x2: width - 4, y1: bottom, y2: bottom }));
  const ends = own.ends ?? [own.at[0], own.at.at(-1)].map((end) => number(end, 3));
  let free = [0, 0]; // what the mark is written over: an end that would be there gives way
  if (typeof mark?.at === "number") {
    const place = x(own.is_log ? Math.log(Math.max(mark.at, 1e-300)) : mark.at), half = lettersWide(mark.text, 11.5) / 2 + 3;
    const middle = Math.min(Math.max(place, half), width - half);
    free = [middle - half, middle + half];
    root.append(svg("line", { class: "mark", x1: place, x2: place, y1: 4, y2: bottom }));
    root.append(svg("text", { class: "tick marked", x: middle, y: height - 4, "text-anchor": "middle" }, mark.text));
  }
  if (!mark || 4 + lettersWide(ends[0], 10.5) < free[0]) root.append(svg("text", { class: "tick", x: 4, y: height - 4 }, ends[0]));
  if (!mark || width - 4 - lettersWide(ends[1], 10.5) > free[1]) root.append(svg("text", { class: "tick", x: width - 4, y: height - 4, "text-anchor": "end" }, ends[1]));
  return root;
}

function bars(root, own, width, height, mark, most) {
  const n = Math.min(own.at.length, most);
  const isBins = own.kind === "bins", size = isBins ? 9 : 10.5;
  const marked = !mark ? -1 : typeof mark.at === "number" && own.edges ? binOf(own.edges, mark.at) : own.at.indexOf(mark.at);
  const places = [...Array(n).keys()];
  if (marked >= n) places[n - 1] = marked; // the one that the row stands at is among those shown
  const days = own.at.map((text) => text.replaceAll(/ \d\d:\d\d/g, "")); // of times that are days apart
  const texts = isBins && new Set(days).size === days.length ? days : own.at;
  const names = places.map((k) => shortened(texts[k], isBins ? 26 : 18));
  const start = Math.min(Math.max(...names.map((name) => lettersWide(name, size)), 30) + 16, width * 0.62);
  const line = Math.max(own.values.length * 4 + 4, (height - 4) / Math.max(n, 4));
  root.setAttribute("viewBox", `0 0 ${width} ${Math.max(height, line * n + (own.at.length > n ? 16 : 4))}`);
  const top = Math.max(...own.values.flat(), 1e-9);
  const x = scale(0, top, start, width - 8 - Math.max(26, ...(own.totals ?? []).map((n) => lettersWide(number(n, 3), 10.5))));
  places.forEach((k, i) => {
    const y = 2 + i * line, thick = (line - 4) / own.values.length;
    root.append(svg("text", { class: `tick${isBins ? " small" : ""}${k === marked ? " marked" : ""}`, x: start - 5, y: y + line / 2 + 3, "text-anchor": "end" }, drawn(names[i], 30)));
    own.values.forEach((value, code) => {
      const count = own.counts ? ` (${number(own.counts[code][k])})` : "";
      root.append(svg("rect", { class: `fill ${colour(code)}`, x: start, y: y + 1 + code * thick, width: Math.max(0.5, x(value[k]) - start), height: Math.max(1, thick - 1) },
        svg("title", {}, `${drawn(own.at[k], 80)}: ${number(value[k], 3)}${count}`)));
    });
    if (own.totals) root.append(svg("text", { class: "tick", x: width - 2, y: y + line / 2 + 3, "text-anchor": "end" }, number(own.totals[k], 3)));
    if (k === marked) root.append(svg("rect", { class: "frame", x: 1, y, width: width - 2, height: line - 1 }));
  });
  if (own.at.length > n) root.append(svg("text", { class: "tick", x: start - 5, y: n * line + 13, "text-anchor": "end" }, `+ ${own.at.length - n}`));
  return root;
}

const binOf = (edges, x) => {
  for (let i = 1; i < edges.length - 1; i++) if (x < edges[i]) return i - 1;
  return edges.length - 2;
};

function words(root, own, classes, width, height, most) {
  const each = Math.min(Math.max(3, Math.ceil(most / classes.length) + 2), Math.max(...own.best.map((list) => list.length), 3));
  const line = 15, n = Math.min(classes.length, 3), wide = width / n;
  const top = Math.max(...own.best.flat().map((one) => one.weight), 1e-9);
  root.setAttribute("viewBox", `0 0 ${width} ${16 + line * each}`);
  classes.slice(0, n).forEach((name, code) => {
    root.append(svg("text", { class: `tick strong ${colour(code)} ink`, x: 4 + code * wide, y: 11 }, drawn(name, 14)));
    own.best[code].slice(0, each).forEach((one, i) => {
      root.append(svg("rect", { class: `fill ${colour(code)} faint`, x: 4 + code * wide, y: 16 + i * line, width: Math.max(1, (one.weight / top) * (wide - 10)), height: line - 3 }));
      root.append(svg("text", { class: "tick", x: 7 + code * wide, y: 26 + i * line }, drawn(one.word, 14),
        svg("title", {}, `${drawn(one.word, 80)} ${signed(one.weight)} (${number(one.count)})`)));
    });
  });
  return root;
}

// A legend of classes.
export const legend = (classes) =>
  el("ul", { class: "legend" }, classes.map((name, code) => el("li", {}, el("span", { class: `swatch ${colour(code)}` }), label(name, 24))));
