// The form as the request that it stands for. What a text is worth is judged by the server alone: a text that is no
// number goes there as it is, and comes back refused at its field.

import { plainNumber } from "../base/plain_number.js";

const WHOLE = /^-?\d+$/, DECIMAL = /^-?(\d+\.?\d*|\.\d+)$/;

// A control's value; undefined: it is left out, since it holds its default or nothing.
export function valueOf({ kind, text, isOn = false, isDefault }) {
  if (kind === "switch") return isDefault ? undefined : isOn;
  if (isDefault || text.trim() === "") return undefined;
  if (kind === "list") return text.split(/[,，]/).map((part) => part.trim()).filter(Boolean);
  if (kind === "table") return tableOf(text);
  const plain = plainNumber(text);
  if (kind === "whole") return WHOLE.test(plain) && Number.isSafeInteger(Number(plain)) ? Number(plain) : text.trim();
  if (kind === "decimal") return DECIMAL.test(plain) ? Number(plain) : text.trim();
  if (kind === "choice") return chosen(text);
  return text.trim();
}

function tableOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

// The text of a choice of numbers or of yes and no.
const chosen = (text) =>
  WHOLE.test(text) ? Number(text) : text === "true" ? true : text === "false" ? false : text;

const settingsIn = (root) => [...root.querySelectorAll("[data-setting]")];

function into(found, controls) {
  for (const control of controls) {
    const { setting, kind, default: standard } = control.dataset, isOn = control.checked;
    const isDefault = kind === "switch" ? String(isOn) === standard : control.value.trim() === standard;
    const value = valueOf({ kind, text: control.value, isOn, isDefault });
    if (value !== undefined) found[setting] = value;
  }
  return found;
}

// lanes: [{row, part}] in their order. stored: the workload of a study's keys, which the form keeps. -> the body of
// POST /api/labs/, every control marked with the field that it is.
export function readForm(form, lanes, stored) {
  const isShown = (control) => !control.closest("[hidden].of-kind");
  const all = settingsIn(form).filter((control) => !control.closest(".of-lane"));
  const ofWorkload = all.filter((control) => control.closest("[data-at=workload]"));
  for (const control of all) {
    control.dataset.field = (ofWorkload.includes(control) ? "workload." : "") + control.dataset.setting;
  }
  const request = into({}, all.filter((control) => !ofWorkload.includes(control)));
  request.workload = into({}, ofWorkload.filter(isShown));
  if (request.workload.kind === "keys") request.workload = { ...stored, ...request.workload };
  request.lanes = lanes.map(({ row, part }, place) => {
    const at = `lanes.${place}`, lane = { model: row.dataset.model };
    row.dataset.field = at;
    for (const control of row.querySelectorAll("[data-part]")) {
      control.dataset.field = `${at}.${control.dataset.part}`;
      lane[control.dataset.part] = control.value.trim();
    }
    const controls = settingsIn(part);
    for (const control of controls) control.dataset.field = `${at}.${control.dataset.setting}`;
    return into(lane, controls);
  });
  return request;
}
