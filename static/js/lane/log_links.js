// Below the copies of a partition: a link for each to its log, as it is on that broker's disk.

export function logAddress(href, { broker, topic, partition }) {
  const url = new URL(href);
  for (const [name, value] of Object.entries({ broker, topic, partition })) url.searchParams.set(name, value);
  return url.href;
}

export function writeLogLinks(box, { name, copies, href, say }) {
  const dash = name.lastIndexOf("-"), brokers = Object.keys(copies), key = `${name}/${brokers}/${href}`;
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    for (const link of box.querySelectorAll("a")) link.remove();
    box.append(...brokers.map((broker) => Object.assign(document.createElement("a"), {
      className: "n", href: logAddress(href, { broker, topic: name.slice(0, dash), partition: name.slice(dash + 1) }),
    })));
  }
  box.querySelectorAll("a").forEach((link, place) => {
    const text = say("cluster.copy_log", { broker: brokers[place], partition: name });
    if (link.textContent !== text) link.textContent = text;
  });
}
