// What the page says of a group that shares partitions out among its clients.

import { number, sentences } from "../base/say.js";
import { BROKEN, IDLE, WAITING } from "../lane/importance.js";
import { shortKey } from "./chips.js";
import { isQuiet } from "./difference.js";

const NAMED_MOST = 3;
const IS_DOWN = ["crashed", "gone", "stopped", "stopping"];

export const unreadOf = (panel) => Object.entries(panel.partitions).filter(([, { unread }]) => unread !== null);

// Two clients want one partition: the rule gives it to both, or a broker has refused one of them. A dead process that
// its broker still has registered wants nothing.
export const fightsOf = (panel) =>
  Object.entries(panel.partitions).filter(([, each]) => {
    const taking = running(panel, each.takers);
    const wanting = new Set([...rivalsOf(panel, each), livingOf(each)].filter((name) => name !== null));
    return (each.refused.length > 0 || taking.length > 1) && wanting.size > 1;
  });

const rivalsOf = (panel, { takers, refused }) => [...refused, ...running(panel, takers)];
const livingOf = ({ owner, is_ghost: isGhost }) => (isGhost ? null : owner);

// Whom its master refuses asks no broker.
const running = ({ clients }, names) => names.filter((name) => clients[name]?.state !== "refused");

// -> [what happens, what it means, how important it is].
export function story(panel, atUs, say) {
  const names = (list) => list.join(say("list.comma")), clients = Object.entries(panel.clients);
  const unread = unreadOf(panel), total = Object.keys(panel.partitions).length;
  const closed = Object.entries(panel.brokers).filter(([, { state }]) => state === "offline").map(([id]) => id);
  const refused = clients.filter(([, { state }]) => state === "refused"), fights = fightsOf(panel);
  if (!Object.values(panel.masters).some((each) => each.is_active && each.condition === "running")) {
    return [say("balance.head.no_master"), say("balance.sub.no_master"), BROKEN];
  }
  if (!clients.length) return [say("balance.head.nobody", { count: total }), say("balance.sub.nobody"), WAITING];
  if (closed.length) {
    const count = unread.filter(([, { unread: why }]) => why.code === "broker_offline").length;
    const params = { brokers: names(closed), many: closed.length, count };
    const rest = unread.length - count, others = rest ? [say("balance.sub.others", { count: rest })] : [];
    const means = sentences([say(`balance.offline.${outageOf(panel)}`), ...others]);
    return [say("balance.head.offline", params), means, BROKEN];
  }
  if (refused.length) {
    const reasons = refused.map(([, { refused_code: code, is_own_refusal: isOwn }]) =>
      say(isOwn ? "balance.sub.refused_start" : "balance.sub.refused", { why: refusal(code, say) }));
    const what = refused.map(([name, { refused_code: code }]) => say("balance.head.refused", { consumer: name, code }));
    const [[consumer, { refused_code: code }]] = refused, count = refused.length;
    const head = count > NAMED_MOST ? say("balance.head.refused_many", { count, consumer, code }) : sentences(what);
    return [head, sentences([...new Set(reasons)]), WAITING];
  }
  if (fights.length) {
    const [key, fought] = fights[0], owner = livingOf(fought);
    const rival = rivalsOf(panel, fought).find((name) => name !== owner);
    const code = owner === null ? "wanted" : "fight", many = fights.length > 1 ? "_many" : "";
    const params = { key: shortKey(key), owner: owner ?? "", rival, count: fights.length };
    return [say(`balance.head.${code}${many}`, params), say("balance.sub.fight"), WAITING];
  }
  if (unread.length) {
    const [key, { unread: why }] = unread[0];
    const what = say("balance.head.unread", { count: unread.length, of: total });
    return [what, whyWords(panel, key, why, atUs, say), WAITING];
  }
  const isListed = clients.some(([, { by_hand: isByHand }]) => isByHand);
  const meaning = isServed(panel) ? "served" : isListed ? "hand" : isDealt(panel) ? "dealt" : "well";
  const readers = new Set(Object.values(panel.partitions).map(({ owner }) => owner)).size;
  const what = say("balance.head.well", { count: total, clients: readers });
  return [what, say(`balance.sub.${meaning}`), IDLE];
}

