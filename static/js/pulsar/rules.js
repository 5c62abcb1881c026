// Type of the subscription, and which rule chooses and keeps the order: what runs is pressed, what is pressed is
// ordered.

import { fillSelect } from "../base/dom.js";

const TYPES = ["Key_Shared", "Failover", "Shared", "Exclusive"];
const OF_TYPE = { exclusive: "Exclusive", failover: "Failover", failover_document: "Failover", shared: "Shared" };
const ORDERS = ["recently_joined", "draining", "out_of_order"];

const typeOf = (algorithm) => OF_TYPE[algorithm] ?? "Key_Shared";

export function createRules(
  { types, rule, order: orderSelect, ruleChoice, orderChoice, about },
  { kinds, order, say },
) {
  let now = null;
  types.append(
    ...TYPES.map((type) => {
      const button = Object.assign(document.createElement("button"), { type: "button" });
      button.dataset.type = type;
      return button;
    }),
  );
  const pick = (algorithm, near) =>
    algorithm && algorithm !== now.algorithm && order(near, { kind: "set_algorithm", args: { algorithm } });
  types.addEventListener("click", (event) => {
    const button = event.target.closest("button");
    const { type } = button?.dataset ?? {};
    if (button && type !== now.pulsar.type) pick(now.algorithms.find(({ id }) => typeOf(id) === type)?.id, button);
  });
  rule.addEventListener("change", () => pick(rule.value, rule));
  orderSelect.addEventListener("change", () =>
    order(orderSelect, { kind: "set_order", args: { order: orderSelect.value } }),
  );
  return {
    write(lane) {
      now = lane;
      const { type, order: runs } = lane.pulsar, mine = lane.algorithms.filter(({ id }) => typeOf(id) === type);
      for (const button of types.children) {
        button.setAttribute("aria-pressed", String(button.dataset.type === type));
        const name = say(`subscription.type.${button.dataset.type}`);
        if (button.textContent !== name) button.textContent = name;
      }
      ruleChoice.hidden = mine.length < 2;
      fillSelect(
        rule,
        mine.map(({ id }) => [
          id, say("subscription.rule_option", { rule: say(`pulsar.${id}`), note: say(`pulsar.${id}.note`) }),
        ]),
        lane.algorithm,
      );
      orderChoice.hidden = runs === null;
      if (runs !== null) {
        fillSelect(
          orderSelect,
          ORDERS.map((one) => [one, say(`subscription.order_words.${one}`)]),
          runs,
        );
      }
      orderSelect.disabled = !("set_order" in kinds);
      const byRing = lane.algorithm === "failover" && (!lane.pulsar.partitions || lane.pulsar.failover?.uses_ring);
      const words = say(byRing ? "subscription.about_ring" : `pulsar.${lane.algorithm}.about`);
      if (about.textContent !== words) about.textContent = words;
    },
  };
}
