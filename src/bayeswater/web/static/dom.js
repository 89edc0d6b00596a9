// Elements of the page. Whatever comes from a model is put in as text, never as markup.

export const NAMESPACE = "http://www.w3.org/2000/svg";

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (name === "style") for (const [property, own] of Object.entries(value)) node.style.setProperty(property, own);
    else if (name === "value") node.value = value;
    else node.setAttribute(name, value === true ? "" : value);
  }
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined || child === false) continue;
    node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

export const el = (tag, attributes, ...children) => filled(document.createElement(tag), attributes, children);
export const svg = (tag, attributes, ...children) =>
  filled(document.createElementNS(NAMESPACE, tag), attributes, children);

// A name or a state: kept apart from the direction of the text around it, cut where it is too long, whole on hover.
// Letters that nobody could see have a picture, and so have names of nothing and of blanks alone.
export const LONGEST = 60, NOTHING = "∅", BLANK = "␣";
export const shortened = (text, most = LONGEST) => {
  const letters = [...String(text).slice(0, 2 * most + 2)].map((one) => (one < " " ? String.fromCharCode(0x2400 + one.charCodeAt()) : one));
  return letters.length <= most ? letters.join("") : letters.slice(0, most - 1).join("") + "…";
};
export const seen = (text, most) => { const own = shortened(text, most); return own.trim() ? own : BLANK.repeat(own.length) || NOTHING; };
export const label = (text, most = LONGEST) => el("bdi", { class: "name", title: shortened(text, 500) }, seen(text, most));
// The same for a text of a drawing, which has no such element: the letters that hold a direction together do it.
export const drawn = (text, most = 24) => "⁨" + seen(text, most) + "⁩";

// A word of the field, with one line on what it means.
export const term = (t, name, text) => el("span", { class: "term", title: t(`term_${name}`) }, text);

// Sets what is another than before: the browser works out again whatever was set.
export const put = (node, name, value) => { if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value); };
export const putText = (node, text) => { if (node.textContent !== text) node.textContent = text; };

export function replace(root, ...children) {
  root.replaceChildren(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return root;
}
