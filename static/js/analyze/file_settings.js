// How a text file of rows is written. The server recognises it; a person may say otherwise.

const SPLIT = /[\s,，、]+/, OTHER = "other";
const NAMES = {
  csv: ["delimiter", "key_value", "header", "skip", "comment", "escape", "nulls", "encoding"],
  jsonl: ["layout", "encoding"],
};
const CHARACTERS = ["delimiter", "escape"];

// The kinds of files that have settings.
export const hasSettings = (kind) => kind in NAMES;

// What the fields say, as a source of the kind has it. values: name -> text or boolean, as the form holds them.
export function settingsOf(kind, values) {
  const { encoding } = values;
  if (kind === "jsonl") return { layout: values.layout, encoding };
  const shared = {
    skip: values.skip === "" ? 0 : Number(values.skip), nulls: values.nulls.split(SPLIT).filter(Boolean), encoding,
  };
  if (values.key_value) return { key_separator: values.delimiter, ...shared };
  const { delimiter, header, comment, escape } = values;
  return { delimiter, header, comment: comment.trim(), escape, ...shared };
}

// The same the other way round: what the server recognised, or an earlier study had.
export function valuesOf(kind, settings) {
  const encoding = settings.encoding ?? "utf-8";
  if (kind === "jsonl") return { layout: settings.layout ?? "lines", encoding };
  return {
    delimiter: settings.key_separator || settings.delimiter || ",", key_value: Boolean(settings.key_separator),
    header: settings.header ?? false, skip: String(settings.skip ?? 0), comment: settings.comment ?? "",
    escape: settings.escape ?? "", nulls: (settings.nulls ?? []).join(" "), encoding,
  };
}

export function createFileSettings(form) {
  let filled = null;
  const { elements } = form, holds = (name) => (elements[name].type === "checkbox" ? "checked" : "value");

  function show(kind) {
    for (const field of form.querySelectorAll("#file-options [data-for]")) field.hidden = field.dataset.for !== kind;
    if (kind !== "csv") return;
    for (const field of form.querySelectorAll("[data-not-key-value]")) field.hidden = elements.key_value.checked;
    for (const field of form.querySelectorAll("[data-other]")) {
      const { other } = field.dataset;
      field.hidden = elements[other].value !== OTHER || (other === "escape" && elements.key_value.checked);
    }
  }

  function valueOf(name) {
    const value = elements[name][holds(name)];
    return CHARACTERS.includes(name) && value === OTHER ? elements[`${name}_other`].value : value;
  }

  function put(name, value) {
    if (CHARACTERS.includes(name) && ![...elements[name].options].some((option) => option.value === value)) {
      elements[`${name}_other`].value = value;
      elements[name].value = OTHER;
    } else elements[name][holds(name)] = value;
  }

  form.addEventListener("change", ({ target }) => { if (NAMES.csv.includes(target.name)) show(filled); });
  return {
    // Nothing for a file that nobody has looked at yet: the server recognises it.
    read: (kind) =>
      filled === kind ? settingsOf(kind, Object.fromEntries(NAMES[kind].map((name) => [name, valueOf(name)]))) : {},
    fill(kind, settings) {
      if (filled === kind || !hasSettings(kind) || settings?.encoding === undefined) return;
      filled = kind;
      for (const [name, value] of Object.entries(valuesOf(kind, settings))) put(name, value);
      show(kind);
    },
    forget() { filled = null; },
    // Whether there are fields to show: also while what they say cannot be read.
    isFilled: (kind) => hasSettings(kind) && filled === kind,
  };
}
