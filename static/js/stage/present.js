// The view as words and figures, frame after frame. The server runs this same file for the first frame
// (dashboard/page_scripts.py), so a change of what a lane says is made here and nowhere else. No rule of a model is
// here.

import { NONE, figure, inTurn, number, percent, ratio, seconds, speaker } from "../base/say.js";
import { paint } from "../drawing/paint.js";
import { markedSay, nounsOf, partsOf } from "../frame/nouns.js";
import { storyOf } from "../frame/story.js";
import { billCovers, heroCovers, listed } from "../lane/covers.js";
import { createNaming, isFolded, restWords } from "../lane/fold.js";
import { laneName, laneTitle } from "../lane/name.js";
import { overloadWords } from "../lane/overload.js";
import { sentence, timeLeft } from "../lane/sentence.js";
import { twin } from "../lane/twins.js";
import { lessonOf } from "../lesson/words.js";

const BAR_WIDTH = 312;
// How many rules have room beside a lane's name; the others are behind "More".
const SEGMENTS = { rabbitmq: 1 }, SEGMENTS_MAX = 2;
const PRIMARY = {
  pulsar: ["consistent_hash", "shared"], kafka: ["range", "sticky"],
};
const PAUSING = ["kafka", "tubemq"];                    // a change stops partitions there until it is over

// named: lane id -> whom its list names where there are many (lane/fold.js). withTwins: tables cost more than they are
// looked at, so the caller says when. only: the lanes to present.
// scope: where the verbs act, "all" lanes or the row's own "lane". whole: ids of lanes whose tables have all rows.
export function present(
  view, words, { named = {}, withTwins = true, only = view.lane_order, scope = "all", whole = new Set() } = {},
) {
  const say = speaker(words), workload = view.workload;
  return {
    lesson: lessonOf(view, say),
    story: storyOf(view, say),
    slots: {
      workload: say(`workload.${workload.kind}`),
      key: say(`key.${workload.key ?? "key"}`),
      rate: number(workload.rate),
      ...current(view, say),
    },
    lanes: only.map((id) => {
      const rows = named[id] ?? createNaming()(id, view).rows;
      const isWhole = whole.has(id), lane = view.lanes[id];
      const table = withTwins ? { ...twin(lane, words, isWhole), caption: billCovers(lane, say) } : null;
      return laneWords(id, lane, view, words, say, rows, table, scope);
    }),
  };
}

function lastRecord(view) {
  let last = null;
  for (const index in view.recent) if (last === null || Number(index) > last) last = Number(index);
  return last;
}

function current(view, say) {
  const slots = { record_index: "", record_key: "", record_flight: "", record_route: "", record_when: "" };
  const last = lastRecord(view);
  if (last === null) return slots;
  const { key, row } = view.recent[last];
  slots.record_index = `#${number(last)}`;
  slots.record_key = key || say("workload.no_key");
  if (row) {
    const [, month, day] = row.date.split("-");
    slots.record_flight = `${row.carrier} ${row.flight}`;
    slots.record_route = `${row.origin}–${row.dest}`;
    slots.record_when = say("date", { day: String(Number(day)), month: say(`month.${Number(month)}`), time: row.time });
  }
  return slots;
}

function laneWords(id, lane, view, words, say, named, table, scope) {
  const { model, route, bill } = lane;
  const serving = lane.order.filter((name) => isCounted(lane.consumers[name])).length;
  const fair = serving ? 1 / serving : null, scale = barScale(lane, fair);
  const where =
    scope === "all" && view.lane_order.length > 1
      ? say("where.all")
      : say("where.one", { lane: laneName(id, view, say) });
  const listed = isFolded(lane) ? named : lane.order;
  return {
    id, model,
    slots: {
      title: laneTitle(id, view, say),
      note: note(model, lane, say),
      rule: isOwn(lane) ? say("algorithm.own_name") : say(lane.is_open ? "client.lane" : `${model}.${lane.algorithm}`),
      about: lane.is_open ? say("client.lane_about") : isOwn(lane)
        ? say("algorithm.own", { rule: say(`kafka.${lane.algorithm}`) })
        : isUpgraded(lane)
          ? upgradedWords(lane, say)
          : say(`${model}.${lane.algorithm}.about`),
      tab: laneName(id, view, say),
      ...hero(lane.hero, view.at_us, say),
      tab_figure: lane.hero?.code === "next" ? NONE : hero(lane.hero, view.at_us, say).hero,
      hero_covers: heroCovers(lane, say),
      sentence: sentence(lane, view, say),
      ...routeWords(shapeOf(model, lane.picture), route, say),
      fair: small(fair),
      more: restWords(lane, listed, say),
      idle: idleWords(lane, say),
      overload: overloadWords(lane, view.workload.rate, say),
      empty: lane.order.length ? "" : say(lane.is_open ? "client.no_consumer" : "rows.none"),
    },
    say: spoken(lane, view, say), since: since(model, lane, bill, words, say),
    note_term: noteTerm(model, lane), figures: figures(model, lane, bill, words, say),
    tally: tally(lane.tally, words, say), route_color: routeColor(route, lane.consumers),
    algorithms: algorithms(model, lane, say, words),
    rows: listed.map((name) => row(lane.consumers[name], { scale, fair }, view.at_us, words, say, where)),
    twin: table,
  };
}

