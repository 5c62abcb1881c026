// The brokers as boxes: a name, the role in this partition, how the process is, and at the foot the state of its copy.
// How it stands is in the outline: firm in the ISR, dashed outside, strong for the leader, and one around what is
// chosen.

import { widthOf } from "../drawing/labels.js";
import { round } from "../drawing/shapes.js";
import { brokerWords, linkWords, nodeName, nodeWords, stageOf } from "./names.js";
import { footWords } from "./partition.js";

const PAD = 12, PAD_NARROW = 8, SANS = 0.87, AROUND = 5;

// name: of the partition that is looked at, or null.
export function layout(cluster, places, name, { say, chosen = null }) {
  const partition = name === null ? null : cluster.partitions[name], shapes = [],
    count = Object.keys(cluster.partitions).length;
  for (const [id, box] of Object.entries(places.boxes)) {
    shapes.push(...boxShapes(id, cluster.brokers[id], box, { partition, name, places, chosen, count, say }));
  }
  for (const [id, box] of Object.entries(places.folded)) {
    shapes.push(...foldedShapes(id, cluster.brokers[id], box, { chosen, say }));
  }
  return shapes;
}

function frame(id, broker, box, { copy, isLeader, chosen, say }) {
  const around = Math.min(AROUND, box.x - 1);
  const stage = stageOf(broker), isChosen = chosen === nodeName(id), shapes = [];
  const classes = ["node", stage, isLeader && "leads", copy && !copy.is_in_isr && "outside"].filter(Boolean);
  if (isChosen) {
    shapes.push({
      id: `around-${id}`, tag: "rect", x: round(box.x - around), y: box.y - around, rx: 9, class: "around",
      width: round(box.width + 2 * around), height: round(box.height + 2 * around),
    });
  }
  shapes.push({
    id: `broker-${id}`, tag: "rect", x: box.x, y: box.y, width: box.width, height: box.height, rx: 6,
    class: classes.join(" "), role: "button", "data-part": nodeName(id), "data-broker": id, tabindex: -1,
    "aria-pressed": String(isChosen), "aria-label": brokerWords(id, broker, say),
  });
  return shapes;
}

function boxShapes(id, broker, box, { partition, name, places, chosen, count, say }) {
  const { isRoomy } = places.log, pad = isRoomy ? PAD : PAD_NARROW;
  const left = box.x + pad, right = round(box.x + box.width - pad);
  const copy = partition?.copies[id], isLeader = copy?.role === "leads", stage = stageOf(broker);
  const shapes = frame(id, broker, box, { copy, isLeader, chosen, say });
  shapes.push({
    id: `broker-name-${id}`, tag: "text", x: left, y: box.y + 22, class: "b name on-node",
    text: say("cluster.broker", { broker: Number(id) }),
  });
  const role = copy ? say(`cluster.as.${isLeader ? "leader" : copy.role === "follows" ? "follower" : "copy"}`) : "";
  const stageWords = say(`cluster.stage.${stage}`), isRunning = stage === "running";
  const leads = say("cluster.leads_of", { leads: broker.leads, count });
  if (isRoomy && role) {
    shapes.push({
      id: `broker-role-${id}`, tag: "text", x: right, y: box.y + 22, class: `${isLeader ? "b" : "m"} end on-node`,
      text: role,
    });
  }
  const second = !isRunning ? stageWords : isRoomy ? leads : role || leads;
  shapes.push({
    id: `broker-stage-${id}`, tag: "text", x: left, y: box.y + 40, text: second, title: isRunning ? leads : stageWords,
    class: `${isRunning ? (!isRoomy && isLeader ? "b" : "m") : "warn"} on-node`,
  });
  if (isRoomy && broker.rack !== null && widthOf(second + broker.rack) * SANS + 8 < right - left) {
    shapes.push({
      id: `broker-rack-${id}`, tag: "text", x: right, y: box.y + 40, class: "m end on-node", text: broker.rack,
    });
  }
  if (!copy) {
    if (name !== null) {
      shapes.push({
        id: `broker-none-${id}`, tag: "text", x: box.middle, y: round(box.y + box.height / 2), class: "m mid on-node",
        text: say(isRoomy ? "cluster.no_copy" : "cluster.no_copy_short", { partition: name }),
      });
    }
    return shapes;
  }
  const foot = footWords(copy, isRoomy, say), bottom = box.y + box.height - 10;
  shapes.push({
    id: `foot-${id}`, tag: "text", x: left, y: bottom, class: `${copy.is_in_isr ? "" : "b warn"} on-node`,
    text: foot.isr,
  });
  if (foot.doing) {
    shapes.push({
      id: `doing-${id}`, tag: "text", x: isRoomy ? right : left, y: isRoomy ? bottom : bottom - 15,
      class: `${foot.isFailed ? "bad" : "m"} on-node${isRoomy ? " end" : ""}`, text: foot.doing, title: foot.doing,
    });
  }
  return shapes;
}