// What an outage does to the partitions of its broker: their clients keep them, another deal leaves them out, or the
// master takes them away.
function outageOf(panel) {
  if (isServed(panel)) return "served";
  const { id, over, own } = panel.rule;
  return over === "subscribable" && (own || id !== "modulo") ? "moved" : "kept";
}

// The rule in one line, as an arithmetic where it is one.
export function ruleWords({ rule, clients }, say) {
  const all = Object.values(clients);
  if (all.length && all.every(({ by_hand: isByHand }) => isByHand)) return say("balance.rule.hand");
  if (rule.own && rule.failed) return say("balance.rule.own_failed");
  if (!all.length && rule.id === "modulo") return "";
  if (!rule.own && rule.id === "modulo" && rule.source_count <= 0) return say("balance.rule.off");
  return say(`balance.rule.${rule.own ? "own" : rule.id}`, { count: rule.source_count });
}

// Whose rule the group follows; of the user's own that gives no answer why, and that the shares before it hold.
export function ownState({ own, failed }, say) {
  const isOwn = own !== null;
  if (!isOwn || !failed) return { text: say(isOwn ? "balance.own.runs" : "balance.own.none"), isWrong: false, isOwn };
  const { line, code, params, reason } = failed, why = code ? say(`assignor.reason.${code}`, params) : reason;
  const text = say(line ? "balance.own.failed" : "balance.own.failed_whole", { line, reason: why });
  return { text, isWrong: true, isOwn };
}

// The master gives partitions out: its clients share nothing out for themselves.
export const isServed = ({ rule }) => rule.id === "server" || rule.id === "article";

// One program shares them out for all clients.
const isDealt = ({ rule }) => rule.own !== null || rule.id !== "modulo";

export const refusal = (code, say) => say(`balance.code.${code}`);

// Why a partition waits: the first cause that the server found.
export function whyWords(panel, key, why, atUs, say) {
  const { owner, broker } = panel.partitions[key];
  if (why === null) {
    const read = say("balance.unread.none", { key: shortKey(key), consumer: owner ?? "" });
    return sentences([read, ...arithmetic(panel, key, say)]);
  }
  const { code, until_us: until, refused_code: refusedCode, ...params } = why;
  const left = until === null || until === undefined ? null : Math.max(0, until - atUs);
  const isLost = code === "client_crashed" || code === "client_gone";
  const cause = say(`balance.unread.${code}${isLost && why.node_id < 0 ? "_dealt" : ""}`, {
    ...params, key: shortKey(key), broker, refused_code: refusedCode,
    why: refusedCode ? refusal(refusedCode, say) : "",
  });
  const isDown = code === "broker_offline";
  const outage = isDown ? [say(`balance.offline_key.${outageOf(panel)}`, { key: shortKey(key) })] : [];
  const counts = "count" in params ? [say("balance.unread.counts", params)] : [];
  const then = {
    client_crashed: "balance.unread.let_go", ghost: "balance.unread.broker_lets_go", master_map: "balance.unread.cycle",
  }[code] ?? "balance.unread.left";
  const soon = left ? [say(then, { left_us: left })] : [];
  const sum = code === "lists_without" ? [] : arithmetic(panel, key, say);          // no client takes the modulo
  return sentences([cause, ...outage, ...counts, ...soon, ...sum]);
}

// Whose the modulo makes a partition by the group's source count, as a division.
function arithmetic({ partitions, rule, clients }, key, say) {
  const { hash, node, owner } = partitions[key];
  if (node === null) return [];
  const named = Object.entries(clients).filter(([, client]) =>
    client.node_id === node && client.source_count === rule.source_count);
  // Of two with one node id the one whose it is in truth: its owner, else the one that its master has taken in.
  const found = named.find(([name, { state }]) => name === owner && state !== "refused")
    ?? named.find(([, { state }]) => state === "started") ?? named[0];
  const params = { hash, count: rule.source_count, node, consumer: found?.[0] ?? "" };
  return [say(found ? "balance.arithmetic" : "balance.arithmetic_nobody", params)];
}