// Whom the skew counts, too: a removed one as long as it keeps a share.
const isCounted = ({ state, share }) => state !== "gone" || share > 0;

// Pulsar's subscription types look like what other systems have: partitions, or one queue for all.
const shapeOf = (model, picture) =>
  model === "pulsar" ? ({ grid: "kafka", queue: "turns" }[picture.kind] ?? model) : model;

// The current record's way through a lane: what every lane shows in the same frame, also those that are drawn a frame
// later.
export function routes(view, words) {
  const say = speaker(words);
  return view.lane_order.map((id) => {
    const { model, route, consumers, picture } = view.lanes[id];
    return { id, slots: routeWords(shapeOf(model, picture), route, say), route_color: routeColor(route, consumers) };
  });
}

const routeColor = (route, consumers) => (route?.consumer ? consumers[route.consumer]?.color ?? null : null);


// What the group's number is: a group of the consumer protocol (KIP-848) has no generation.
const epochName = ({ group }) => (group?.protocol === "consumer" ? "group_epoch" : "generation");

// The glossary's term for the note beside the title, empty where the note is none.
function noteTerm(model, lane) {
  if (model !== "kafka") return "";
  if (lane.picture.state !== "Stable") return "rebalance";
  return lane.algorithms.some(({ id, document }) => document && id === lane.algorithm) ? "" : epochName(lane);
}

function note(model, lane, say) {
  if (lane.is_open) return "";
  if (model === "kafka" && lane.picture.state !== "Stable") return say(`phase.${lane.picture.state}`);
  const isArticle = lane.algorithms.some(({ id, document }) => document && id === lane.algorithm);
  if (model === "kafka" && !isArticle) return say(`note.${epochName(lane)}`, { generation: lane.picture.generation });
  return say(`${model}.${lane.algorithm}.note`);
}

// The members run a function of the user's own, and nobody the lane's rule.
const isOwn = ({ group }) => Boolean(group?.is_own);

// A group of KIP-848 in a lane whose rule is one of the members': the coordinator assigns to all of them, and asks
// nobody for that rule.
const isUpgraded = ({ group, algorithm }) =>
  group?.protocol === "consumer" && group.assignor !== null && !algorithm.startsWith("server_");

function upgradedWords({ group, algorithm }, say) {
  const classic = inTurn(
    Object.values(group.members)
      .filter(({ protocol }) => protocol === "classic")
      .map(({ consumer }) => consumer),
  );
  const params = {
    assignor: say(`kafka.server_${group.assignor}`), rule: say(`kafka.${algorithm}`), names: listed(classic, say),
    count: classic.length,
  };
  return say(classic.length ? "algorithm.upgrading" : "algorithm.upgraded", params);
}

// The large figure and what it is of. what: undefined in a view that older code has stored, until its lab moves again.
function hero(what, at, say) {
  if (!what) return { hero: NONE, hero_note: "" };
  const params = { ...what };
  let { code } = what, value;
  if (code === "next") return { hero: say("hero.next"), hero_note: say(`next.${what.way}`) };
  if ("since_us" in what) {
    const until = what.until_us ?? null;
    params.lasted_us = Math.max(0, (until ?? at) - what.since_us);
    if (until !== null) code = `was_${code}`;
  }
  if (["waits", "in_hands", "queued"].includes(code)) value = number(what.lag);
  else if (code === "empty" || code === "keyless") value = percent(code === "empty" ? 1 : 0);
  else if (!what.whole) return { hero: NONE, hero_note: say("hero.no_keys") };
  else {
    value = percent(what.part / what.whole);
    if ((code === "dark" || code === "was_dark") && !what.part) code = "served_none";
  }
  return { hero: value, hero_note: say(`hero.${code}`, params) };
}

