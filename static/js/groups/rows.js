// What was said as the rows of a sequence chart, the oldest first: requests and answers in their order, what goes
// together on one row.
//
//   ask      requests that wait at the coordinator          answer   what it answers them with, all at one moment
//   both     a request and its answer, at once              quiet    heartbeats and commits that changed nothing

export const NAMES = {
  find: "FindCoordinator", join: "JoinGroup", sync: "SyncGroup", heartbeat: "Heartbeat", leave: "LeaveGroup",
  commit: "OffsetCommit", offsets: "OffsetFetch", beat: "ConsumerGroupHeartbeat",
};
const PARKS = ["join", "sync"], TOGETHER_US = 400_000, GAP_US = 1_000_000;
// REBALANCE_IN_PROGRESS, MEMBER_ID_REQUIRED: how the protocol goes on, no failure
const AWAITED = [27, 79];

// exchanges: of the view. -> [{id, way, kind, atUs, code, items: [{number, exchange}], gapUs: since the row before,
// where that is long}]
export function rowsOf(exchanges, { isFolded }) {
  const points = Object.entries(exchanges).flatMap(([number, exchange]) => pointsOf(number, exchange));
  points.sort((a, b) => a.atUs - b.atUs || Number(a.number) - Number(b.number));
  const rows = [];
  for (const { number, exchange, way, atUs } of points) {
    const code = way === "ask" ? 0 : exchange.code, row = rowFor(rows, { way, atUs, code, exchange }, isFolded);
    if (row) {
      row.items.push({ number, exchange });
      row.untilUs = Math.max(row.untilUs, atUs);
      continue;
    }
    rows.push({
      id: `${number}-${way}`, way, kind: exchange.kind, atUs, untilUs: atUs, code, broker: exchange.broker,
      items: [{ number, exchange }], gapUs: 0,
    });
  }
  rows.forEach((row, place) => {
    row.gapUs = place && row.atUs - rows[place - 1].untilUs > GAP_US ? row.atUs - rows[place - 1].untilUs : 0;
  });
  return rows;
}

function pointsOf(number, exchange) {
  const at = (way, atUs) => ({ number, exchange, way, atUs });
  if (exchange.quiet) return [at("quiet", exchange.sent_us)];
  const isParked =
    PARKS.includes(exchange.kind) &&
    exchange.arrived_us !== null &&
    (exchange.answered_us === null || exchange.answered_us > exchange.arrived_us);
  const isAnswered = exchange.answered_us !== null || exchange.received_us !== null;
  if (!isParked) return [at(isAnswered ? "both" : "ask", exchange.sent_us)];
  return exchange.answered_us === null
    ? [at("ask", exchange.sent_us)]
    : [at("ask", exchange.sent_us), at("answer", exchange.answered_us)];
}

// The row that a message can stand on, beside others of its sort: not before anything that its own member has said
// meanwhile, nor before an answer of the coordinator, so that the order of cause and effect stays.
function rowFor(rows, next, isFolded) {
  for (let place = rows.length - 1; place >= 0; place -= 1) {
    const row = rows[place], isLast = place === rows.length - 1;
    if (next.way === "answer") return isLast && goesWith(row, next) && row.atUs === next.atUs ? row : null;
    if (!isFolded || row.way === "answer") return null;
    if (goesWith(row, next) && (isLast && row.way === "quiet" || next.atUs - row.atUs < TOGETHER_US)) return row;
    if (
      next.atUs - row.untilUs > TOGETHER_US ||
      row.items.some(({ exchange }) => exchange.member === next.exchange.member)
    ) {
      return null;
    }
  }
  return null;
}

function goesWith(row, { way, code, exchange }) {
  if (row.way !== way) return false;
  if (way === "quiet") return true;
  const isSame = row.kind === exchange.kind && row.code === code && row.broker === exchange.broker;
  return isSame && (way === "answer" || row.items.every((item) => item.exchange.member !== exchange.member));
}

// How a row looks: quiet, plain, or of a refusal.
export function toneOf(row) {
  if (row.way === "quiet") return "quiet";
  if (row.items.some(({ exchange }) => exchange.lost_us !== null)) return "bad";
  return row.code === 0 ? "plain" : AWAITED.includes(row.code) ? "warn" : "bad";
}

// Kafka's name of the error; of an answer that has one code for each partition the worst. error: not in a view that
// older code has stored.
export const codeName = (exchange) =>
  (exchange.code && exchange.error) ||
  (exchange.answer.find(([name]) => name === "error_code")?.[1] ?? (exchange.code ? String(exchange.code) : ""));

// The words on a row: {title, note}. Kafka's own names, which no language changes.
export function labelOf(row, comma = ", ") {
  const { items, way, kind } = row, many = (count) => (count > 1 ? ` ×${count}` : "");
  if (way === "quiet") {
    const counts = new Map();
    for (const { exchange } of items) counts.set(exchange.kind, (counts.get(exchange.kind) ?? 0) + 1);
    return {
      title: [...counts]
        .map(([one, count]) => `${one === "beat" ? "Heartbeat" : NAMES[one]}${many(count)}`)
        .join(comma),
      note: "",
    };
  }
  const title = NAMES[kind] + many(items.length);
  const notes = new Set(items.map(({ exchange }) => exchange.note.replace(/ leader$/, "")));
  if (way === "ask") return { title, note: "" };
  if (row.code) return { title, note: codeName(items[0].exchange) };
  return { title, note: notes.size === 1 ? [...notes][0] : "" };
}

// What an answer comes to, in the page's language: the view has it in the protocol's words.
export const noteWords = (note, say) =>
  note.replace(/^(generation|epoch) (-?\d+)( leader)?/, (_, kind, number, leads) =>
    say(`groups.note.${kind}${leads ? "_leader" : ""}`, { number: Number(number) }),
  );

// Minutes, seconds and thousandths: a rebalance takes some of those.
export function moment(us) {
  const ms = Math.max(0, Math.floor(us / 1000));
  const seconds = String(Math.floor(ms / 1000) % 60).padStart(2, "0"), thousandths = String(ms % 1000).padStart(3, "0");
  return `${Math.floor(ms / 60_000)}:${seconds}.${thousandths}`;
}
