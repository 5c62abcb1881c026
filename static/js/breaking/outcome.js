// What a search says of itself, as words and parts of the page: the same for the page and its test in Node.

const UNDER_WAY = ["waiting", "running"];

export const isUnderWay = ({ state }) => UNDER_WAY.includes(state);

// -> {code, params} of the line that says how the search stands.
export function stateOf(search) {
  const { state, phase, tries, shrunk, reason } = search, params = { count: tries, shrunk, reason };
  if (state === "none" || state === "cancelled" || state === "failed") return { code: `break.${state}`, params };
  if (state === "done") return { code: search.is_broken ? "break.broke" : "break.kept", params };
  if (phase !== "searching") return { code: "break.shrinking", params };
  return { code: `break.${state}`, params };
}

// How far it is, from 0 to 1.
export const shareOf = ({ used_s: used, seconds }) => Math.min(1, used / seconds);

// -> [{seconds, code, params, isBroken}] of what was found, the moment last.
export function stepsOf({ is_broken: isBroken, schedule, moment_us: momentUs }) {
  if (!isBroken) return [];
  const at = (us) => (us / 1e6).toFixed(3);
  return [
    ...schedule.map(({ at_us: atUs, code, params }) => ({ seconds: at(atUs), code, params, isBroken: false })),
    { seconds: at(momentUs), code: "break.moment", params: {}, isBroken: true },
  ];
}
