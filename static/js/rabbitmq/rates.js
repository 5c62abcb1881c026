// What a queue takes in, has acknowledged, keeps and gives up a second, from the sums that the server keeps at the end
// of each second.

const SAMPLES = 6;
const READY = 0, UNACKED = 1, PUBLISHED = 2, ACKED = 3;

// history: {second: {"vhost\nqueue": [ready, unacked, published, acked]}}. -> {queue: {in, acked, growth, lost}} a
// second, over the last samples; nothing of a queue that has fewer than two. lost: what left it without an
// acknowledgement. growth: of what is ready and unacked.
export function ratesOf(history, vhost) {
  const seconds = together(Object.keys(history).map(Number).sort((one, other) => one - other).slice(-SAMPLES));
  const last = seconds.at(-1), rates = {};
  for (const [key, now] of Object.entries(history[last] ?? {})) {
    const [of, name] = key.split("\n");
    const first = seconds.find((second) => key in history[second]);
    if (of !== vhost || first === last) continue;
    const before = history[first][key], each = (place) => (now[place] - before[place]) / (last - first);
    const [taken, acked, growth] = [each(PUBLISHED), each(ACKED), each(READY) + each(UNACKED)];
    rates[name] = { in: taken, acked, growth, lost: taken - acked - growth };
  }
  return rates;
}

// The last of these seconds that follow each other as the last two do: while a server is down there are none.
function together(seconds) {
  const pace = seconds.at(-1) - seconds.at(-2);
  const gap = seconds.findLastIndex((second, place) => place && second - seconds[place - 1] > pace);
  return seconds.slice(Math.max(gap, 0));
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
