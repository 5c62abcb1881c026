// Dragging from an exchange to a queue or another exchange: a binding is wanted, and its form opens with both names.

const MOVED_PX = 6, SVG = "http://www.w3.org/2000/svg";

const partAt = (event) => document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-part]") ?? null;
const nameOf = (part) => {
  const cut = part.dataset.part.indexOf(":");
  return [part.dataset.part.slice(0, cut), part.dataset.part.slice(cut + 1)];
};

// onBind({source, kind, destination}). The line follows the pointer; a press that does not move stays a press.
export function createDrag(svg, onBind) {
  let from = null, line = null;
  const at = ({ clientX, clientY }) => {
    const box = svg.getBoundingClientRect();
    return [clientX - box.left, clientY - box.top];
  };
  function end() {
    line?.remove();
    [from, line] = [null, null];
  }
  svg.addEventListener("pointerdown", (event) => {
    const part = event.target.closest("[data-part]");
    if (!part || event.button !== 0 || nameOf(part)[0] !== "exchange") return;
    from = { name: nameOf(part)[1], at: at(event) };
  });
  addEventListener("pointermove", (event) => {
    if (!from) return;
    const [x, y] = at(event);
    if (!line && Math.hypot(x - from.at[0], y - from.at[1]) < MOVED_PX) return;
    line ??= svg.appendChild(document.createElementNS(SVG, "line"));
    const ends = { class: "drag", x1: from.at[0], y1: from.at[1], x2: x, y2: y };
    for (const [name, value] of Object.entries(ends)) line.setAttribute(name, value);
  });
  addEventListener("pointerup", (event) => {
    const hadLine = Boolean(line), source = from?.name;
    end();
    const part = hadLine ? partAt(event) : null;
    if (!part || !svg.contains(part)) return;
    const [kind, destination] = nameOf(part);
    if (kind === "queue" || (kind === "exchange" && destination !== source)) onBind({ source, kind, destination });
  });
  addEventListener("pointercancel", end);
}
