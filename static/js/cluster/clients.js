// The clients on top: the producer with its acks as a switch and its places in flight, and the consumers with who reads
// the partition that is looked at. Identity colours are theirs alone.

import { inTurn, number } from "../base/say.js";
import { widthOf } from "../drawing/labels.js";
import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { clientWords, nodeWords } from "./names.js";

const PAD = 12, FLIGHTS_MOST = 5, FLIGHT = 21, SWATCH = 16, SMALL = 13, SANS = 0.87, CHIP = 20, AROUND = 4, TITLE = 74,
  CHIP_PAD = 8, CHIP_GAP = 4;
const ACKS = [0, 1, -1], ACKS_WIDTHS = { 0: 34, 1: 34, "-1": 44 };

// shown: name of the producer that is shown. rate: records a second of the lane's own, or null. leader: a broker's id.
export function producerShapes(cluster, places, { shown, rate, leader, chosen, say }) {
  const box = places.producer, producer = cluster.producers[shown];
  if (!box || !producer) return [];
  const left = box.x + PAD, right = box.x + box.width - PAD, isOwn = shown === Object.keys(cluster.producers)[0];
  const shapes = client(shown, cluster, box, chosen, say);
  shapes.push({
    id: "producer-name", tag: "text", x: left, y: box.y + 22, class: "b name on-node", text: nodeWords(shown, say),
  });
  const others = inTurn(Object.keys(cluster.producers).filter((name) => name !== shown));
  if (others.length) shapes.push(...chips(others, cluster, right, box, chosen, say));
  else if (rate !== null && places.isWide) {
    shapes.push({
      id: "producer-rate", tag: "text", x: right, y: box.y + 22, class: "m end on-node", text: say("cluster.rate",
      { rate }),
    });
  }
  const label = say("cluster.acks"), at = left + Math.max(34, Math.ceil(widthOf(label) * SANS) + 6);
  shapes.push({ id: "acks-name", tag: "text", x: left, y: box.y + 48, class: "m on-node", text: label });
  let x = at;
  for (const acks of ACKS) {
    const isSet = producer.acks === acks, width = ACKS_WIDTHS[acks],
      word = say(`cluster.acks.${acks < 0 ? "all" : acks}`);
    shapes.push({
      id: `acks-${acks}`, tag: "rect", x, y: box.y + 32, width, height: 24, rx: 5,
      class: `choice-box${isSet ? " set" : ""}`,
      ...(isOwn
        ? {
            role: "button", "data-part": `acks-${acks}`, "data-acks": acks, tabindex: -1, "aria-pressed": String(isSet),
            "aria-label": say("cluster.acks_label", { acks: word }),
            title: say(`cluster.acks_about.${acks < 0 ? "all" : acks}`),
          }
        : {}),
    });
    shapes.push({
      id: `acks-word-${acks}`, tag: "text", x: x + width / 2, y: box.y + 49,
      class: `n mid on-node ${isSet ? "b" : "m"}`, text: word,
    });
    x += width + 4;
  }
  return [...shapes, ...flights(producer, box, { left, leader, isWide: places.isWide, say })];
}

// A ring for each request that the connection to the leader may have without an answer; full: with how many records.
function flights(producer, box, { left, leader, isWide, say }) {
  const requests = producer.in_flight[leader] ?? [], most = producer.max_in_flight, shapes = [], y = box.y + 70;
  const label = say("cluster.in_flight"), at = left + Math.max(62, Math.ceil(widthOf(label) * SANS) + 12);
  shapes.push({ id: "flights-name", tag: "text", x: left, y: y + 4, class: "m on-node", text: label });
  for (let place = 0; place < Math.min(most, FLIGHTS_MOST); place += 1) {
    const request = requests[place], x = at + place * FLIGHT;
    const count = request ? request.batches.reduce((sum, batch) => sum + batch.count, 0) : 0;
    shapes.push({
      id: `flight-${place}`, tag: "circle", cx: x, cy: y, r: 8.5, class: request ? "place full" : "place",
    });
    if (request) {
      shapes.push({
        id: `flight-count-${place}`, tag: "text", x, y: y + 4.5, class: "n mid on-node s",
        text: count > 99 ? "…" : number(count),
      });
    }
  }
  const x = at + Math.min(most, FLIGHTS_MOST) * FLIGHT - 4;
  if (!isWide) return shapes;
  shapes.push({
    id: "flights-of", tag: "text", x, y: y + 4, class: "n m on-node", text: say("cluster.of", { count: requests.length,
    most }),
  });
  return shapes;
}

function client(name, cluster, box, chosen, say) {
  const shapes = [], isChosen = chosen === name;
  if (isChosen) {
    shapes.push({
      id: "around-client", tag: "rect", x: box.x - AROUND, y: box.y - AROUND, width: box.width + 2 * AROUND,
      height: box.height + 2 * AROUND, rx: 9, class: "around",
    });
  }
  shapes.push({
    id: `client-${name}`, tag: "rect", x: box.x, y: box.y, width: box.width, height: box.height, rx: 6,
    class: `node client ${cluster.clients[name].condition}`, role: "button", "data-part": name, "data-client": name,
    tabindex: -1,
    "aria-pressed": String(isChosen), "aria-label": clientWords(name, cluster, say),
  });
  return shapes;
}

