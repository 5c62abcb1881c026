// "1 000", "1,000" and a typographic minus are what people type.
export const plainNumber = (text) => text.replace(/[\s,\u2009\u202f]/g, "").replace("\u2212", "-");
