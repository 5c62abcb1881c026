// Step 1: where the records come from, which column is the key, and the first rows as a table.

import { page, say, speak } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { clearErrors, showErrors } from "../base/field_errors.js";
import { reasonOf } from "../base/reasons.js";
import { send } from "../base/requests.js";
import { el } from "./el.js";
import { createFileSettings, hasSettings } from "./file_settings.js";
import { createFolderBrowser } from "./folder_browser.js";
import { showPreview } from "./preview_table.js";
import { bytes } from "./sizes.js";
import { upload } from "./upload.js";

const COLUMNS = ["key", "time", "size", "payload"], WITH_COLUMNS = ["csv", "jsonl", "parquet"];
const REST_MS = 200;
const $ = (id) => document.getElementById(id);

export function createDataStep(form, { onChange }) {
  const folder = createFolderBrowser(form.querySelector("[data-folder]"), { onChange: () => refresh() });
  const settings = createFileSettings(form);
  let chosenFolder = "";
  let file = null, preview = null, sending = null, asked = 0, isAsking = false;
  const kind = () => form.elements.kind.value;
  const fileKind = () =>
    kind() === "file" ? file?.kind : kind() === "folder" ? (preview?.kind ?? folder?.chosen()?.kind) : null;

  // -- the kind of data -----------------------------------------------------------------------------------------------

  function showKind() {
    for (const panel of form.querySelectorAll("[data-panel]")) panel.hidden = panel.dataset.panel !== kind();
    const { keys, shape } = form.elements;
    $("exponent-field").hidden = shape.value !== "zipf";
    keys.max = keys.dataset[shape.value];
    if (kind() === "folder" && folder && !folder.isOpen()) folder.open(null);
    showColumns();
    refresh();
  }

  function showColumns() {
    const isTable = WITH_COLUMNS.includes(fileKind());
    $("columns").hidden = !isTable;
    // Also while they are why there is no preview.
    $("file-options").hidden = !settings.isFilled(fileKind());
    $("time-format").hidden = !isTable;
    if (!isTable || !preview) return;
    const names = preview.columns.map(({ name }) => name);
    for (const column of COLUMNS) {
      const select = form.elements[`column_${column}`], before = select.value || select.dataset.wanted;
      const none = column === "key" ? "data.column_choose" : "data.column_none";
      select.replaceChildren(el("option", { value: "", say: none }), ...names.map((name) => new Option(name, name)));
      select.value = names.includes(before) ? before : preview[column] ?? "";
    }
  }

  // -- the first rows -------------------------------------------------------------------------------------------------

  // The server reads them again when the kind, the file or how it is read changed; which column is the key is only
  // marked.
  async function refresh() {
    const name = kind() === "folder" ? (folder?.chosen()?.name ?? "") : "";
    if (kind() === "folder" && name !== chosenFolder) settings.forget();
    if (kind() === "folder") chosenFolder = name;
    const source = read(), turn = (asked += 1);
    fileError("");
    clearErrors($("data"));
    if (!source || (kind() === "file" && !file) || (kind() === "folder" && !folder?.chosen())) return show(null);
    // Not at once: what is below would move away under the very press that ended the typing.
    setTimeout(() => { if (turn === asked && isAsking) $("preview-wait").hidden = false; }, REST_MS);
    isAsking = true;
    try {
      const answer = await send(page.urls.preview, { source: withoutColumns(source) });
      if (turn !== asked) return;
      if (kind() === "folder") folder.setKind(answer.kind);
      show(answer);
    } catch (error) {
      if (turn !== asked) return;
      show(null);
      const isAtFields = error instanceof Refusal && Object.keys(error.fields).length;
      fileError(isAtFields ? showErrors($("data"), error.fields, { isFocused: false }).join(" ") : reasonOf(error));
    } finally {
      if (turn === asked) isAsking = false;
      if (turn === asked) $("preview-wait").hidden = true;
    }
  }

  function show(answer) {
    preview = answer;
    settings.fill(fileKind(), answer?.read_as);
    $("preview-wait").hidden = true;
    showColumns();
    mark();
    onChange();
  }

  // How the chosen column's values repeat, so whether it can serve as the key; the server counted.
  function showKeyUse() {
    const name = form.elements.column_key.value, use = preview?.columns.find((column) => column.name === name)?.use;
    const isAsked = preview && !$("columns").hidden;
    const code = use ? `data.key_is.${use.code}` : isAsked && !name && !preview.key ? "data.key_none" : "";
    $("key-use").hidden = !isAsked || !code;
    $("key-use").toggleAttribute("data-warning", Boolean(use) && !["repeats", "few", "rare"].includes(use.code));
    if (!code) return;
    speak($("key-use-why"), code, "say", use?.params ?? {});
    $("key-proposed").hidden = !name || name !== preview.key;
  }

  function mark() {
    showKeyUse();
    const roles = new Map();
    for (const column of COLUMNS) {
      const name = $("columns").hidden ? "" : form.elements[`column_${column}`].value;
      if (name) roles.set(name, [...(roles.get(name) ?? []), column]);
    }
    showPreview($("preview"), preview, roles);
    $("preview-bad").hidden = !preview?.bad;
    if (preview?.bad) speak($("preview-bad"), "data.bad", "say", { bad: preview.bad });
  }

  // -- a file ---------------------------------------------------------------------------------------------------------

  async function take(chosen) {
    if (!chosen) return;
    const limit = page.offer.upload_bytes_max;
    const label = { name: chosen.name, size: bytes(chosen.size), limit: bytes(limit) };
    fileError("");
    clearErrors($("data"));
    if (chosen.size > limit) return fileError(say("data.too_big", label));
    $("drop").hidden = true;
    $("uploading").hidden = false;
    speak($("uploading-name"), "data.uploading", "say", label);
    sending = upload(chosen, (part) => { $("upload-bar").value = part; });
    try {
      file = await sending.done;
      $("uploading").hidden = true;
      $("uploaded").hidden = false;
      $("uploaded-name").textContent = say("data.uploaded", { name: file.name, size: bytes(file.bytes) });
      settings.forget();
      show(file.preview);
    } catch (error) {
      again();
      if (error.message !== "abort") fileError(refusalWords(error, chosen.name));
    }
    $("upload-bar").value = 0;
    $("file").value = "";
    sending = null;
  }

  // What the server says at `file` is said of the file, which one among several on the disk only its name tells.
  function refusalWords(error, name) {
    if (!(error instanceof Refusal)) return say("data.upload_failed");
    const { file: reason } = error.fields;
    return reason ? say("data.refused", { name, reason: [reason].flat().join(" ") }) : reasonOf(error);
  }

  function again() {
    file = null;
    $("uploading").hidden = $("uploaded").hidden = true;
    $("drop").hidden = false;
    show(null);
  }

  function fileError(text) {
    $("preview-error").hidden = !text;
    $("preview-error").textContent = text;
  }

  const drop = $("drop");
  $("file").addEventListener("change", () => take($("file").files[0]));
  $("upload-stop").addEventListener("click", () => sending?.stop());
  $("upload-again").addEventListener("click", () => {
    again();
    $("file").focus();
  });
  for (const name of ["dragenter", "dragover"]) {
    drop.addEventListener(name, (event) => {
      event.preventDefault();
      drop.dataset.over = "";
    });
  }
  for (const name of ["dragleave", "drop"]) drop.addEventListener(name, () => delete drop.dataset.over);
  drop.addEventListener("drop", (event) => {
    event.preventDefault();
    take(event.dataTransfer.files[0]);
  });

  // -- the part of the request ----------------------------------------------------------------------------------------

  function read() {
    const { elements } = form, whole = (name) => (elements[name].value === "" ? null : Number(elements[name].value));
    switch (kind()) {
      case "flights":
        return { kind: "flights", key: elements.flights_key.value };
      case "lab":
        return { kind: "lab", lab: elements.source_lab.value, records: whole("lab_records") };
      case "zipf": {
        const source = {
          kind: elements.shape.value, keys: whole("keys"), records: whole("records"), seed: whole("seed"),
        };
        return source.kind === "zipf" ? { ...source, exponent: whole("exponent") } : source;
      }
      case "folder":
        return {
          kind: "folder", name: folder?.chosen()?.name ?? "", ...(folder?.topic() ? { topic: folder.topic() } : {}),
          ...written(), ...columns(),
        };
      default:
        return { kind: file?.kind ?? "csv", upload: file?.upload ?? "", ...written(), ...columns() };
    }
  }

  const written = () => (hasSettings(fileKind()) ? settings.read(fileKind()) : {});

  function columns() {
    if (!WITH_COLUMNS.includes(fileKind())) return {};
    const format = form.elements.time_format.value.trim();
    const named = COLUMNS.map((column) => [
      column, form.elements[`column_${column}`].value || (column === "key" ? "" : null),
    ]);
    if (format && form.elements.column_time.value) named.push(["time_format", format]);
    return Object.fromEntries(named);
  }

  const withoutColumns = (source) =>
    kind() === "file" || kind() === "folder"
      ? Object.fromEntries(Object.entries(source).filter(([name]) => ![...COLUMNS, "time_format"].includes(name)))
      : source;

  form.addEventListener("change", ({ target }) => {
    if (target.name === "kind" || target.name === "shape") showKind();
    else if (target.name === "time_format") return;
    else if (target.dataset.column) mark();
    else if (target.closest("#data") && target.type !== "file") refresh();
  });
  $("drop-hint").dataset.say = "data.drop_hint";
  speak($("drop-hint"), "data.drop_hint", "say", { size: bytes(page.offer.upload_bytes_max) });

  return {
    read, showKind,
    // What a study is called where nobody named it.
    title() {
      if (kind() === "file") return file?.name ?? "";
      if (kind() === "folder") return [folder?.chosen()?.name, folder?.topic()].filter(Boolean).join(say("list.comma"));
      if (kind() === "flights") {
        return [say("data.flights"), say(`key.${form.elements.flights_key.value}`)].join(say("list.comma"));
      }
      if (kind() === "lab") return `${say("data.lab_which")} ${form.elements.source_lab.value}`;
      return [say(`workload.${form.elements.shape.value}`), form.elements.keys.value].join(say("list.comma"));
    },
    // Fill in what an earlier study asked for; an upload that is gone is asked for again.
    fill(source) {
      const { elements } = form;
      const values = {
        flights: { flights_key: source.key }, lab: { source_lab: source.lab, lab_records: source.records },
      };
      const generated = {
        shape: source.kind, keys: source.keys, records: source.records, exponent: source.exponent, seed: source.seed,
      };
      const isGenerated = source.kind === "zipf" || source.kind === "uniform";
      const isFile = !isGenerated && !values[source.kind] && source.kind !== "folder";
      elements.kind.value = isGenerated ? "zipf" : isFile ? "file" : source.kind;
      for (const [name, value] of Object.entries(isGenerated ? generated : (values[source.kind] ?? {}))) {
        if (value !== undefined && value !== null) elements[name].value = value;
      }
      for (const column of COLUMNS) elements[`column_${column}`].dataset.wanted = source[column] ?? "";
      if (source.upload) {
        file = { upload: source.upload, kind: source.kind, name: source.file ?? source.upload };
        $("drop").hidden = true;
        $("uploaded").hidden = false;
        $("uploaded-name").textContent = file.name;
      }
      settings.forget();
      settings.fill(source.format ?? source.kind, source);
      elements.time_format.value = source.time_format ?? "";
      if (source.kind === "folder") folder?.reach(source.name, source.topic);
    },
  };
}
