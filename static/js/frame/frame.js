// What stands around every page of a lab: its bar with the name, the story above the page, the bar of time below it.

import { page } from "../base/chrome.js";
import { bindKeys } from "../base/keys.js";
import { refusalOf } from "../base/reasons.js";
import { createTransport } from "../lane/transport.js";
import { placeOf } from "../lesson/frames.js";
import { createGuide } from "../lesson/guide.js";
import { createRoom } from "../room/room.js";
import { createTakeMenus } from "../take/menu.js";
import { aboutLab } from "./about.js";
import { createBand } from "./band.js";
import { createCapsule } from "./capsule.js";
import { createEmbed } from "./embed.js";
import { createEventList } from "./event_list.js";
import { createHeld } from "./held.js";
import { createLabBar } from "./lab_bar.js";
import { createLaneTabs } from "./lane_tabs.js";
import { createAsk } from "./lesson_ask.js";
import { createMarking } from "./marking.js";
import { takeOver } from "./own.js";
import { createPredict } from "./predict.js";
import { createProjector } from "./projector.js";
import { createRoomAsk } from "./room_ask.js";
import { createRoomTask } from "./room_task.js";
import { keepMoment } from "./tab_moment.js";

const NOTHING = { read: () => ({}), show: () => {} };

// current(), send(near, order), redraw(), notice, past: as createTransport has them. lane: the page's own, null where
// it is about all. own(say): what the page adds to the story, as storyOf has it. link: what is chosen on the page, as
// createTransport has it.
export function createFrame({
  current, send, redraw, notice, past, lane = null, own = () => null, link = NOTHING, thingAt = null,
}) {
  const marking = createMarking({ current, past, thingAt });
  const room = createRoom({
    notice, past, changed: () => { drawRoom(); guide?.draw(); },
    link: {
      read: () => ({ ...link.read(), large: projector.shown() }),
      show({ large, ...chosen }) {
        link.show(chosen);
        projector.follow(large);
      },
    },
  });
  const roomAsk = createRoomAsk({
    room, current, send, notice, past, marking, goNext: () => guide?.goNext() ?? false,
  });
  const roomTask = createRoomTask({ room, current, notice });
  function drawRoom() {
    roomAsk.draw();
    roomTask.draw();
  }
  const question = document.getElementById("lesson-ask")
    && createAsk({ past, current, marking, roomAsk, changed: () => guide?.draw() });
  const guide = createGuide({ send, current, past, lane, question, slides: room.slides });
  const bar = createLabBar({ notice, onNamed: () => transport.reload() });
  const events = createEventList({ current, past });
  const transport = createTransport({
    send, current, redraw, notice, past, link, guide, rename: bar.open, onEvents: events.hear,
  });
  const band = createBand({ current, lane, own }), now = () => past.now() ?? current();
  const capsule = page.player ? null : createCapsule({
    lane, until: () => Math.max(now().at_us, now().lesson?.lasts_us ?? 0),
  });
  const embedding = document.getElementById("embed-dialog");
  const embed = embedding && createEmbed(embedding, {
    notice,
    title: () => document.getElementById("lab-name").textContent,
    moment: () => (past.isShown() ? past.place() : { at_us: current().at_us }),
    frame: () => placeOf(current()).number,
    shown: link.read,
  });
  createTakeMenus({
    root: document.getElementById("main"), onFail: notice,
    about: (panel) => aboutLab(panel, current(), transport.hash()),
    ...(capsule && {
      events: () => `${page.urls.events}?until_us=${current().at_us}`,
      run: () => `${page.urls.run}${past.isShown() ? `?${new URLSearchParams(past.moment())}` : ""}`,
      capsule: capsule.open,
    }),
    ...(embed && { embed: embed.open }),
  });
  const projector = createProjector({ current, lane, changed: () => held.tell() }), tabs = createLaneTabs({ current });
  const held = createHeld({ past, current, projector });
  keepMoment({ past });
  takeOver((error) => notice(refusalOf(error), { near: document.getElementById("lab-name") }));
  function draw(isForced) {
    band.draw();
    tabs.draw();
    projector.draw(isForced);
    marking.write();
    events.draw();
    guide?.draw();
    drawRoom();
    transport.draw(isForced);
    held.tell();
  }
  const predict = createPredict({ current, send, past, lane, marking, roomAsk });
  bindKeys([
    ...(document.getElementById("predict").hidden ? [] : [{ keys: ["q"], says: "predict", act: predict.open }]),
    { keys: ["i"], says: "events.title", act: events.toggle },
  ]);
  return { draw, step: transport.step };
}