// Words of the set difference.
export function differenceWords(panel, atUs, say) {
  const columns = isServed(panel) ? "given" : "column";
  return {
    who: say("balance.who"), pass: isServed(panel) ? "" : say("balance.pass"),
    heads: Object.fromEntries(
      ["takes", "has", "releases", "registers"].map((what) => [what, say(`balance.${columns}.${what}`)]),
    ),
    formulas: isServed(panel)
      ? { takes: "", has: "", releases: "", registers: "" }
      : {
        takes: say("balance.formula.takes"), has: say("balance.formula.has"), releases: "H − (A ∩ S)",
        registers: "(A ∩ S) − H",
      },
    node: (client) => [
      client.node_id < 0 ? "" : `#${client.node_id}`, countWords(panel.rule, client, say),
      client.by_hand ? say("balance.by_list") : "",
    ].filter(Boolean).join(" "),
    state: (client) => stateWords(client, say),
    tone: ({ state }) => (state === "refused" || IS_DOWN.includes(state) ? "er" : "m"),
    age: (client) => ageWords(client, "balance.map_brief", atUs, say),
    ageAbout: (client) => ageWords(client, "balance.map_age", atUs, say),
    left: (us) => say("balance.left_brief", { left_us: Math.max(1, us) }),
    rest: (keys) => say("balance.more_chips", { keys: keys.map(shortKey).join(" ") }),
    title: (what, name, key) => {
      const client = panel.clients[name], isOwn = what === "takes" && countWords(panel.rule, client, say) !== "";
      const params = { consumer: name, key };
      return isOwn
        ? say("balance.title.own_count", { ...params, count: client.source_count })
        : say(`balance.title.${what}`, params);
    },
  };
}

// A client's own source count, where it is another than the group's: what it would take is by that one, unless it has a
// list by hand.
function countWords(rule, { source_count: count, by_hand: isByHand }, say) {
  const isUsed = count > 0, isGroups = isUsed ? count === rule.source_count : rule.source_count <= 0;
  if (isGroups || isByHand || isDealt({ rule })) return "";
  return say(isUsed ? "balance.own_count" : "balance.own_count_off", { count });
}

const ageWords = ({ map_us: asked }, code, atUs, say) =>
  (asked === null ? "" : say(code, { age_us: Math.max(1, atUs - asked) }));

export function stateWords({ state, refused_code: code }, say) {
  return state === "refused" ? say("balance.state.refused", { code }) : say(`balance.state.${state}`);
}

// Of clients without a row: how many of them have something to do, keep what they read, or hold nothing.
export function foldedWords({ clients }, folded, say) {
  if (!folded.length) return "";
  const counts = { busy: 0, reading: 0, idle: 0 };
  for (const name of folded) {
    counts[!isQuiet(clients[name]) ? "busy" : clients[name].has.length ? "reading" : "idle"] += 1;
  }
  const parts = Object.entries(counts).filter(([, count]) => count)
    .map(([what, count]) => say(`balance.rest.${what}`, { count }));
  return say("balance.folded", { count: folded.length, parts: parts.join(say("list.comma")) });
}

// Words of masters and brokers.
export function brokerWords(panel, atUs, say) {
  return {
    masterTitle: say("balance.master"),
    master: ({ partitions, cycle_us: cycle }, masters) => {
      const all = Object.values(partitions), open = all.filter((each) => each.is_subscribable).length;
      return [
        { text: say("balance.subscribable", { count: open, of: all.length }), tone: "n b" },
        ...Object.entries(masters).map(([name, each]) => ({
          text: say(masterCode(each), { name, clients: each.clients }), tone: each.condition === "running" ? "m" : "er",
        })),
        ...(cycle === null ? [] : [{ text: say("balance.cycle", { left_us: Math.max(1, cycle - atUs) }) }]),
      ];
    },
    brokerName: (id) => say("balance.broker", { id }),
    broker(broker) {
      const code = brokerCode(broker);
      return { text: say(`balance.broker_state.${code}`), isOpen: code === "online" };
    },
    reader: (key, partition) => readerWords(panel, key, partition, atUs, say),
    partitionTitle: (key, { owner, lag, offset, end }) =>
      say("balance.partition_title", { key, owner: owner ?? say("balance.nobody"), lag, offset, end }),
    folded: (count) => say("balance.more_partitions", { count }),
  };
}

function masterCode(master) {
  if (master.condition !== "running") return "balance.master_down";
  return master.is_active ? "balance.master_active" : "balance.master_standby";
}

export function brokerCode({ state, accepts_subscribe: accepts, is_black_listed: isListed }) {
  if (state !== "online") return "offline";
  return !accepts ? "closed" : isListed ? "black_listed" : "online";
}

