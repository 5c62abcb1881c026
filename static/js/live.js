// One gap-free stream of frames, whatever the network does. Snapshots exist only at frame boundaries.
// A snapshot of an older epoch was written by a worker that has since lost the lab; so was a frame.

export function createLive({ applyPatch, requestSnapshot, onChange }) {
  let view = null, seq = -1, epoch = -1, asked = false;
  return function receive(message) {
    const from = message.epoch ?? 0;
    if (from < epoch) return;
    if (message.type === "snapshot") {
      if (from === epoch && message.seq < seq) return;
      ({ view, seq } = message);
      epoch = from;
      asked = false;
      onChange(view, seq, []);
    } else if (message.from_seq === seq && view !== null) {
      [view, seq] = [applyPatch(view, message.patch), message.seq];
      epoch = from;
      onChange(view, seq, message.events ?? []);
    } else if (message.seq > seq && !asked) {
      asked = true;                         // the answer includes what was missed; the socket asks again after 2 s
      requestSnapshot(() => { asked = false; });
    }                                       // else: it is in the snapshot already
  };
}
