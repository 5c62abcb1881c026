// One batch: where it lies, its bytes and fields, its records, and the way to its neighbours.

import { createHex } from "./hex.js";
import { recordsTable, writeTable } from "./tables.js";

const PHONE = "(max-width: 640px)";

export function createBatchView({ say, speak, onOpen }) {
  const $ = (id) => document.getElementById(id), writeHex = createHex($("hex"), $("fields"));
  let batch = null;

  function draw() {
    $("batch").hidden = !batch;
    $("batch-wait").hidden = Boolean(batch);
    for (const way of ["previous", "next"]) $(`batch-${way}`).disabled = !batch?.[way];
    if (!batch) return speak($("batch-title"), "log.batch_none");
    speak($("batch-title"), "log.batch", "say", { bytes: batch.bytes });
    $("batch-where").textContent = say("log.batch_where", { segment: batch.segment, position: batch.position });
    writeHex(batch, { columns: matchMedia(PHONE).matches ? 8 : 16, say });
    $("batch-more").textContent = batch.truncated ? say("log.more_bytes", { count: batch.truncated }) : "";
    $("batch-problem").textContent = batch.problem ? say("log.problem", { reason: batch.problem }) : "";
    $("records-left").textContent = batch.records_left ? say("log.records_left", { count: batch.records_left }) : "";
    writeTable($("records"), recordsTable(batch, say), say("log.records"));
    $("batch").dataset.seq = batch.position;
  }

  $("batch-previous").addEventListener("click", () => onOpen(batch.previous));
  $("batch-next").addEventListener("click", () => onOpen(batch.next));
  matchMedia(PHONE).addEventListener("change", draw);
  return {
    show(newBatch) {
      batch = newBatch;
      draw();
    },
    redraw: draw,
    firstTimestamp: () => batch?.records[0]?.timestamp ?? null,
  };
}

