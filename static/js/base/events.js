// What is said of a turning point.

// A partition without a leader has -1 for it, which is no broker.
export const codeOf = ({ kind, data }) => `event.${kind}${data?.leader === -1 ? "_none" : ""}`;

// The words for this kind of event; a kind without its own words is shown by its name.
export function what(event, say) {
  const code = codeOf(event), text = say(code, { ...event.inputs, ...event.data });
  return text === code ? event.kind : text;
}
