// A demo that nobody touches shows what it is for: after a while without a press it adds a consumer by itself. It is a command like any
// other; its id is the same in every tab, so that a lab gets it once.

const PRESSES = ["pointerdown", "keydown"];

// demo: {command_id, after_ms}, or null where the lab is not the visitor's own fresh demo. The time counts while the page is visible.
export function createDemo(demo, { view, submit, target = document, after = setTimeout, forget = clearTimeout }) {
  if (!demo) return;
  let timer = 0;

  function wait() {
    forget(timer);
    if (target.visibilityState === "visible") timer = after(press, demo.after_ms);
  }

  function stop() {
    forget(timer);
    for (const name of PRESSES) target.removeEventListener(name, stop, true);
    target.removeEventListener("visibilitychange", wait);
  }

  function press() {
    stop();
    if (isUntouched(view())) submit({ command_id: demo.command_id, kind: "join", args: { count: 1 } });
  }

  for (const name of PRESSES) target.addEventListener(name, stop, true);
  target.addEventListener("visibilitychange", wait);
  wait();
}

// It plays, and nothing was done to it since its start, in this tab or in another one.
export const isUntouched = (view) => view.playing && !view.feed?.failed && Object.keys(view.timeline).every((position) => position === "0");
