// The same history under each assignor and protocol: a row each, as the worker brings them; of each figure a bar
// against the largest.

import { NONE, number } from "../base/say.js";

export const FIGURES = ["generation", "moved", "spread", "dark_us", "dark_most", "duplicates"];
const POLL_MS = 700, LEAST_IS_BEST = ["moved", "spread", "dark_us", "dark_most", "duplicates"];

// Which row is the lane as it is now.
export const ownRow = (group, algorithm) =>
  group.protocol === "consumer"
    ? group.assignor === "range"
      ? "consumer_range"
      : "consumer"
    : group.assignor === "custom"
      ? "custom"
      : algorithm;

// the others have Kafka's own names
const NAMED = ["consumer", "consumer_range", "custom", "range_global", "round_robin_hashed"];

// Partition-seconds, with a tenth.
const text = (figure, value) => (figure === "dark_us" ? number((value / 1e6).toFixed(1)) : number(value));

// rows: of the comparison. -> [{name, isOwn, cells: [{text, share: of the largest, isBest}]}]
export function cellsOf(rows, own) {
  const most = Object.fromEntries(FIGURES.map((figure) => [figure, Math.max(0, ...rows.map((row) => row[figure]))]));
  const least = Object.fromEntries(FIGURES.map((figure) => [figure, Math.min(...rows.map((row) => row[figure]))]));
  return rows.map((row) => ({
    name: row.name, isOwn: row.name === own,
    cells: FIGURES.map((figure) => ({
      text: text(figure, row[figure]), share: most[figure] ? row[figure] / most[figure] : 0,
      isBest: LEAST_IS_BEST.includes(figure) && row[figure] === least[figure] && most[figure] > least[figure],
    })),
  }));
}

// How it stands, in words: {code, params}.
export function stateWords({ state, until_us: untilUs, now, share, reason, rows }, clock, nameOf) {
  if (state === "none") return { code: "groups.compare.none", params: {} };
  if (state === "failed") return { code: "groups.compare.failed", params: { reason } };
  if (state === "done") return { code: "groups.compare.done", params: { until: clock(untilUs) } };
  return now === null
    ? { code: "groups.compare.waiting", params: {} }
    : {
        code: "groups.compare.running",
        params: { name: nameOf(now), percent: Math.floor(share * 100), done: rows.length },
      };
}

// parts: {button, words, table}. read, start: promise of the comparison.
export function createComparison(parts, { read, start, onRefused, say, clock, own }) {
  let known = { state: "none", rows: [] }, timer = 0;
  const nameOf = (name) => (NAMED.includes(name) ? say(`groups.compare.${name}`) : name);

  function draw() {
    const { code, params } = stateWords(known, clock, nameOf);
    const isBusy = known.state === "waiting" || known.state === "running";
    parts.words.textContent = say(code, params);
    parts.button.disabled = isBusy;
    parts.table.hidden = !known.rows?.length;
    const heads = parts.table.tHead.rows[0] ?? parts.table.tHead.insertRow();
    heads.replaceChildren(
      ...["name", ...FIGURES].map((figure) =>
        Object.assign(document.createElement("th"), {
          scope: "col", textContent: say(`groups.compare.${figure}`),
          title: figure === "name" ? "" : say(`groups.compare_about.${figure}`),
        }),
      ),
    );
    parts.table.tBodies[0].replaceChildren(...cellsOf(known.rows ?? [], own()).map((row) => {
      const line = document.createElement("tr");
      const head = Object.assign(document.createElement("th"), { scope: "row", textContent: nameOf(row.name) });
      if (row.isOwn) {
        head.append(
          " ",
          Object.assign(document.createElement("span"), { className: "m", textContent: say("groups.compare.own") }),
        );
      }
      line.append(head, ...row.cells.map(({ text: words, share, isBest }) => {
        const cell = document.createElement("td"), bar = document.createElement("i");
        bar.style.setProperty("width", `${Math.round(share * 100)}%`);
        cell.className = isBest ? "best" : "";
        cell.append(Object.assign(document.createElement("span"), { className: "n", textContent: words || NONE }), bar);
        return cell;
      }));
      return line;
    }));
  }

  async function look() {
    clearTimeout(timer);
    known = await read().catch(() => known);
    draw();
    if (known.state === "waiting" || known.state === "running") timer = setTimeout(look, POLL_MS);
  }

  parts.button.addEventListener("click", async () => {
    try {
      known = await start();
      draw();
      timer = setTimeout(look, POLL_MS);
    } catch (error) {
      onRefused(error, parts.button);
    }
  });
  look();
  return { draw };
}