// Other producers, from the right; who has no room is counted.
function chips(names, cluster, right, box, chosen, say) {
  const shapes = [], room = box.width - 2 * PAD - TITLE;
  let x = right, used = 0;
  const fits = names.filter((name) => {
    used += Math.ceil(widthOf(nodeWords(name, say)) * SANS) + CHIP_PAD + CHIP_GAP;
    return used <= room;
  });
  for (const name of fits.reverse()) {
    const text = nodeWords(name, say), width = Math.ceil(widthOf(text) * SANS) + CHIP_PAD;
    x -= width;
    shapes.push({
      id: `client-${name}`, tag: "rect", x, y: box.y + 7, width, height: CHIP, rx: 10, role: "button",
      "data-part": name,
      class: `node client chip ${cluster.clients[name].condition}${chosen === name ? " chosen" : ""}`,
      "data-client": name, tabindex: -1,
      "aria-pressed": String(chosen === name), "aria-label": clientWords(name, cluster, say),
    });
    shapes.push({
      id: `client-name-${name}`, tag: "text", x: round(x + width / 2), y: box.y + 21, class: "mid on-node", text,
    });
    x -= CHIP_GAP;
  }
  const hidden = names.filter((name) => !fits.includes(name));
  return [...shapes, ...more("producer", hidden, { x: right - 24, y: box.y + 48, chosen, cluster, say })];
}

// How many have no room; pressed it chooses the next of them.
function more(kind, hidden, { x, y, chosen, cluster, say }) {
  if (!hidden.length) return [];
  const next = hidden.find((name) => inTurn([name, chosen ?? ""])[0] === chosen) ?? hidden[0];
  return [
    { id: `more-${kind}`, tag: "text", x, y, class: "n m on-node", text: `+${hidden.length}` },
    {
      id: `more-hit-${kind}`, tag: "rect", x: x - 4, y: y - 15, width: 30, height: 22, rx: 4, class: "hit-client",
      role: "button", "data-part": next, tabindex: -1, "aria-pressed": "false",
      "aria-label": clientWords(next, cluster, say),
    },
  ];
}

// reader: {name, color, position} of who reads the partition, or null. colors: consumer -> colour.
export function consumersShapes(cluster, places, { name, reader, colors, chosen, say }) {
  const box = places.consumers;
  if (!box) return [];
  const left = box.x + PAD, right = box.x + box.width - PAD, shapes = [];
  const all = inTurn(Object.keys(cluster.clients).filter((one) => cluster.clients[one].kind === "consumer"));
  shapes.push({
    id: "consumers", tag: "rect", x: box.x, y: box.y, width: box.width, height: box.height, rx: 6, class: "node still",
  });
  shapes.push({
    id: "consumers-name", tag: "text", x: left, y: box.y + 22, class: "b name on-node", text: say("cluster.consumers"),
  });
  if (places.isWide) {
    shapes.push({
      id: "consumers-rule", tag: "text", x: right, y: box.y + 22, class: "m end on-node",
      text: say("cluster.read_up_to"),
    });
  }
  if (reader) {
    const at = say("cluster.at", { offset: reader.position }), text = say("cluster.reads", { consumer: reader.name,
      partition: name });
    const room = right - left - SWATCH - 12 - widthOf(at);
    shapes.push(...consumer(reader.name, cluster, { x: left, y: box.y + 34, size: SWATCH, width: right - left, colors,
      chosen, say }));
    shapes.push({
      id: "reader-words", tag: "text", x: left + SWATCH + 7, y: box.y + 47, class: "on-node", of: reader.name,
      title: text,
      text: widthOf(text) * SANS <= room ? text : reader.name,
    });
    shapes.push({ id: "reader-at", tag: "text", x: right, y: box.y + 47, class: "n b end on-node", text: at });
  } else if (name !== null) {
    shapes.push({
      id: "reader-words", tag: "text", x: left, y: box.y + 47, class: "m on-node",
      text: say(places.isWide ? "cluster.nobody_reads" : "cluster.nobody_reads_short", { partition: name }),
    });
  }
  const rest = all.filter((one) => one !== reader?.name), isChosen = (one) => one === chosen;
  const others = [...rest.filter(isChosen), ...rest.filter((one) => !isChosen(one))];
  const words = say("cluster.other_partitions");
  const hasWords = places.isWide && reader !== null && others.length > 0;
  const room = right - left - (hasWords ? widthOf(words) * SANS + 8 : 0);
  let x = left, shown = 0;
  for (const one of others) {
    const width = SMALL + 5 + Math.ceil(widthOf(one) * SANS), kept = others.length - shown > 1 ? 30 : 0;
    if (x + width + kept > left + room) break;
    shapes.push(...consumer(one, cluster, { x, y: box.y + 62, size: SMALL, width, colors, chosen, say }));
    shapes.push({
      id: `client-name-${one}`, tag: "text", x: x + SMALL + 5, y: box.y + 73, class: "m on-node", of: one, text: one,
    });
    x += width + 12;
    shown += 1;
  }
  shapes.push(...more("consumer", others.slice(shown), { x, y: box.y + 73, chosen, cluster, say }));
  if (hasWords) {
    shapes.push({ id: "others-words", tag: "text", x: right, y: box.y + 73, class: "m end on-node", text: words });
  }
  return shapes;
}

// Its swatch, and over it and its name a shape to press.
function consumer(name, cluster, { x, y, size, width, colors, chosen, say }) {
  const { condition } = cluster.clients[name] ?? { condition: "running" };
  return [
    {
      id: `swatch-${name}`, tag: "rect", x, y, width: size, height: size, rx: 4, class: `o on-node ${condition}`,
      fill: paint(colors[name]),
    },
    {
      id: `client-${name}`, tag: "rect", x: x - 4, y: y - 4, width: width + 8, height: size + 8, rx: 4,
      class: `hit-client${chosen === name ? " chosen" : ""}`, role: "button", "data-part": name, "data-client": name,
      tabindex: -1,
      "aria-pressed": String(chosen === name), "aria-label": name in cluster.clients ? clientWords(name, cluster,
      say) : name,
    },
  ];
}
