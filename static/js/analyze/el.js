// An element with its attributes and children, for what a script adds to a page. `say`: the code of its words, which
// change with the language; on…: a listener; everything else is an attribute, left out when it is null or false.

import { speak } from "../base/chrome.js";

export function el(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "say") speak(element, value);
    else if (name === "sayLabel") speak(element, value, "sayLabel");
    else if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "class") element.className = value;
    else if (name === "value" && tag === "input") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null));
  return element;
}
