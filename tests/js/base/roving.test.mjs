// One tab stop for a whole picture: where it stands.
import assert from "node:assert/strict";
import test from "node:test";

import { entry } from "../../../static/js/base/roving.js";

const part = (name, pressed = null) => ({ name, hasAttribute: () => pressed !== null, getAttribute: () => pressed });

test("Tab enters at what is chosen, else at the first that can be chosen, of messages at the newest", () => {
  assert.equal(entry([part("a", "false"), part("b", "true"), part("c", "false")]).name, "b");
  assert.equal(entry([part("a", "false"), part("b", "false")]).name, "a");
  assert.equal(entry([part("a"), part("b")]).name, "b");
  assert.equal(entry([]), undefined);
});
