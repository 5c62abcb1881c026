// Opening a segment of a real Kafka: files are dropped or picked, checked here before a byte is sent, and sent with
// their progress.

import { cookie } from "../base/commands.js";
import { number, percent } from "../base/say.js";
import { mebibytes, size } from "./format.js";

const KINDS = [".log", ".index", ".timeindex"];

// What is wrong with the files, as [code, params]; null: nothing.
export function fault(files, bytesMax) {
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  const hasKind = (name, kinds) => kinds.some((kind) => name.toLowerCase().endsWith(kind));
  const wrong = files.find(({ name }) => !hasKind(name, KINDS));
  if (wrong) return ["log.wrong_kind", { name: wrong.name }];
  const logs = files.filter(({ name }) => hasKind(name, [".log"]));
  if (!logs.length) return ["log.no_log", {}];
  const empty = logs.find((file) => !file.size);
  if (empty) return ["log.is_empty", { name: empty.name }];
  return bytes > bytesMax
    ? ["log.too_large", { bytes: number(bytes), most: number(bytesMax), limit: mebibytes(bytesMax) }]
    : null;
}

export function createUpload(dialog, { page, say, onLanguage }) {
  const $ = (id) => dialog.querySelector(`#${id}`);
  const input = $("file"), zone = $("drop"), words = $("upload-words"), bar = $("upload-bar");
  const error = $("upload-error"), send = $("upload");
  let files = [], problem = null, isSending = false;

  function show() {
    error.textContent = problem ? say(...problem) : "";
    error.hidden = !problem;
    if (!isSending) {
      words.textContent = files.length ? say("log.chosen", { count: files.length, size: size(total()) }) : "";
    }
    send.disabled = isSending || !files.length || Boolean(problem);
  }

  const total = () => files.reduce((sum, file) => sum + file.size, 0);

  function take(list) {
    files = [...list];
    problem = files.length ? fault(files, page.log.bytes_max) : null;
    bar.hidden = true;
    show();
  }

  function post() {
    const request = new XMLHttpRequest(), body = new FormData(), bytes = total();
    for (const file of files) body.append("file", file, file.name);
    request.open("POST", page.log.upload);
    request.setRequestHeader("X-CSRFToken", cookie("csrftoken") || page.csrf);
    request.upload.addEventListener("progress", ({ loaded, total: all }) => {
      const share = all ? loaded / all : 0;
      bar.value = share;
      words.textContent =
        share < 1 ? say("log.uploading", { percent: percent(share), size: size(bytes) }) : say("log.reading");
    });
    request.addEventListener("loadend", () => finish(request));
    [isSending, bar.hidden, bar.value] = [true, false, 0];
    show();
    request.send(body);
  }

  function finish(request) {
    isSending = false;
    const answer = read(request.responseText);
    if (request.status === 201) return location.assign(page.log.page.replace("{id}", answer.log));
    const reason = Object.values(answer.fields ?? {}).flat().join(" ");
    problem = reason
      ? ["log.refused", { reason }]
      : request.status
        ? ["log.refused_status", { status: request.status }]
        : ["notice.unreachable", {}];
    bar.hidden = true;
    show();
    send.disabled = false;
  }

  input.addEventListener("change", () => take(input.files));
  send.addEventListener("click", post);
  for (const kind of ["dragover", "dragleave", "drop"]) {
    dialog.addEventListener(kind, (event) => {
      event.preventDefault();
      zone.classList.toggle("over", kind === "dragover");
      if (kind === "drop" && event.dataTransfer.files.length) take(event.dataTransfer.files);
    });
  }
  onLanguage(show);
  return { take };
}

function read(text) {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
