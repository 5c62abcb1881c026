// A call as steps: which line comes next, and the variables at that moment.

// call: {given, steps: [{line, changed}], result, raised, cut}. at: of a step, from 0.
// -> [{name, value, isChanged}]: what changed last comes first, the object whose method it is last.
export function variablesAt({ given, steps }, at) {
  const known = new Map(Object.entries(given));
  for (const { changed } of steps.slice(0, at + 1)) {
    for (const [name, value] of Object.entries(changed)) {
      known.delete(name);
      known.set(name, value);
    }
  }
  const rows = [...known].reverse().map(([name, value]) => ({ name, value, isChanged: name in steps[at].changed }));
  return [...rows.filter(({ name }) => name !== "self"), ...rows.filter(({ name }) => name === "self")];
}

// The lines that a call went through.
export const linesOf = ({ steps }) => new Set(steps.map(({ line }) => line));

// What it came to, said at its last step; "" before.
export function resultAt({ steps, result, raised, cut }, at, say) {
  if (at < steps.length - 1) return "";
  const end = raised ? say("code.raises", { name: raised }) : say("code.gives", { value: result });
  return cut ? `${say("code.cut", { count: cut })} ${end}` : end;
}
