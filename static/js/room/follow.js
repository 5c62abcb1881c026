// What a page has to do so that it shows what the room's state says. State in, steps out; it touches nothing.

export const momentOf = ({ at_us: atUs, position }) =>
  (atUs === null ? null : { at_us: atUs, ...(position === null ? {} : { position }) });

// here: { address: of the page, went: where it was sent last, moment, chosen: applied last }.
// -> { go } to another page; else { moment, chosen } as far as they are new: moment null is the present.
export function stepsOf(state, here) {
  if (state.path !== here.address && state.path !== here.went) return { go: state.path };
  const steps = {}, moment = momentOf(state);
  if (JSON.stringify(moment) !== JSON.stringify(here.moment)) steps.moment = moment;
  if (JSON.stringify(state.chosen) !== JSON.stringify(here.chosen)) steps.chosen = state.chosen;
  return steps;
}

// What an address says of a page after its path; whether the demo plays on its own is no part of that.
export function queryOf(search) {
  const query = new URLSearchParams(search);
  if (!query.has("demo")) return search;
  query.delete("demo");
  return String(query) && `?${query}`;
}

// Whether all were called back since this tab left the teacher.
export const isCalled = (state, kept) => Boolean(kept.looking) && state.recalls > (kept.recalls ?? 0);

// What the presenter's page shows, as a state says it. chosen: texts by name, of which a state takes no empty ones.
// lecture: of a deck, "" of a lab's page.
export function shownOf({ page, lecture = "", query, moment, chosen, thing }) {
  const texts = Object.entries(chosen).filter(([, text]) => text !== null && text !== undefined && text !== "");
  return {
    page, lecture, query, at_us: moment?.at_us ?? null, position: moment?.position ?? null, thing,
    chosen: Object.fromEntries(texts.map(([name, text]) => [name, String(text)])),
  };
}