// Whom its broker has refused: it does not ask again yet, or did so in its last pass.
const refusedOf = ({ clients, partitions }, key) => Object.keys(clients).filter((name) =>
  partitions[key].refused.includes(name) || (clients[name].state === "started" && clients[name].pass?.refused?.[key]));

// Who reads a partition, or why nobody does, in a few words.
function readerWords(panel, key, partition, atUs, say) {
  const { owner, takers, unread } = partition, refused = refusedOf(panel, key);
  const wanting = isServed(panel) ? [] : running(panel, takers);      // one that its master serves waits for its turn
  const rivals = [...new Set([...refused, ...wanting])].filter((name) => name !== owner);
  if (!partition.is_subscribable && unread === null) {
    const isClosed = brokerCode(panel.brokers[partition.broker]) === "closed";
    const why = say(isClosed ? "balance.brief.no_subscribing" : "balance.brief.black_listed");
    return { look: "has", tone: "wa", text: say("balance.owner_but", { owner, why }) };
  }
  if (!partition.is_subscribable) {
    const consumer = takers[0] ?? null;
    return { look: "void", tone: "m", text: consumer ? say("balance.waits_for", { consumer }) : say("balance.nobody") };
  }
  if (livingOf(partition) !== null && rivals.length) {
    const code = refused.length ? "balance.fought" : "balance.rivalled";
    return { look: "has", tone: "er", text: say(code, { owner, rival: rivals[0] }) };
  }
  if (unread === null) return { look: "has", tone: "", text: owner ?? "" };
  const brief = say(`balance.brief.${unread.code}`);
  if (owner !== null) return { look: "has", tone: "wa", text: say("balance.owner_but", { owner, why: brief }) };
  const left = unread.until_us === null || unread.until_us === undefined ? null : Math.max(0, unread.until_us - atUs);
  const consumer = unread.consumer ?? takers[0] ?? null;
  if (unread.code === "next_pass" || unread.code === "old_map") {
    return { look: "free", tone: "m", text: say("balance.soon", { consumer, left_us: left ?? 0 }) };
  }
  return { look: "free", tone: "wa", text: brief };
}

// Tables in place of the pictures.
export function clientTable(panel, atUs, say) {
  const list = (keys) => keys.map(shortKey).join(" ") || "∅";
  return {
    head: headOf(["consumer", "node", "state", "map", "takes", "has", "releases", "registers", "pass"], say),
    rows: Object.entries(panel.clients).map(([name, client]) => [
      name,
      client.node_id < 0 ? countWords(panel.rule, client, say) || "–" : `${client.node_id}/${client.source_count}`,
      stateWords(client, say),
      ageWords(client, "balance.map_age", atUs, say) || "–",
      list(client.takes), list(client.has), list(client.releases), list(client.registers),
      client.state !== "started" || client.next_pass_us === null
        ? "–"
        : say("balance.left", { left_us: Math.max(1, client.next_pass_us - atUs) }),
    ]),
  };
}

export function partitionTable(panel, atUs, say) {
  return {
    head: headOf(
      ["key", "broker", "subscribable", "shown", "takers", "owner", "offset", "end", "lag", "why"], say,
    ),
    rows: Object.entries(panel.partitions).map(([key, each]) => [
      key, say(`balance.broker_state.${brokerCode(panel.brokers[each.broker] ?? { state: "offline" })}`),
      yes(each.is_subscribable, say), each.is_shown === null ? "–" : yes(each.is_shown, say),
      each.takers.join(say("list.comma")) || "–", each.owner ?? "–", number(each.offset), number(each.end),
      number(each.lag), each.unread === null ? "" : whyWords(panel, key, each.unread, atUs, say),
    ]),
  };
}

// What a master answers an operator who asks for the group's assignment.
export function queryTable({ query }, say) {
  return {
    head: headOf(["consumer", "node", "reported"], say),
    rows: (query?.members ?? []).map((each) => [
      each.client_id, each.node_id < 0 ? "–" : number(each.node_id), each.partitions.map(shortKey).join(" ") || "∅",
    ]),
  };
}

const headOf = (columns, say) => columns.map((one) => say(`balance.twin.${one}`));
const yes = (is, say) => say(is ? "balance.yes" : "balance.no");
