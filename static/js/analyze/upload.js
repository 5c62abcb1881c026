// Sends a file with its progress; fetch tells nothing of a body on its way, so this is an XMLHttpRequest.

import { page } from "../base/chrome.js";
import { Refusal } from "../base/commands.js";
import { csrf } from "../base/requests.js";

// -> { done: promise of {upload, name, bytes, kind, preview}, stop() }
export function upload(file, onProgress) {
  const request = new XMLHttpRequest(), body = new FormData();
  body.append("file", file);
  const done = new Promise((resolve, reject) => {
    request.upload.addEventListener(
      "progress",
      (event) => event.lengthComputable && onProgress(event.loaded / event.total),
    );
    request.addEventListener("load", () => {
      const answer = parse(request.responseText);
      if (request.status === 201) resolve(answer);
      else reject(new Refusal(request.status, answer.fields ?? {}));
    });
    for (const name of ["error", "abort", "timeout"]) request.addEventListener(name, () => reject(new TypeError(name)));
  });
  request.open("POST", page.urls.uploads);
  for (const [name, value] of Object.entries({ ...csrf(), "Accept-Language": page.language })) {
    request.setRequestHeader(name, value);
  }
  request.send(body);
  return { done, stop: () => request.abort() };
}

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
