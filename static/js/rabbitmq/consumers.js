// The lab's consuming programs at this server: what each reads and holds, and what one can do to it.

import { number } from "../base/say.js";
import { programRates, settledWords } from "./flows.js";

const BY_STATE = {
  live: ["pause", "slow", "crash", "leave"], waiting: ["pause", "slow", "crash", "leave"],
  slow: ["resume", "pause", "crash", "leave"], paused: ["resume", "crash", "leave"],
  crashed: ["rejoin", "leave"], gone: ["rejoin", "leave"],
};
const KEYS = {
  join: "A", pause: "Z", resume: "Z", slow: "W", full_speed: "W", crash: "X", rejoin: "B", leave: "L", ack: "K",
  requeue: "Q", reject: "D",
};
const SETTLES = {
  ack: { how: "ack", requeue: true }, requeue: { how: "nack", requeue: true }, reject: { how: "nack", requeue: false },
};
const IS_DOWN = ["crashed", "gone"];

// The subscriptions of each program in all virtual hosts, by its name.
function byProgram(panel) {
  const found = new Map();
  for (const { vhost, consumers } of Object.values(panel.vhosts)) {
    for (const each of Object.values(consumers)) {
      if (!found.has(each.name)) found.set(each.name, []);
      found.get(each.name).push({ ...each, vhost });
    }
  }
  return found;
}

// vhost: the one that is shown; a queue of another says where it is. -> rows of `createRows`.
export function consumerRows(lane, panel, { chosen, vhost }, say) {
  const queueOf = (each) =>
    (each.vhost === vhost ? each.queue : say("topology.in_vhost", { queue: each.queue, vhost: each.vhost }));
  const programs = programRates(panel), subscriptions = byProgram(panel);
  return lane.order.map((name) => {
    const all = subscriptions.get(name) ?? [], unacked = all.reduce((sum, each) => sum + each.unacked, 0);
    const prefetch = all.map((each) => (each.no_ack ? say("topology.no_ack") : each.prefetch_count || "∞"));
    return {
      key: name, color: lane.consumers[name].color, isChosen: chosen === name,
      cells: [
        name, { text: all.map(queueOf).join(say("list.comma")) || say("topology.none"), look: "n wrap of" },
        {
          text: marked(lane.consumers[name], stateWords(lane.consumers[name], panel, all, say), say),
          look: "s m wrap state",
        },
        prefetch.join(say("list.comma")) || "–", number(unacked),
        { text: settledWords(programs[name], say), look: "n wrap" },
      ],
    };
  });
}

const marked = ({ is_real: isReal }, words, say) =>
  (isReal ? [say("client.real"), words].join(say("list.comma")) : words);

function stateWords({ name, state }, { is_running: isRunning, refused, cancelled }, all, say) {
  if (IS_DOWN.includes(state)) return say(`state.${state}`);
  if (!isRunning) return say("topology.state.apart");
  if (name in refused) return say("topology.state.refused", { reply: refused[name] });
  if (cancelled.includes(name)) return say("topology.state.cancelled");
  if (state === "paused" || state === "slow") return say(`state.${state}`);
  if (!all.length) return say("topology.state.none");
  return say(all.every(({ is_active: isActive }) => !isActive) ? "topology.state.standby" : "topology.state.consumes");
}

// kinds: {kind: [its arguments]} of the registry. -> [{id, text, about, key, order}] for `createVerbs`.
export function verbsOf(lane, chosen, kinds, say) {
  const consumer = chosen === null ? null : lane.consumers[chosen];
  const verbs = lane.is_open ? [] : [{ id: "join", order: { kind: "join" } }];
  const isOwn = consumer !== null && !consumer.is_real;      // a real program does what its own code says
  for (const kind of isOwn ? (BY_STATE[consumer.state] ?? []) : []) {
    verbs.push({ id: kind, order: { kind, consumer: chosen } });
  }
  if (isOwn && !IS_DOWN.includes(consumer.state) && "rabbitmq_settle" in kinds) {
    for (const [id, args] of Object.entries(SETTLES)) {
      verbs.push({ id, order: { kind: "rabbitmq_settle", consumer: chosen, args } });
    }
  }
  return verbs.map(({ id, order }) => {
    const shown = id === "resume" && consumer.state === "slow" ? "full_speed" : id;
    const [text, about] = ["verb", "verb_about"].map((family) => say(`topology.${family}.${shown}`));
    return { id, order, text, about, key: KEYS[shown] };
  });
}
