// Questions to the server of this page. Of one kind, one is under way at a time: of those that come meanwhile, as while a
// slider is dragged, the last one is asked next. So bars move along, and nothing is worked out that nobody looks at.

let key = null;
let slow;
const waiting = new Map(); // kinds that are under way: the turn of the question that comes next, or null

export class Refused extends Error {}

// Inside a frame of a notebook the key stands behind the # of the address; it is taken out of it at once.
export function takeKey() {
  const found = location.hash.match(/^#key=([\w-]+)$/);
  if (!found) return;
  key = found[1];
  history.replaceState(null, "", location.pathname);
}

async function fetched(path, options) {
  const headers = { ...(options.headers || {}), ...(key ? { "x-bayeswater-key": key } : {}) };
  const answer = await fetch(path, { ...options, headers, credentials: "same-origin", cache: "no-store" });
  if (answer.status === 403) throw new Refused("key");
  return answer;
}

export async function overview() {
  return (await fetched("/api/subjects", {})).json();
}

// Gives the document that the library answers with; null where a later question has taken the place of this one.
export async function ask(subject, view, question, asked = {}) {
  const kind = `${view}/${question}`;
  if (waiting.has(kind)) {
    waiting.get(kind)?.(false);
    if (!(await new Promise((turn) => waiting.set(kind, turn)))) return null;
  } else waiting.set(kind, null);
  document.body.classList.add("busy");
  slow ??= setTimeout(() => document.body.classList.add("slow"), 300); // a sign of work, where it is not done in a blink
  try {
    const answer = await fetched(`/api/${subject}/${view}/${question}`, {
      method: "POST",
      body: JSON.stringify(asked),
      headers: { "content-type": "application/json" },
    });
    const kindOf = answer.headers.get("content-type") || "";
    if (answer.ok && !kindOf.startsWith("application/json")) return await answer.blob();
    const told = kindOf.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
    if (!answer.ok) throw new Error(told.error);
    return told;
  } finally {
    const next = waiting.get(kind);
    if (next) {
      waiting.set(kind, null);
      next(true);
    } else waiting.delete(kind);
    if (!waiting.size) {
      document.body.classList.remove("busy", "slow");
      slow = clearTimeout(slow);
    }
  }
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
