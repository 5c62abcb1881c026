// A demo that is left alone shows what it is for: after a while without a press it adds a consumer. It is a command
// like any other; its id is the same in every tab, so that a lab gets it once. It never races a visitor: a press ends
// the wait for good, also one that only arrives as a click (a screen reader's), and a hand on its way to the button
// begins it again.

const PRESSES = ["pointerdown", "keydown", "click"], SIGNS = ["pointermove", "wheel", "scroll", "focusin"];
const EARLY = { capture: true };

// demo: {command_id, after_ms}, or null where the lab is not the visitor's own fresh demo. The time counts while the
// page is visible.
export function createDemo(demo, { view, submit, target = document, after = setTimeout, forget = clearTimeout }) {
  if (!demo) return;
  let timer = 0;

  function wait() {
    forget(timer);
    if (target.visibilityState === "visible") timer = after(press, demo.after_ms);
  }

  function stop() {
    forget(timer);
    for (const name of PRESSES) target.removeEventListener(name, stop, EARLY);
    for (const name of [...SIGNS, "visibilitychange"]) target.removeEventListener(name, wait, EARLY);
  }

  function press() {
    stop();
    if (isUntouched(view())) submit({ command_id: demo.command_id, kind: "join", args: { count: 1 } });
  }

  for (const name of PRESSES) target.addEventListener(name, stop, EARLY);
  for (const name of [...SIGNS, "visibilitychange"]) target.addEventListener(name, wait, EARLY);
  wait();
}

// It plays, and nothing was done to it since its start, in this tab or in another one.
const isUntouched = (view) =>
  view.playing && !view.feed?.failed && Object.keys(view.timeline).every((position) => position === "0");
