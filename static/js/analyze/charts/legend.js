// The consumers of a step in the colours of a chart's dots, which a chart of many rows has no place to name.

import { paint } from "../../paint.js";
import { identities } from "./consumers.js";

const LEGEND_MAX = 16;

// template: an <li> with a <rect> and a <span>.
export function writeLegend(list, template, { result, step, say }) {
  const places = identities(result), { members } = result.steps[step];
  list.replaceChildren(...members.slice(0, LEGEND_MAX).map((name) => {
    const item = template.content.firstElementChild.cloneNode(true);
    item.querySelector("rect").setAttribute("fill", paint(places.get(name)));
    item.querySelector("span").textContent = name;
    return item;
  }));
  if (members.length <= LEGEND_MAX) return;
  const more = document.createElement("li");
  more.className = "m";
  more.textContent = say("shares.more", { count: members.length - LEGEND_MAX });
  list.append(more);
}
