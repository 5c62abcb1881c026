// The card that always stands: what would be lost if a broker died now, as the core tells it.

import { setText } from "../base/dom.js";
import { number, sentences } from "../base/say.js";

// broker: its id, null where no broker leads and none is chosen. name: of the partition that is looked at, or null.
// -> {title, about, figures: [{count, acks, isLoss}], note}
export function diedWords(cluster, broker, name, say) {
  if (broker === null || !(broker in (cluster.crashes ?? {}))) {
    return { title: say("cluster.died.nobody"), about: "", figures: [], note: "" };
  }
  const title = say("cluster.died", { broker: Number(broker) }), crash = cluster.crashes[broker];
  if (crash === null) return { title, about: say("cluster.died.is_down"), figures: [], note: "" };
  const all = Object.values(crash.lost), sum = (field) => all.reduce((total, lost) => total + lost[field], 0);
  const [one, every] = [sum("acks_1"), sum("acks_all")];
  const figure = (count, acks) => ({
    count: number(count), acks: say("cluster.acks_label", { acks: say(`cluster.acks.${acks}`) }), isLoss: count > 0,
  });
  return {
    title, about: say("cluster.died.lost"), figures: [figure(one, "1"), figure(every, "all")],
    note: note(crash, name, one, say),
  };
}

function note({ lost, offline }, name, count, say) {
  const own = lost[name], said = [];
  if (own) {
    const { first, last } = own;
    said.push(say(last > first ? "cluster.died.only_there" : "cluster.died.only_one_there", { first, last,
    partition: name }));
  }
  const elsewhere = count - (own?.acks_1 ?? 0), partitions = Object.keys(lost).length - (own ? 1 : 0);
  if (elsewhere > 0) said.push(say("cluster.died.elsewhere", { count: elsewhere, partitions }));
  if (offline.length) {
    const code = offline.length > 1 ? "cluster.died.offline_many" : "cluster.died.offline";
    said.push(say(code, { count: offline.length, partition: offline[0] }));
  }
  return said.length ? sentences(said) : say("cluster.died.nothing");
}

// In one line, for a lane beside others.
export function diedLine(cluster, broker, name, say) {
  const { title, about, figures } = diedWords(cluster, broker, name, say);
  if (!figures.length) return about || title;
  const [{ count: one }, { count: all }] = figures;
  return say("cluster.died.line", { broker: Number(broker), one, all });
}

// box: with elements that are marked data-died="title", "about", "figures", "note".
export function createDied(box) {
  const part = (name) => box.querySelector(`[data-died=${name}]`);
  let shown = "";
  return function write(cluster, broker, name, say) {
    const { title, about, figures, note: said } = diedWords(cluster, broker, name, say);
    setText(part("title"), title);
    setText(part("about"), about);
    setText(part("note"), said);
    const key = JSON.stringify(figures);
    if (key === shown) return;
    shown = key;
    part("figures").replaceChildren(...figures.map(({ count, acks, isLoss }) => {
      const pair = document.createElement("div"), term = document.createElement("dt"),
        value = document.createElement("dd");
      Object.assign(value, { textContent: count, className: isLoss ? "loss" : "" });
      Object.assign(term, { textContent: acks, className: "n b" });
      pair.append(term, value);
      return pair;
    }));
  };
}
