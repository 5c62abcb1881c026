// The small form about one partition: what the chosen member's program can call, else what an operator can do, and a
// record or a tombstone that is sent there. Which verbs there are says the server; what it refuses stands at its field.

import { clearErrors, clearWhenChanged } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { createVerbs } from "../lane/verb_buttons.js";
import { lanesOf } from "./lanes.js";

const SEEK = "group_seek", WITH_OFFSET = [SEEK, "group_commit", "group_reset_offsets"], SEND = "cluster_send_record";
const VARIANTS = {
  [SEEK]: [["_beginning", { to: "beginning" }], ["_end", { to: "end" }]], [SEND]: [["_tombstone", { tombstone: true }]],
};

// -> [{id, verb, text, about, key, consumer: of whom, "": of nobody, args}]; a seek is three: to the offset, to the
// beginning, to the end; a record is two: with a value, and a tombstone.
export function partitionVerbs(group, chosen, say) {
  const member = group.members[chosen], isMembers = Boolean(member?.partition_verbs?.length);
  const verbs = isMembers ? member.partition_verbs : group.partition_verbs ?? [];
  return verbs.flatMap((verb) => [
    made(verb, "", {}), ...(VARIANTS[verb] ?? []).map(([ending, args]) => made(verb, ending, args)),
  ]);

  function made(verb, ending, args) {
    const code = `${verb}${ending}`;
    return {
      id: code, verb, text: say(`groups.verb.${code}`), about: say(`groups.verb_about.${code}`), key: "",
      consumer: isMembers ? member.consumer : "", args,
    };
  }
}

// What a press orders. offset: as typed. A text that is no number goes as it is: the server says so.
export function partitionOrder({ verb, consumer, args }, { topic, number, offset, key, value }) {
  const typed = offset.trim();
  const asked =
    WITH_OFFSET.includes(verb) && !args.to ? { offset: /^\d{1,15}$/.test(typed) ? Number(typed) : typed || null }
    : verb === SEND ? { ...(key ? { key } : {}), ...(value && !args.tombstone ? { value } : {}) } : {};
  return { kind: verb, ...(consumer ? { consumer } : {}), args: { topic, partition: number, ...asked, ...args } };
}

// send(order): a promise that fails with a Refusal.
export function createAtPartition(form, { send, fail, say }) {
  const select = form.elements.partition, box = form.querySelector("[data-verbs]");
  let places = [], shown = "";
  const verbs = createVerbs(box, press);

  async function press(verb, near) {
    const place = places.find(({ name }) => name === select.value);
    if (!place) return;
    clearErrors(form);
    const order = partitionOrder(verb, {
      topic: place.topic, number: place.number, offset: form.elements.offset.value,
      key: form.elements.key.value.trim(), value: form.elements.value.value,
    });
    try {
      await whileBusy(near, () => send(order));
    } catch (error) {
      if (!isAtFields(form, error, say)) fail(error, near);
    }
  }

  form.addEventListener("submit", (event) => event.preventDefault());
  clearWhenChanged(form);

  return function write(group, chosen) {
    places = lanesOf(group);
    const names = places.map(({ name }) => name).join();
    if (names !== shown) {
      shown = names;
      const before = select.value;
      select.replaceChildren(
        ...places.map(({ name }) =>
          Object.assign(document.createElement("option"), { value: name, textContent: name }),
        ),
      );
      if (places.some(({ name }) => name === before)) select.value = before;
    }
    verbs.write(partitionVerbs(group, chosen, say));
  };
}
