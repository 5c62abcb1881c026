// What was done to a lab last, and what that means: what flows, or who has noticed a crash.

import { sentences } from "../base/say.js";
import { listed } from "./covers.js";
import { laneName } from "./name.js";

const FOUR = 4;
const OF_FOUR = ["start", "join", "join_many", "leave", "rejoin"];    // captions that count the lanes
const OF_ALL = ["join", "leave", "crash", "rejoin", "pause", "resume", "slow"];   // orders that all lanes have

// An order that gives a disk, a clock or a link an amount is another one without it, or with one below 0.
function amountOf(code, { write_us: writeUs, skew_ms: skewMs, delay_us: delayUs, one_way: isOneWay }) {
  if (code === "cluster_slow_disk") return writeUs ? [code, writeUs] : ["cluster_quick_disk", null];
  if (code === "cluster_skew_clock") {
    return skewMs ? [skewMs > 0 ? code : `${code}_behind`, Math.abs(skewMs) * 1000] : ["cluster_set_clock", null];
  }
  if (code === "cluster_slow_link") return delayUs === null ? ["cluster_quick_link", null] : [code, delayUs];
  return [code === "cluster_cut_link" && isOneWay ? `${code}_one_way` : code, null];
}

export function caption(view, say) {
  let [code, amountUs] = amountOf(view.caption.code, view.caption.params);
  const params = { ...view.caption.params, ...(amountUs === null ? {} : { amount_us: amountUs }) };
  if (code === "join" && (params.count ?? 1) > 1) code = "join_many";
  if (params.by === "demo") code = "join_demo";
  if (params.gone) code = "leave_gone";
  if (params.full_speed) code = "full_speed";
  if (code === "leave" && !view.consumer_count) code = "leave_last";
  if (OF_FOUR.includes(code) && view.lane_order.length !== FOUR) {
    code += "_lanes";
    params.lanes = view.lane_order.length;
  }
  if (params.lane) {
    const model = view.lanes[params.lane]?.model ?? params.lane, lane = laneName(params.lane, view, say);
    if (OF_ALL.includes(view.caption.code) && !params.gone) {
      const many = view.caption.code === "join" && (params.count ?? 1) > 1 ? "_many" : "";
      const did = params.full_speed ? code : view.caption.code;
      return say("caption.in_lane", { did: say(`covers.${did}${many}`, { ...params, who: params.consumer }), lane });
    }
    if (code !== "set_algorithm") {
      const said = say(`caption.${code}`, params);
      return view.lane_order.length > 1 ? say("list.named", { name: lane, what: said }) : said;
    }
    params.algorithm = say(`${model}.${params.algorithm}`);
    params.lane = say(`model.${model}`);
  }
  return say(`caption.${code}`, params);
}

// The line below the caption: after a crash who has noticed it so far, else what flows. isOfAll: on a page of all
// lanes.
export function sub(view, say, isOfAll = true) {
  const { code, params } = view.caption;
  const open = Object.values(view.lanes).find(({ is_open: isOpen }) => isOpen);
  if (open) return say("client.sub", { count: Object.keys(open.consumers).length });
  if (code === "crash") return noticedBy(view, say, params.consumer, params.lane);
  const flights = view.workload.kind === "flights", silent = silentInAll(view).length;
  const noun = (code, count) => say(`noun.${code}`, { count });
  const flows = say(silent ? "sub.silent" : "sub", {
    record_count: view.record_count, key_count: view.key_count, consumer_count: view.consumer_count + silent,
    silent_count: silent, records_noun: noun(flights ? "flights" : "records", view.record_count),
    keys_noun: noun(flights ? view.workload.key : "keys", view.key_count),
  });
  return isOfAll && view.lane_order.length > 1 ? sentences([flows, say("sub.lanes")]) : flows;
}

// Consumers that are silent in a lane and alive in none: brokers still count them.
function silentInAll({ lanes, lane_order }) {
  const all = lane_order.flatMap((id) => Object.values(lanes[id].consumers));
  const alive = new Set(all.filter(({ state }) => !["crashed", "gone"].includes(state)).map(({ name }) => name));
  return [...new Set(all.filter(({ state, name }) => state === "crashed" && !alive.has(name)).map(({ name }) => name))];
}

// A crashed consumer's state tells: "crashed" until its lane has noticed, "gone" from then on. Where it had not yet
// arrived, nobody ever notices.
export function noticedBy(view, say, consumer, lane = null) {
  const noticed = [], waiting = [], unknown = [];
  for (const id of lane ? [lane] : view.lane_order) {
    const { consumers, sentence: told } = view.lanes[id], isSilent = consumers[consumer]?.state === "crashed";
    const isUnknown = /\.crash_unknown(_idle)?$/.test(told.code) && told.params.consumer === consumer;
    (isUnknown ? unknown : isSilent ? waiting : noticed).push(laneName(id, view, say));
  }
  if (!unknown.length) return noticedOrNot(noticed, waiting, say);
  const others = noticed.length || waiting.length ? [noticedOrNot(noticed, waiting, say)] : [];
  return sentences([...others, say("sub.unknown", { lanes: listed(unknown, say) })]);
}

function noticedOrNot(noticed, waiting, say) {
  if (!waiting.length) return say(noticed.length === FOUR ? "sub.noticed_by_four" : "sub.noticed_by_all");
  return say(noticed.length ? "sub.noticed" : "sub.unnoticed", {
    noticed: listed(noticed, say), waiting: listed(waiting, say), count: waiting.length,
  });
}