function foldedShapes(id, broker, box, { chosen, say }) {
  const stage = stageOf(broker), isRunning = stage === "running";
  return [
    ...frame(id, broker, box, { copy: null, isLeader: false, chosen, say }),
    {
      id: `broker-name-${id}`, tag: "text", x: box.x + PAD_NARROW, y: box.y + 18, class: "b on-node",
      text: say("cluster.broker", { broker: Number(id) }),
    },
    {
      id: `broker-stage-${id}`, tag: "text", x: box.x + PAD_NARROW, y: box.y + 36,
      class: `${isRunning ? "m" : "warn"} on-node`,
      text: isRunning ? say("cluster.leads_short", { count: broker.leads }) : say(`cluster.stage.${stage}`),
    },
  ];
}

// The controller, where one of its links is drawn.
export function controllerShapes(cluster, places, lines, { say, chosen }) {
  if (!lines.some(({ one, other }) => one === "controller" || other === "controller")) return [];
  const { x, y, width, height } = places.controller;
  return [
    {
      id: "controller", tag: "rect", x, y, width, height, rx: 12, class: `node ${cluster.controller.condition}`,
      role: "button", "data-part": "controller", "data-node": "controller", tabindex: -1,
      "aria-pressed": String(chosen === "controller"), "aria-label": nodeWords("controller", say),
    },
    {
      id: "controller-name", tag: "text", x: x + width / 2, y: y + height / 2 + 5, class: "mid b on-node",
      text: say("cluster.controller"),
    },
  ];
}

// Links, each with a wide shape to press; what is cut has two strokes across it.
export function linkShapes(cluster, lines, { say, chosen = null }) {
  return lines.flatMap((line) => {
    const { cut, slow } = cluster.links[line.key], isSlow = Object.keys(slow).length > 0;
    const classes = [
      "cable", line.isIdle && "idle", cut.length && "cut", isSlow && "slow", chosen === line.key && "chosen",
    ].filter(Boolean).join(" ");
    return [
      { id: `link-${line.key}`, tag: "path", d: line.d, class: classes },
      ...(line.arrow ? [{ id: `arrow-${line.key}`, tag: "path", d: line.arrow, class: "arrow" }] : []),
      ...(cut.length ? cutMark(line, cut) : []),
      {
        id: `hit-${line.key}`, tag: "path", d: line.d, class: "cable-hit", role: "button", "data-part": line.key,
        "data-link": line.key, "aria-pressed": String(chosen === line.key), tabindex: -1,
        "aria-label": linkWords(line.key, cluster, say),
      },
    ];
  });
}

// Two strokes across the line at its middle; where only one way is cut, an arrow shows the way that is.
function cutMark({ key, one, points }, cut) {
  const longest = points.slice(1).reduce(
    (best, point, place) => {
      const length = Math.hypot(point[0] - points[place][0], point[1] - points[place][1]);
      return length > best.length ? { length, from: points[place], to: point } : best;
    },
    { length: -1, from: points[0], to: points[0] },
  );
  const x = round((longest.from[0] + longest.to[0]) / 2), y = round((longest.from[1] + longest.to[1]) / 2);
  const shapes = [
    {
      id: `cut-${key}`, tag: "path", d: `M${x - 7} ${y + 8}L${x + 1} ${y - 8}M${x - 1} ${y + 8}L${x + 7} ${y - 8}`,
      class: "severed",
    },
  ];
  if (cut.length === 1) {
    const isForward = cut[0] === one, end = isForward ? longest.to : longest.from, sign = Math.sign(end[0] - x) || 1;
    shapes.push({
      id: `way-${key}`, tag: "path", d: `M${round(x + sign * 12)} ${y - 5}l${sign * 8} 5l${sign * -8} 5z`,
      class: "severed-way",
    });
  }
  return shapes;
}
