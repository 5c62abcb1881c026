// The lab's websocket: brings frames, acknowledges what has been drawn, asks for a snapshot again after 2 s, and comes
// back on its own.

const ASK_AGAIN_MS = 2000, RETRY_MS = [250, 500, 1000, 2000, 4000];
// too many sockets of this network, or in all: it opens again when there may be room
const NO_ROOM = 4430, ROOM_MS = 30_000;
const OVER = 4410;                        // the room is over: nothing will come again
const GONE = 4404, GONE_MS = 5000;        // the lab is deleted; its owner can restore it

export function openSocket(url, { onMessage, onState }) {
  let socket = null, tries = 0, asking = 0, acknowledged = -1, waiting = 0;

  function connect() {
    clearTimeout(waiting);
    waiting = 0;
    socket = new WebSocket(url);
    socket.addEventListener("open", () => {
      tries = 0;
      acknowledged = -1;
      onState("open");
    });
    socket.addEventListener("message", (event) => onMessage(JSON.parse(event.data)));
    socket.addEventListener("close", ({ code }) => {
      onState({ [NO_ROOM]: "full", [GONE]: "gone", [OVER]: "over" }[code] ?? "closed");
      if (code === OVER) return;
      clearTimeout(asking);
      waiting = setTimeout(
        connect,
        code === NO_ROOM ? ROOM_MS : code === GONE ? GONE_MS : RETRY_MS[Math.min(tries, RETRY_MS.length - 1)],
      );
      tries += 1;
    });
  }

  const send = (message) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(message));
  };

  connect();
  addEventListener("online", () => waiting && connect());
  return {
    acknowledge(seq) {
      if (seq > acknowledged) send({ type: "ack", seq });
      acknowledged = seq;
    },
    askSnapshot(unanswered) {
      send({ type: "snapshot" });
      clearTimeout(asking);
      asking = setTimeout(unanswered, ASK_AGAIN_MS);
    },
    say: send,
    drop() { socket.close(); },                       // it comes back on its own, as after any loss
  };
}
