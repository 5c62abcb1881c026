// The partition that is looked at, as a choice among all of them.

export function createPartitionChoice(select, onChoice) {
  let shown = "";
  select.addEventListener("change", () => onChoice(select.value));
  return {
    write(names, name) {
      const key = names.join();
      if (key !== shown) {
        shown = key;
        select.replaceChildren(...names.map((one) => new Option(one, one)));
      }
      if (name !== null && select.value !== name) select.value = name;
    },
  };
}
