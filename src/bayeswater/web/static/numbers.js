// Numbers as people read them. Nothing is worked out here: what is shown comes from the library.

export function probability(p) {
  const distance = Math.min(p, 1 - p);
  if (distance === 0) return p.toFixed(2);
  if (distance < 1e-6) return p > 0.5 ? "> 0.999999" : "< 0.000001";
  return p.toFixed(distance >= 0.01 ? 2 : Math.ceil(-Math.log10(distance)));
}

export function number(x, digits = 4) {
  if (x === null || x === undefined) return "–";
  if (typeof x === "string") return x.replace("inf", "∞");
  if (Number.isInteger(x) && Math.abs(x) < 1e15) return x.toLocaleString("en-US");
  const size = Math.abs(x);
  if (size !== 0 && (size < 1e-4 || size >= 1e15)) return x.toExponential(2);
  return Number(x.toPrecision(digits)).toLocaleString("en-US", { maximumSignificantDigits: digits });
}

// The same where nobody needs to know how little it is.
export const rounded = (x, digits = 3) => (x > 0 && x < 1e-4 ? "< 0.0001" : number(x, digits));

export const percent = (x, digits = 0) => (x === null || x === undefined ? "–" : `${(100 * x).toFixed(digits)} %`);

export function signed(x) {
  if (typeof x === "string") return x === "inf" ? "+∞" : "−∞";
  const size = Math.abs(x).toFixed(2);
  return size === "0.00" ? size : (x < 0 ? "−" : "+") + size;
}
