// One gap-free stream of frames, whatever the network does. Snapshots exist only at frame boundaries.
// A snapshot of an older epoch was written by a worker that has since lost the lab; so was a frame.

// start: {epoch, seq, view} that the page was drawn with, so that nothing older is taken. Without it the first snapshot
// counts. acknowledge(seq): of what is shown, and of what is passed over because it is older: else the server would
// wait for it. onChange(view, seq, events, isWhole, epoch): isWhole: frames may have been missed, and their events
// with them.
export function createLive({
  applyPatch, requestSnapshot, onChange, acknowledge, start = { epoch: -1, seq: -1, view: null },
}) {
  let { epoch, seq, view } = start, asked = false;
  return function receive(message) {
    const from = message.epoch ?? 0;
    if (from < epoch) return;
    if (message.type === "snapshot") {
      if (from === epoch && message.seq < seq) return acknowledge(message.seq);
      ({ view, seq } = message);
      epoch = from;
      asked = false;
      onChange(view, seq, [], true, epoch);
      acknowledge(seq);
    } else if (message.from_seq === seq && view !== null) {
      [view, seq] = [applyPatch(view, message.patch), message.seq];
      epoch = from;
      onChange(view, seq, message.events ?? [], false, epoch);
      acknowledge(seq);
    } else if (message.seq <= seq) {
      acknowledge(message.seq); // it is in the snapshot already
    } else if (!asked) {
      asked = true; // the answer includes what was missed; the socket asks again after 2 s
      requestSnapshot(() => {
        asked = false;
      });
    }
  };
}
