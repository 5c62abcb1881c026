// Puts what the server refuses beside the control it is about. A control names its part of the request in data-field; a refusal of a
// deeper part ("history.changes.2.at") goes to the nearest control above it, one that nobody has to the foot of the form.

let number = 0;

// -> the texts that found no control. isFocused: the first wrong one gets the focus, as after a press of the button; not while one types.
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
  const target = first?.matches("input, select, textarea") ? first : first?.querySelector("input, select, textarea, button");
  target?.focus();
  if (!target) first?.scrollIntoView({ block: "center" });
  return homeless;
}

export function clearErrors(root) {
  for (const text of root.querySelectorAll("[data-error]")) text.remove();
  for (const control of root.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.removeAttribute("aria-describedby");
  }
}

function controlOf(form, name) {
  for (let part = name; part; part = part.slice(0, Math.max(0, part.lastIndexOf(".")))) {
    const found = [...form.querySelectorAll(`[data-field="${CSS.escape(part)}"]`)].find((control) => control.offsetParent !== null);
    if (found) return found;
  }
  return null;
}

function mark(control, text) {
  const message = document.createElement("p");
  message.className = "bad";
  message.dataset.error = "";
  message.id = `error-${(number += 1)}`;
  message.textContent = text;
  const place = control.closest(".field, .choice, .check, li") ?? control;
  if (place === control) control.after(message);
  else place.append(message);
  control.setAttribute("aria-invalid", "true");
  control.setAttribute("aria-describedby", message.id);
}
