// One batch: its position, its bytes and fields, its records, and the way to its neighbours.

import { writeTable } from "../base/table.js";
import { tellBelow } from "./below.js";
import { createHex } from "./hex.js";
import { recordsTable } from "./tables.js";

const PHONE = "(max-width: 640px)";

export function createBatchView({ say, speak, onOpen }) {
  const $ = (id) => document.getElementById(id), writeHex = createHex($("hex"), $("fields"));
  let batch = null;

  const rest = (code, count) => (count ? say(code, { count }) : "");
  const below = [
    tellBelow($("hex").closest("[data-scroll]"), () => [...$("hex").rows], (rows) => {
      const bytes = rows.reduce((sum, row) => sum + row.cells.length - 1, 0);
      $("batch-more").textContent = [rest("log.bytes_below", bytes), rest("log.more_bytes", batch.truncated)]
        .filter(Boolean)
        .join(say("list.comma"));
    }),
    tellBelow($("fields"), () => [...$("fields").querySelectorAll("[data-field]")], (items) => {
      $("fields-more").textContent = rest("log.fields_below", items.length);
    }),
  ];

  function draw() {
    $("batch").hidden = !batch;
    $("batch-wait").hidden = Boolean(batch);
    for (const way of ["previous", "next"]) $(`batch-${way}`).setAttribute("aria-disabled", String(!batch?.[way]));
    if (!batch) {
      $("batch-where").textContent = "";
      return speak($("batch-title"), "log.batch_none");
    }
    speak($("batch-title"), "log.batch", "say", { bytes: batch.bytes });
    $("batch-where").textContent = say("log.batch_where", { segment: batch.segment, position: batch.position });
    writeHex(batch, { columns: matchMedia(PHONE).matches ? 8 : 16, say });
    for (const update of below) update();
    $("batch-problem").textContent = batch.problem ? say("log.problem", { reason: batch.problem }) : "";
    $("records-left").textContent = batch.records_left ? say("log.records_left", { count: batch.records_left }) : "";
    writeTable($("records"), recordsTable(batch, say), say("log.records"));
    $("batch").dataset.seq = batch.position;
  }

  for (const way of ["previous", "next"]) {
    $(`batch-${way}`).addEventListener("click", () => batch?.[way] && onOpen(batch[way]));
  }
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

