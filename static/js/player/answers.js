// Answers what the page of a capsule asks of the server, out of what was recorded: the past, its stretches, marks,
// events, "Why?" and questions. What was not recorded is refused in a sentence, as the server refuses.
//
//   page.urls ─► the request's path ─► answer of the recording {status, body}

import { asked, fits } from "../base/events.js";
import { NEAR_US } from "../lesson/frames.js";
import { createKept } from "./kept.js";

const SHOWN = 50;

// run: as labs/capsules/fitting.py has it. why(): a promise of its answers. urls: of the page. say, words: in the
// page's language now.
export function createAnswers({ run, why, urls, say, words }) {
  const times = run.times.map(([atUs]) => atUs), pictures = createKept(times, run.views);
  let answers = null;                                    // of "Why?", unpacked when the first is asked

  const refuse = (code, params = {}) => ({ status: 409, body: { fields: { lab: [say(code, params)] } } });
  const head = (place) => ({ at_us: times[place], position: run.times[place][1], state_hash: run.times[place][2] });
  const whole = (place) => ({ ...head(place), view: pictures.at(place) });
  const timeOf = (query) => Number(query.at_us ?? times.at(-1));

  // -- pictures -------------------------------------------------------------------------------------------------------

  function past(query) {
    if (!query.step) return whole(pictures.placeFrom(timeOf(query)));
    const place = pictures.placeAt(timeOf(query)), by = Number(query.by), towards = Math.sign(by);
    let [at, steps] = [place, 0];
    for (let next = place + towards; next in times && steps !== by; next += towards) {
      if (isStep(query.step, next)) [at, steps] = [next, steps + towards];
    }
    return { ...whole(at), steps };
  }

  function isStep(unit, place) {
    if (unit === "change") return run.times[place][3];
    return unit !== "event" || eventsIn(times[place - 1] ?? -1, times[place]).length > 0;
  }

  const eventsIn = (after, until) => run.events.filter(({ at_us: at }) => at > after && at <= until);

  // A stretch goes on in its own steps, of which several may show one picture.
  function frames({ at_us: from, until_us: until, every_us: every }) {
    const found = [];
    let place = 0;
    for (let at = Number(from); at <= Number(until); at += Number(every)) {
      const next = pictures.placeAt(at), own = { ...head(next), at_us: at };
      found.push(found.length
        ? { ...own, patch: pictures.between(place, next), events: eventsIn(at - Number(every), at) }
        : { ...own, view: pictures.at(next) });
      place = next;
    }
    return { frames: found };
  }

  // -- what happened --------------------------------------------------------------------------------------------------

  const consumerOf = ({ inputs, data }) => ({ ...inputs, ...data }).consumer;
  const isWanted = (event, { kind, lane, consumer }) =>
    (!kind || event.kind === kind) && (!lane || event.lane === lane) && (!consumer || consumerOf(event) === consumer);

  function search(query) {
    const wanted = asked(query.text ?? "", words()), texts = fits(run.events, wanted.words, words());
    const isNewest = wanted.end === null ? query.newest === "1" : wanted.end === "last";
    const all = run.events.filter((event, place) => texts[place] && isWanted(event, query));
    if (isNewest) all.reverse();
    const first = query.after ? all.findIndex(({ seq }) => String(seq) === query.after) + 1 : 0;
    const events = all.slice(first, first + (wanted.end === null ? SHOWN : 1));
    const isMore = wanted.end === null && first + events.length < all.length;
    return {
      events, next: isMore ? events.at(-1).seq : null, scanned: run.events.length,
      kinds: counted(run.events.map(({ kind }) => kind)),
      consumers: counted(run.events.map(consumerOf).filter((name) => typeof name === "string")),
    };
  }

  function counted(names) {
    const counts = {};
    for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
    return counts;
  }

  // -- Why? and questions ---------------------------------------------------------------------------------------------

  async function whyOf({ lane, thing, ...query }) {
    if (answers === null) {
      const { times: at, answers: kept } = await why();
      answers = { times: at, all: createKept(at, kept) };
    }
    const place = answers.all.placeAt(timeOf(query)), answer = answers.all.at(place)[lane]?.[thing];
    const position = run.times[pictures.placeAt(answers.times[place])][1];
    return answer ? { at_us: answers.times[place], position, ...answer } : null;
  }

  function questionOf(query) {
    const atUs = timeOf(query), near = query.next ? NEAR_US : 0;     // a lesson's question is asked at its stop
    return run.asked.find(({ order, ...each }) => each.from_us <= atUs + near && atUs - near <= each.until_us
      && (query.next ? each.is_next : order.kind === query.kind && (order.consumer ?? "") === (query.consumer ?? "")));
  }

  async function known(path, query) {
    if (path === urls.past) return past(query);
    if (path === urls.past_frames) return frames(query);
    if (path === urls.event_search) return search(query);
    if (path === urls.branches) return { branches: [] };
    if (path === urls.marks.split("?")[0]) return { at_us: times.at(-1), marks: run.marks };
    if (path === urls.why) return (await whyOf(query)) ?? refuse("capsule.no_why");
    if (path === urls.trial) return questionOf(query)?.answer ?? refuse("capsule.no_question");
    return refuse("capsule.not_here");
  }

  return {
    // The view at the end.
    last: () => pictures.at(times.length - 1),
    count: times.length,
    // The changes that can be asked about: [{ from_us, until_us, kind, consumer }].
    questions: run.asked.filter((each) => !each.is_next)
      .map(({ from_us, until_us, order: { kind, consumer } }) => ({ from_us, until_us, kind, consumer })),
    // -> { status, body }
    async answer(method, path, query) {
      if (method !== "GET") return refuse("player.no_orders");
      const found = await known(path, query);
      return "status" in found ? found : { status: 200, body: found };
    },
  };
}