// The running bill since the lab began, as term, label and value; a dash where the model knows no such thing.
function tally(known, words, say) {
  const whole = (value) => (value === null || value === undefined ? NONE : number(value));
  const values = {
    keys_moved: whole(known?.keys_moved), dark: seconds(known?.dark_us ?? null, words),
    redelivered: whole(known?.redelivered), out_of_order: whole(known?.out_of_order),
  };
  return Object.entries(values).map(([term, value]) => ({ term, label: say(`tally.${term}`), value }));
}

// The same four in the same places of each lane; `reason` says why there is no figure.
function figures(model, lane, bill, words, say) {
  const known = bill ?? {};
  const item = (code, value, before = "", after = "") => ({
    term: code, label: say(`figure.${code}`), before, value, after, reason: value === NONE ? say("figure.none") : "",
  });
  const never = (code) => ({ ...item(code.split("_")[0], NONE), reason: say(`never.${model}.${code}`) });
  const whole = (value) => (value === null || value === undefined ? NONE : number(value));
  const list = [], shape = shapeOf(model, lane.picture), isShared = shape === "turns";
  if (shape === "pulsar") {
    list.push(item("space", percent(known.space_moved, 1)));
  } else if (shape === "rabbitmq" || isShared) {
    list.push(never("partitions"));
  } else {
    const total = known.partitions_total;
    list.push(
      item(
        "partitions",
        whole(known.partitions_moved),
        "",
        total === null || total === undefined ? "" : `/${number(total)}`,
      ),
    );
  }
  list.push(item("redelivered", whole(known.redelivered)));
  list.push(
    PAUSING.includes(shape)
      ? item("pause", seconds(known.pause_us, words))
      : never(isShared ? "pause_shared" : "pause"),
  );
  const before = known.skew_before;
  const skew = item("skew", ratio(lane.skew), before === null || before === undefined ? "" : `${ratio(before)} →`);
  list.push(lane.skew === null || lane.skew === undefined ? { ...skew, reason: say("idle") } : skew);
  return list;
}

// What the last change has cost, the same four in the same places of each lane.
function since(model, lane, bill, words, say) {
  const [, redelivered, pause] = figures(model, lane, bill, words, say);
  const [keys] = tally(lane.tally, words, say), hasOwners = keys.value !== NONE;
  const moved = {
    ...keys, value: hasOwners && bill ? number(bill.keys_moved) : NONE, before: "", after: "",
    reason: hasOwners ? (bill ? "" : say("figure.none")) : say(`never.${model}.partitions`),
  };
  return [
    { ...moved, label: say("since.moved") }, { ...pause, label: say("since.paused") }, redelivered,
    {
      term: "out_of_order", label: say("tally.out_of_order"), value: bill ? number(bill.out_of_order) : NONE,
      before: "", after: "", reason: bill ? "" : say("figure.none"),
    },
  ];
}

// The lane's sentence, whose nouns carry their colour.
function spoken(lane, view, say) {
  const nouns = nounsOf(view, say);
  return partsOf(sentence(lane, view, markedSay(say, nouns)), nouns);
}

// How many have nothing to do for want of a partition, and why.
function idleWords({ model, idle }, say) {
  if (!idle) return "";
  const byRule = model === "kafka" && idle.of <= idle.partitions;
  return say(`${model}.idle${byRule ? "_by_rule" : ""}`, idle);
}

function routeWords(shape, route, say) {
  if (route === null) return { route_key: say("route.none"), route_unit: "", route_to: "" };
  let unit;
  if (shape === "pulsar") unit = route.hash === null ? "" : number(route.hash);
  else if (shape === "kafka") unit = route.unit === null ? "" : say("route.partition", { unit: route.unit });
  else if (shape === "tubemq") unit = route.unit ?? "";
  else if (shape === "turns") unit = say("route.turn");
  else unit = route.place === null ? say("route.queue") : say("route.place", { place: route.place });
  const key = route.keyless || route.key === null ? say("route.keyless") : route.key;
  return { route_key: key, route_unit: unit, route_to: routeTo(shape, route, say) };
}

// Short, as it stands in one line with a key and a place of any length: what waits in a queue waits for whoever is free
// first.
function routeTo(shape, { consumer, waits }, say) {
  const isQueue = ["rabbitmq", "turns"].includes(shape);
  if (isQueue && waits && !consumer) return say("route.waiting");
  const to = consumer || say(isQueue ? "route.free" : "route.nobody");
  return waits ? say("route.waits", { to }) : to;
}

