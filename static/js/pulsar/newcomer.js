// A newcomer that asks for something of its own at its join: a name, a priority level where the type knows levels,
// sticky ranges where the rule has them. Left empty, each is as the lane has it. Ranges are typed in their editor,
// which says at once what they would do.

const LEVELS = ["Failover", "Shared"];

export const knowsLevels = ({ pulsar }) => LEVELS.includes(pulsar.type);

export const isSticky = ({ algorithm }) => algorithm.startsWith("sticky");

// The order of a join. given: {name, level} as typed, {ranges} as pairs.
export function joinOf({ name = "", level = "", ranges = null }) {
  const args = { ...(level.trim() === "" ? {} : { priority: Number(level) }), ...(ranges === null ? {} : { ranges }) };
  return { kind: "join", ...(name.trim() === "" ? {} : { consumer: name.trim() }), args };
}

// toRanges(): opens the editor of ranges for the newcomer.
export function createNewcomer($, { order, toRanges }) {
  const [box, form, name, level] = ["newcomer", "join", "join-name", "join-level"].map($);
  const given = () => ({ name: name.value, level: level.closest("label").hidden ? "" : level.value });
  const forget = () => { name.value = ""; };            // the next one has a name of its own
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (await order(form, joinOf(given()))) forget();
  });
  $("join-ranges").addEventListener("click", toRanges);
  return {
    forget, given,
    open() {
      box.open = !box.open;
      if (box.open) name.focus();
    },
    write(lane) {
      level.closest("label").hidden = !knowsLevels(lane);
      $("join-ranges").hidden = !isSticky(lane);
    },
  };
}
