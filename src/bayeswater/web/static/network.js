// A network: its drawing, evidence and what follows from it.

import { el, replace } from "./dom.js";

export function mount(root, app) {
  replace(root, el("p", {}, app.subject.name));
  return () => {};
}
