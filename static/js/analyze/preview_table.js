// The first rows of a source; the columns that were picked say what for, and the key's stands out.

import { say } from "../base/chrome.js";
import { el } from "./el.js";
import { visible } from "./visible.js";

// preview: { columns: [{name, type}], rows: [[text or null]] } or null. roles: column name -> ["key", ...].
export function showPreview(box, preview, roles) {
  box.hidden = !preview;
  if (!preview) return;
  const table = box.querySelector("table"), isKey = ({ name }) => roles.get(name)?.includes("key");
  const head = preview.columns.map((column) =>
    el(
      "th",
      { scope: "col", "data-key": isKey(column) },
      column.name,
      el("span", { class: "m s" }, ` ${column.type ?? ""}`),
      ...(roles.get(column.name) ?? []).map((role) => el("span", { class: "role", say: `data.${role}` })),
    ),
  );
  const shown = preview.rows.map((texts) => texts.map((text) => (text === null ? null : visible(text))));
  const rows = shown.map((texts) =>
    el(
      "tr",
      {},
      ...texts.map((text, place) =>
        el(
          "td",
          { "data-key": preview.columns[place] && isKey(preview.columns[place]), title: text },
          text === null ? el("span", { class: "null", say: "data.null" }) : text,
        ),
      ),
    ),
  );
  if (!rows.length) {
    rows.push(
      el(
        "tr",
        {},
        el("td", { colspan: Math.max(1, head.length) }, say(preview.bad ? "data.preview_none" : "data.no_record")),
      ),
    );
  }
  table.replaceChildren(el("thead", {}, el("tr", {}, ...head)), el("tbody", {}, ...rows));
}
