// A writer for an element's text that touches the document only when the text is another one.

export function textOnce(element) {
  let old = element.textContent;
  return (text) => {
    if (text === old || text === undefined) return;
    old = text;
    element.textContent = text;
  };
}
