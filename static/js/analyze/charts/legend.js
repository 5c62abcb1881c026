// The consumers of a step in the colours of a chart's dots, which a chart of many rows has no place to name.

import { percent } from "../../base/say.js";
import { paint } from "../../drawing/paint.js";
import { shortNames } from "../result.js";
import { identities } from "./consumers.js";

const LEGEND_MAX = 16;

// After them, of strategies under which records have no consumer, how many those are. template: an <li> with a <rect>
// and a <span>.
export function writeLegend(list, template, { result, step, say, words }) {
  const places = identities(result), { members } = result.steps[step];
  list.replaceChildren(...members.slice(0, LEGEND_MAX).map((name) => {
    const item = template.content.firstElementChild.cloneNode(true);
    item.querySelector("rect").setAttribute("fill", paint(places.get(name)));
    item.querySelector("span").textContent = name;
    return item;
  }));
  if (members.length > LEGEND_MAX) list.append(remark(say("shares.more", { count: members.length - LEGEND_MAX })));
  const names = shortNames(result.strategies, words);
  const left = result.strategies.filter(({ steps }) => steps[step].unowned_share);
  const shares = left.map(({ id, steps }) => `${names.get(id)} ${percent(steps[step].unowned_share)}`);
  if (shares.length) list.append(remark(say("shares.unowned", { shares: shares.join(say("list.comma")) })));
}

function remark(text) {
  const item = document.createElement("li");
  item.className = "m";
  item.textContent = text;
  return item;
}
