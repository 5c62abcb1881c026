// The words at the links: as many lines as there is room for, the request above its line and the answer below.

import { widthOf, wrapped } from "../drawing/labels.js";
import { linkSaid } from "./said.js";

const LINE = 15, SANS = 0.87, PLATE = 9;

// context: {name, reader, place, ways, say}: as linkSaid takes them. places: of placesOf.
export function layout(cluster, lines, { name, ways, reader = null, place = null, say }) {
  return lines.flatMap((line) => {
    if (!line.words) return [];
    const said = linkSaid(cluster, name, line, ways, { say, reader, place });
    if (said.idle && line.words.isInline) return idle(line, said.idle);
    const short = say("cluster.said.idle_short", { partition: name });
    if (said.idle) return side(line, { text: short, short, isLive: false }, "idle");
    if (line.words.isInline && !said.request && !said.answer) return [];
    return [...side(line, said.request, "request"), ...side(line, said.answer, "answer")];
  });
}

function side({ key, words }, said, kind) {
  if (!said) return [];
  const { x, align, room, above, below, lines: most } = words, lines = fitting(said, room, most);
  const first = kind === "answer" ? below : above - (lines.length - 1) * LINE;
  return lines.map((text, line) => ({
    id: `said-${kind}-${key}-${line}`, tag: "text", x, y: first + line * LINE, text, title: said.text,
    class: `${align} halo said${said.isLive ? "" : " m"}`, "data-said": kind,
  }));
}

// A text in at most so many lines; where that is too narrow the shorter one, else as much as has room.
function fitting({ text, short }, room, most) {
  const fits = (line) => widthOf(line) * SANS <= room;
  for (const words of [text, short]) {
    const lines = wrapped(words, room);
    if (lines.length <= most && lines.every(fits)) return lines;
  }
  if (most > 1) return wrapped(short, room).slice(0, most).filter(fits);
  return short.split(/[,，] ?/).filter(fits).slice(0, 1);
}

// On the line itself, which has a gap there.
function idle({ key, words }, text) {
  const width = Math.min(words.room, widthOf(text) * SANS + 2 * PLATE), [shown] = fitting({ text, short: text },
    words.room - 8, 1);
  if (shown === undefined || words.middle === undefined) return [];
  return [
    {
      id: `idle-plate-${key}`, tag: "rect", x: words.x - width / 2, y: words.middle - PLATE, width, height: 2 * PLATE,
      class: "plate-box",
    },
    {
      id: `idle-${key}`, tag: "text", x: words.x, y: words.middle + 4, class: "mid m", text: shown, "data-said": "idle",
    },
  ];
}
