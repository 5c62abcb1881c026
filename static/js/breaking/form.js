// The form: which promises and faults a lane's model has, and what is asked as the server takes it.

const whole = (text) => (/^\d{1,15}$/.test(text.trim()) ? Number(text) : text.trim());

// form: its element. lanes: [{id, promises: [{id, has_number}], faults}].
export function createForm(form, lanes) {
  const rows = [...form.querySelectorAll("[data-fault]")], { lane, kind, at_most: atMost } = form.elements;
  const chosen = () => lanes.find(({ id }) => id === lane.value);
  const input = (row, name) => row.querySelector(`[name=${name}]`);

  function fit() {
    const { promises, faults } = chosen();
    for (const option of kind.options) {
      option.hidden = option.disabled = !promises.some(({ id }) => id === option.value);
    }
    if (!promises.some(({ id }) => id === kind.value)) kind.value = promises[0].id;
    atMost.closest(".field").hidden = !promises.find(({ id }) => id === kind.value).has_number;
    for (const row of rows) row.hidden = !faults.includes(row.dataset.fault);
    for (const table of form.querySelectorAll(".faults")) table.hidden = !table.querySelector("tbody tr:not([hidden])");
  }

  function fill(given) {
    if (lanes.some(({ id }) => id === given.lane)) lane.value = given.lane;
    kind.value = given.promise.kind;
    if ("at_most" in given.promise) atMost.value = given.promise.at_most;
    for (const row of rows) {
      const { most = 0, from_s: from = "", until_s: until = "" } = given.may[row.dataset.fault] ?? {};
      input(row, "most").value = most;
      input(row, "from_s").value = from;
      input(row, "until_s").value = until;
    }
    for (const name of ["lasts_s", "seconds", "seed"]) if (name in given) form.elements[name].value = given[name];
    fit();
  }

  function read() {
    const may = {};
    for (const row of rows.filter(({ hidden }) => !hidden)) {
      const most = whole(input(row, "most").value || "0");
      if (most === 0) continue;
      may[row.dataset.fault] = { most };
      for (const name of ["from_s", "until_s"]) {
        const { value } = input(row, name);
        if (value.trim()) may[row.dataset.fault][name] = whole(value);
      }
    }
    const promise = { kind: kind.value };
    if (!atMost.closest(".field").hidden) promise.at_most = whole(atMost.value);
    const [lastsS, seconds, seed] = ["lasts_s", "seconds", "seed"].map((name) => whole(form.elements[name].value));
    return { lane: lane.value, promise, may, lasts_s: lastsS, seconds, seed };
  }

  form.addEventListener("change", fit);
  return { fill, read };
}
