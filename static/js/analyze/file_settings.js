// How a text file of rows is written. The server recognises it; a person may say otherwise.

const SPLIT = /[\s,，、]+/;

// What the fields say, as a source has it. values: name -> text or boolean, as the form holds them.
export function settingsOf(values) {
  const shared = {
    skip: values.skip === "" ? 0 : Number(values.skip), nulls: values.nulls.split(SPLIT).filter(Boolean),
    encoding: values.encoding,
  };
  if (values.key_value) return { key_separator: values.delimiter, ...shared };
  const { delimiter, header, comment, escape } = values;
  return { delimiter, header, comment: comment.trim(), escape, ...shared };
}

// The same the other way round: what the server recognised, or an earlier study had.
export function valuesOf(settings) {
  return {
    delimiter: settings.key_separator || settings.delimiter || ",", key_value: Boolean(settings.key_separator),
    header: settings.header ?? false, skip: String(settings.skip ?? 0), comment: settings.comment ?? "",
    escape: settings.escape ?? "", nulls: (settings.nulls ?? []).join(" "), encoding: settings.encoding ?? "utf-8",
  };
}

const NAMES = ["delimiter", "key_value", "header", "skip", "comment", "escape", "nulls", "encoding"];

export function createFileSettings(form) {
  let isFilled = false;
  const { elements } = form, holds = (name) => (elements[name].type === "checkbox" ? "checked" : "value");

  function show() {
    for (const field of form.querySelectorAll("[data-not-key-value]")) field.hidden = elements.key_value.checked;
  }

  form.addEventListener("change", ({ target }) => { if (target.name === "key_value") show(); });
  return {
    // Nothing for a file that nobody has looked at yet: the server recognises it.
    read() {
      if (!isFilled) return {};
      return settingsOf(Object.fromEntries(NAMES.map((name) => [name, elements[name][holds(name)]])));
    },
    fill(settings) {
      if (isFilled || !settings || settings.nulls === undefined) return;
      isFilled = true;
      const values = valuesOf(settings), known = [...elements.delimiter.options].map(({ value }) => value);
      if (!known.includes(values.delimiter)) elements.delimiter.add(new Option(values.delimiter, values.delimiter));
      for (const name of NAMES) elements[name][holds(name)] = values[name];
      show();
    },
    forget() { isFilled = false; },
  };
}
