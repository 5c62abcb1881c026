// An operator's buttons and forms: three of the orders ask something first, in a small form; what the controller would
// refuse stands at its field.

import { say, speak } from "../base/chrome.js";
import { clearErrors } from "../base/field_errors.js";
import { isAtFields, whileBusy } from "../base/pressed.js";
import { KEYS, brokersOf, nextWriter, offered, orderOf, settingsOf, whole } from "./operator_orders.js";

const FORMS = ["create_topic", "add_partitions", "reassign"];

// box: with a button for each verb. forms: verb -> form. send(order): a promise that fails with a Refusal.
export function createOperator(box, forms, { send, fail, look }) {
  let open = null, cluster = null, name = null;
  const buttons = Object.fromEntries(
    [...box.querySelectorAll("[data-operator]")].map((button) => [button.dataset.operator, button]),
  );

  function show(verb) {
    open = verb;
    for (const one of FORMS) {
      forms[one].hidden = one !== verb;
      buttons[one].setAttribute("aria-expanded", String(one === verb));
    }
    if (verb === null) return;
    clearErrors(forms[verb]);
    if (verb === "add_partitions") {
      const topic = name.slice(0, name.lastIndexOf("-"));
      speak(forms[verb].querySelector("[data-of]"), "cluster.partitions_of", "say", { topic });
      forms[verb].elements.count.value =
        1 + Object.keys(cluster.partitions).filter((one) => one.slice(0, one.lastIndexOf("-")) === topic).length;
    }
    if (verb === "reassign") {
      speak(forms[verb].querySelector("[data-of]"), "cluster.reassign_of", "say", { partition: name });
      forms[verb].elements.replicas.value = cluster.partitions[name].replicas.join(" ");
    }
    const first = forms[verb].querySelector("input");
    first.focus();
    first.select();
  }

  async function order(verb, values, near) {
    try {
      await whileBusy(near, () => send(orderOf(verb, name, values)));
      if (verb === "create_topic") look(`${values.topic}-0`);
      if (FORMS.includes(verb)) close(verb);
    } catch (error) {
      for (const folded of forms[verb]?.querySelectorAll("details") ?? []) {
        folded.open ||= Object.keys(error.fields ?? {}).some((field) =>
          folded.querySelector(`[data-field="${CSS.escape(field)}"]`),
        );
      }
      if (!FORMS.includes(verb) || !isAtFields(forms[verb], error, say)) fail(error, near);
    }
  }

  function close(verb) {
    show(null);
    buttons[verb].focus();
  }

  function press(verb) {
    if (FORMS.includes(verb)) show(open === verb ? null : verb);
    else order(verb, { writer: nextWriter(cluster) }, buttons[verb]);
  }

  box.addEventListener("click", (event) => {
    const verb = event.target.closest("[data-operator]")?.dataset.operator;
    if (verb) press(verb);
  });
  for (const verb of FORMS) {
    forms[verb].addEventListener("submit", (event) => {
      event.preventDefault();
      const { elements } = forms[verb], near = forms[verb].querySelector("[type=submit]");
      if (verb === "add_partitions") return order(verb, { count: whole(elements.count.value) }, near);
      if (verb === "reassign") return order(verb, { replicas: brokersOf(elements.replicas.value) }, near);
      return order(
        verb,
        {
          topic: elements.topic.value.trim(), partitions: whole(elements.partitions.value),
          replication_factor: whole(elements.replication_factor.value),
          min_insync_replicas: whole(elements.min_insync_replicas.value),
          unclean_election: elements.unclean_election.checked,
          ...settingsOf([...forms[verb].querySelectorAll("[data-setting]")].map((one) => [one.name, one.value])),
        },
        near,
      );
    });
    forms[verb].addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.stopPropagation();
      close(verb);
    });
    forms[verb].querySelector("[data-cancel]").addEventListener("click", () => close(verb));
  }

  return {
    write(newCluster, newName) {
      if ((open === "reassign" || open === "add_partitions") && newName !== name) show(null);
      [cluster, name] = [newCluster, newName];
      const now = offered(cluster, name);
      for (const [verb, button] of Object.entries(buttons)) {
        if (button.disabled === now.includes(verb)) button.disabled = !now.includes(verb);
      }
    },
    // What the keys of those verbs do that make sense now.
    bindings: () =>
      offered(cluster, name).map((verb) => ({
        keys: [KEYS[verb].toLowerCase()], says: `cluster.operator.${verb}`, act: () => press(verb),
      })),
  };
}
