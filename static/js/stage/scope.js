// Where the verbs of a row act: in all lanes, or only in the lane whose row was pressed. One choice for the page, shown
// in each lane.

export function createScope(page, onChange) {
  const choices = [...page.querySelectorAll("[data-scope]")], adders = [...page.querySelectorAll("[data-add]")];
  let scope = "all";
  function set(value) {
    scope = value;
    for (const choice of choices) choice.value = scope;
    for (const adder of adders) adder.hidden = scope === "all";
    onChange();
  }
  for (const choice of choices) choice.addEventListener("change", () => set(choice.value));
  // a browser that comes back to the page may have kept the old one
  for (const choice of choices) choice.value = scope;
  return { scope: () => scope, laneOf: (lane) => (scope === "all" ? "all" : lane) };
}
