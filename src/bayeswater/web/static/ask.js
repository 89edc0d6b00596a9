// Questions to the server of this page. Of two questions of one kind only the later one is answered.

let key = null;
const running = new Map();

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
  running.get(kind)?.abort();
  const control = new AbortController();
  running.set(kind, control);
  document.body.classList.add("busy");
  try {
    const answer = await fetched(`/api/${subject}/${view}/${question}`, {
      method: "POST",
      body: JSON.stringify(asked),
      headers: { "content-type": "application/json" },
      signal: control.signal,
    });
    const kindOf = answer.headers.get("content-type") || "";
    if (answer.ok && !kindOf.startsWith("application/json")) return await answer.blob();
    const told = kindOf.startsWith("application/json") ? await answer.json() : { error: await answer.text() };
    if (!answer.ok) throw new Error(told.error);
    return told;
  } catch (error) {
    if (error.name === "AbortError") return null;
    throw error;
  } finally {
    if (running.get(kind) === control) running.delete(kind);
    if (!running.size) document.body.classList.remove("busy");
  }
}

export function download(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