// The switch changes only with the rule and the language, so its words are kept.
const switches = new WeakMap();

function algorithms(model, lane, say, words) {
  const kept = switches.get(lane.algorithms);
  if (kept?.algorithm === lane.algorithm && kept.words === words && kept.isOwn === isOwn(lane)) return kept.list;
  const list = switchOf(model, lane, say);
  switches.set(lane.algorithms, { algorithm: lane.algorithm, words, list, isOwn: isOwn(lane) });
  return list;
}

function switchOf(model, lane, say) {
  const offered = lane.algorithms.map(({ id, document }) => ({
    id, document, pressed: id === lane.algorithm && !isOwn(lane), label: say(`${model}.${id}`),
    about: say(`${model}.${id}.about`),
  }));
  const first = PRIMARY[model] ?? [], names = offered.map(({ id }) => id);
  const shown = [...first.filter((id) => names.includes(id)), ...names.filter((id) => !first.includes(id))].slice(
    0,
    SEGMENTS[model] ?? SEGMENTS_MAX,
  );
  // The long name of an article's rule takes the room of two.
  const isLong = offered.some(({ pressed, document }) => pressed && document);
  if (!shown.includes(lane.algorithm)) shown.splice(isLong ? 0 : -1, SEGMENTS_MAX, lane.algorithm);
  for (const item of offered) item.shown = shown.includes(item.id);
  return offered;
}

function barScale(lane, fair) {
  let largest = 0;
  for (const name in lane.consumers) {
    largest = Math.max(largest, lane.consumers[name].share ?? 0, lane.consumers[name].share_before ?? 0);
  }
  if (fair && largest <= 2 * fair) return Math.min(1, 2 * fair);
  const wanted = fair ? Math.min(largest, 4 * fair) : largest;
  const steps = wanted > 0.1 ? 20 : wanted > 0.02 ? 100 : 500;
  return Math.min(1, Math.ceil(wanted * steps) / steps) || 1;
}

function row(consumer, { scale, fair }, at, words, say, where) {
  const { state } = consumer, share = consumer.share ?? 0, before = consumer.share_before ?? 0;
  const [width, was] = [share, before].map((part) => Math.min(1, part / scale) * BAR_WIDTH);
  const left = state === "crashed" ? timeLeft(consumer.deadline_us, at) : null;
  return {
    name: consumer.name,
    paint: paint(consumer.color),
    state: consumer.is_real ? "real" : state,
    word: consumer.is_real ? say("client.real") : state === "live" ? "" : say(`state.${state}`),
    left: left === null ? "" : seconds(left, words),
    arc: left === null ? "" : figure(arc(consumer, at), 1),
    share: small(consumer.share),
    rate: figure(consumer.rate, 1),
    width: figure(width, 1),
    was_x: figure(width, 1),
    was_width: figure(Math.max(0, was - width), 1),
    fair: fair === null ? "" : figure((fair / scale) * BAR_WIDTH, 1),
    verbs: consumer.is_real ? [] : verbsOf(state, consumer.name, where, words, say),
  };
}

const small = (share) => percent(share, share && share < 0.0095 ? 1 : 0);

function arc(consumer, at) {
  const begun = consumer.deadline_from_us ?? null, deadline = consumer.deadline_us;
  if (begun === null || deadline <= begun) return 0;
  return 100 * Math.min(1, Math.max(0, (deadline - at) / (deadline - begun)));
}

// The same list for the same consumer and state, so that the writing code sees at a glance that nothing changed.
const verbLists = new WeakMap();

function verbsOf(state, name, where, words, say) {
  if (!verbLists.has(words)) verbLists.set(words, new Map());
  const lists = verbLists.get(words), key = `${state} ${name} ${where}`;
  if (!lists.has(key)) {
    lists.set(
      key,
      verbs(state).map((kind) => ({
        kind, word: say(`do.${doneBy(kind, state)}`),
        label: say(`verb.${doneBy(kind, state)}`, { consumer: name, where }),
      })),
    );
  }
  return lists.get(key);
}

// Resume ends a pause first, then the slowness.
const doneBy = (kind, state) => (kind === "resume" && state === "slow" ? "full_speed" : kind);

function verbs(state) {
  if (state === "crashed" || state === "gone") return ["leave", "rejoin"];
  if (state === "frozen") return ["crash", "group_thaw"];
  if (state === "stuck") return ["leave", "crash", "group_unstick"];
  return ["leave", "crash", state === "paused" ? "resume" : "pause", state === "slow" ? "resume" : "slow"];
}
