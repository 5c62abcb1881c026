// The partition that is looked at: its copies in the boxes of their brokers, on one scale of offsets, with the leader's
// high watermark as a level in each of them and the reader's position at the leader's.

import { paint } from "../drawing/paint.js";
import { round } from "../drawing/shapes.js";
import { STAGES, idOf, isBroker } from "./names.js";
import { layout as strip } from "./strip.js";
import { rise, windowOf } from "./window.js";

const POINT = 12;

// -> {window, of: broker -> {x, base}}; before: that of the last frame.
export function logsOf(partition, places, before = null) {
  const { log, boxes } = places, window = windowOf(partition.copies, log.base - log.top, before?.window);
  const of = Object.fromEntries(
    Object.entries(boxes).map(([id, box]) => [id, { x: round(box.x + log.x), base: round(box.y + log.base) }]),
  );
  return { window, of };
}

// reader: {name, color, position} of the consumer that reads it, or null. cuts: broker -> what its copy has cut off.
export function layout(partition, places, logs, { say, reader = null, cuts = {} }) {
  const { window, of } = logs, { log, boxes } = places, shapes = [];
  const y = (broker, offset) => round(of[broker].base - rise(window, offset));
  if (partition.high_watermark !== null) {
    for (const row of new Set(Object.values(boxes).map((box) => box.row))) {
      const ids = Object.keys(boxes).filter((id) => boxes[id].row === row);
      const level = y(ids[0], partition.high_watermark);
      // inside the boxes alone: the words of the links stand between them
      const d = ids.map((id) => `M${boxes[id].x + 3} ${level}H${round(boxes[id].x + boxes[id].width - 3)}`).join("");
      shapes.push({ id: `level-${row}`, tag: "path", d, class: "level" });
    }
  }
  const at = of[partition.leader], isRead = reader && at && reader.position >= window.low;
  const readAt = isRead ? y(partition.leader, reader.position) : null;
  for (const [broker, copy] of Object.entries(partition.copies)) {
    if (!boxes[broker]) continue;
    const { x, base } = of[broker];
    shapes.push(...strip(broker, copy, {
      x, width: log.width, base, window, room: log.room, beside: boxes[broker].width - log.x - log.width,
      isRoomy: log.isRoomy, leaderEnd: partition.end, cutOff: cuts[broker] ?? null,
      avoid: broker === String(partition.leader) ? readAt : null, say,
    }));
  }
  if (isRead) {
    shapes.push({
      id: "reads", tag: "path", d: `M${at.x - 2} ${readAt}l-${POINT} -7v14z`, class: "o", fill: paint(reader.color),
      "data-mark": "position", of: reader.name, title: say("cluster.reads_at", { consumer: reader.name,
      offset: reader.position }),
    });
    if (log.isRoomy) {
      shapes.push({
        id: "reads-name", tag: "text", x: at.x - POINT - 5, y: readAt - 5, class: "b end halo", of: reader.name,
        text: reader.name,
      });
    }
  }
  return shapes;
}

// The words at a box's foot: whether its copy is in the ISR, and what it does now.
export function footWords(copy, isRoomy, say) {
  const isr = say(copy.is_in_isr ? "cluster.in_isr" : isRoomy ? "cluster.outside_isr" : "cluster.outside_short");
  return { isr, doing: doing(copy, say), isFailed: copy.fetch?.step === "failed" };
}

// broker: whose copy it is. One that does nothing says why in the words of its box.
export const roleWords = (copy, broker, say) =>
  copy.role === "not_running" && STAGES.includes(broker.stage)
    ? say(`cluster.stage.${broker.stage}`)
    : say(`cluster.role.${copy.role}`, { leader: copy.follows, epoch: copy.leader_epoch });

// What a copy's process does now, in few words; "" for nothing worth it.
export function doing(copy, say) {
  if (copy.role === "leads") {
    return copy.pending_isr ? say("cluster.pending_isr", { isr: copy.pending_isr.join(" ") }) : "";
  }
  if (copy.fetch === null) return "";
  if (copy.fetch.step !== "fetching") return say(`cluster.fetch.${copy.fetch.step}`);
  return copy.lag === null || copy.lag === 0
    ? ""
    : copy.lag < 0
      ? say("cluster.ahead", { count: -copy.lag })
      : say("cluster.lag", { count: copy.lag });
}

// The brokers that a chosen part is about, for the card beside the picture: a broker itself, else the leader.
export const brokerOf = (chosen, partition) =>
  chosen !== null && !chosen.includes(">") && isBroker(chosen)
    ? idOf(chosen)
    : partition && partition.leader >= 0 ? String(partition.leader) : null;
