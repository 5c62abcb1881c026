// What a queue takes in, has acknowledged, keeps and gives up a second, from the sums that the server keeps at the end
// of each second.

import { secondsOf } from "./flows.js";

const READY = 0, UNACKED = 1, PUBLISHED = 2, ACKED = 3;

// history: {second: {"vhost\nqueue": [ready, unacked, published, acked]}}. -> {queue: {in, acked, growth, lost,
// refused, nacked}} a second, over the seconds of the flows; nothing of a queue that has fewer than two. lost: what
// left it without an acknowledgement. growth: of what is ready and unacked. nacked: of what it refused.
export function ratesOf({ history, flows }, vhost) {
  const seconds = secondsOf(flows.exchanges).filter((second) => second in history);
  const last = seconds.at(-1), rates = {};
  for (const [key, now] of Object.entries(history[last] ?? {})) {
    const [of, name] = key.split("\n");
    const first = seconds.find((second) => key in history[second]);
    if (of !== vhost || first === last) continue;
    const before = history[first][key], each = (place) => (now[place] - before[place]) / (last - first);
    const [taken, acked, growth] = [each(PUBLISHED), each(ACKED), each(READY) + each(UNACKED)];
    const sums = [first, last].map((second) => flows.limits[second]?.[vhost]?.[name] ?? [0, 0]);
    const [refused, nacked] = sums[1].map((sum, place) => (sum - sums[0][place]) / (last - first));
    rates[name] = { in: taken, acked, growth, lost: taken - acked - growth, refused, nacked };
  }
  return rates;
}

// -> the samples of one queue, oldest first: [{at, ready, unacked, in, acked}], the rates since the sample before.
export function seriesOf(history, vhost, queue) {
  const key = `${vhost}\n${queue}`;
  const seconds = Object.keys(history).map(Number).filter((second) => key in history[second]);
  return seconds.sort((one, other) => one - other).map((at, place) => {
    const now = history[at][key], before = place ? history[seconds[place - 1]][key] : null;
    const rate = (of) => (before === null ? null : (now[of] - before[of]) / (at - seconds[place - 1]));
    return { at, ready: now[READY], unacked: now[UNACKED], in: rate(PUBLISHED), acked: rate(ACKED) };
  });
}
