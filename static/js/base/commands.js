// Commands by POST. Each carries an id made here, so that sending it again after a network failure does it once.

const TRIES = 5, WAIT_MS = [300, 800, 2000, 4000];
const ANSWERS_WITHIN_MS = 10_000, PENDING_AFTER_MS = 800;

export class Refusal extends Error {
  constructor(status, fields) {
    super(Object.values(fields).flat().join(" "));
    this.status = status;
    this.fields = fields;
  }
}

export const cookie = (name) =>
  document.cookie
    .split("; ")
    .find((pair) => pair.startsWith(`${name}=`))
    ?.slice(name.length + 1) ?? "";

// onPending: once, where no answer has come after a moment; onRetry: before each further try. A server that takes a
// request and never answers is as good as gone: the try ends, and the same command is sent again.
export async function post(url, body, { csrf, onPending, onRetry }) {
  const pending = setTimeout(() => onPending?.(), PENDING_AFTER_MS);
  try {
    return await tried(url, body, { csrf, onRetry });
  } finally {
    clearTimeout(pending);
  }
}

async function tried(url, body, { csrf, onRetry }) {
  for (let attempt = 0; ; attempt += 1) {
    let answer;
    try {
      answer = await fetch(url, {
        method: "POST", credentials: "same-origin", body: JSON.stringify(body),
        signal: AbortSignal.timeout(ANSWERS_WITHIN_MS),
        headers: { "Content-Type": "application/json", "X-CSRFToken": cookie("csrftoken") || csrf },
      });
    } catch (error) {
      if (attempt + 1 >= TRIES) throw error;
    }
    if (answer?.ok) return answer.json();
    if (answer && answer.status < 500) {
      throw new Refusal(answer.status, (await answer.json().catch(() => ({}))).fields ?? {});
    }
    if (answer && attempt + 1 >= TRIES) throw new Refusal(answer.status, {});
    onRetry?.();
    await new Promise((done) => setTimeout(done, WAIT_MS[Math.min(attempt, WAIT_MS.length - 1)]));
  }
}

export const submit = (page, command, options = {}) =>
  post(
    page.urls.commands,
    { command_id: crypto.randomUUID?.() ?? randomId(), lane: "all", ...command },
    { csrf: page.csrf, ...options },
  );

export const fork = (page, changes = {}) => post(page.urls.fork, changes, { csrf: page.csrf });

// A lab that starts again with the same scenario, under the same name: a copy of what was done would stop at the same
// place.
export async function beginAnew(page) {
  const [{ scenario }, { name }] = await Promise.all([read(page.urls.journal), read(`${page.urls.labs}${page.lab}/`)]);
  return post(page.urls.labs, { scenario, ...(name ? { name } : {}) }, { csrf: page.csrf });
}

// Has a consumer group run again under each assignor and protocol; and what has come of it so far.
export const startComparison = (page) => post(page.urls.comparison, {}, { csrf: page.csrf });
export const readComparison = (page) => read(page.urls.comparison);

async function read(url) {
  const answer = await fetch(url, { credentials: "same-origin" });
  if (!answer.ok) throw new Refusal(answer.status, {});
  return answer.json();
}

// randomUUID exists on https and localhost only; a workshop may be on a plain address of the local net.
function randomId() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
