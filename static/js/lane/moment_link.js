// The link to the moment that is on screen: its virtual time, the last change made by then, and the speed.

export function momentLink(view, address) {
  const link = new URL(address), position = Math.max(0, ...Object.keys(view.timeline).map(Number));
  link.search = new URLSearchParams({ at_us: view.at_us, position, speed: view.speed });
  link.hash = "";
  return link.href;
}
