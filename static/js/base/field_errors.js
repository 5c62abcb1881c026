// Puts what the server refuses beside the control it is about. A control names its part of the request in data-field; a
// refusal of a deeper part ("history.changes.2.at") goes to the nearest control above it, one without any to the
// foot of the form.

const HOMES = ".field, .choice, .check, li", PREFIX = "error-", INPUTS = "input, select, textarea";
let number = 0;

// What was typed at a field can be no request. code: of the words that say why.
export class FieldError extends Error {
  constructor(field, code) {
    super(code);
    this.field = field;
  }
}

// -> the texts that found no control. isFocused: the first wrong one gets the focus, as after a press of the button;
// not while one types.
export function showErrors(form, fields, { isFocused = true } = {}) {
  clearErrors(form);
  const homeless = [];
  let first = null;
  for (const [name, texts] of Object.entries(fields)) {
    const control = controlOf(form, name);
    if (!control) {
      homeless.push(...[texts].flat());
      continue;
    }
    mark(control, [texts].flat().join(" "));
    first ??= control;
  }
  if (!isFocused) return homeless;
  const target = first?.matches(INPUTS) ? first : first?.querySelector(`${INPUTS}, button`);
  target?.focus();
  if (!target) first?.scrollIntoView({ block: "center" });
  return homeless;
}

export function clearErrors(root) {
  for (const control of root.querySelectorAll("[aria-invalid]")) unmark(control);
}

// What is corrected is no longer called wrong: the next check says whether it is right.
export function clearWhenChanged(form) {
  const take = ({ target }) => {
    const control = target.closest("[aria-invalid]") ?? target.closest(HOMES)?.querySelector("[aria-invalid]");
    if (control) unmark(control);
  };
  form.addEventListener("input", take);
  form.addEventListener("change", take);
}

function controlOf(form, name) {
  for (let part = name; part; part = part.slice(0, Math.max(0, part.lastIndexOf(".")))) {
    const found = [...form.querySelectorAll(`[data-field="${CSS.escape(part)}"]`)].find(
      (control) => control.offsetParent !== null,
    );
    if (found) return found;
  }
  return null;
}

function mark(control, text) {
  const message = document.createElement("p");
  message.className = "bad";
  message.id = `${PREFIX}${(number += 1)}`;
  message.textContent = text;
  const place = control.closest(HOMES) ?? control, folded = control.closest("details");
  if (folded) folded.open = true;
  // Above a group, which may be longer than the window; below a single control.
  if (place !== control) place.append(message);
  else if (control.matches(INPUTS)) control.after(message);
  else control.before(message);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", [...described(control), message.id].join(" "));
}

function unmark(control) {
  const all = described(control), kept = all.filter((id) => !id.startsWith(PREFIX));
  for (const id of all) if (!kept.includes(id)) document.getElementById(id)?.remove();
  control.removeAttribute("aria-invalid");
  if (kept.length) control.setAttribute("aria-describedby", kept.join(" "));
  else control.removeAttribute("aria-describedby");
}

const described = (control) => (control.getAttribute("aria-describedby") ?? "").split(" ").filter(Boolean);
