import assert from "node:assert/strict";
import test from "node:test";

import { addressOf, codeOf, pixels } from "../../../static/js/frame/embed_code.js";

test("a size is a whole number of pixels that a frame can have", () => {
  assert.deepEqual(["960", " 200 ", "4000"].map(pixels), [960, 200, 4000]);
  assert.deepEqual(["", "199", "4001", "12.5", "-300", "1e3", "100000"].map(pixels), Array(7).fill(null));
});

test("the address says what is asked for, and the moment behind #", () => {
  const base = "http://site.example/embed/lab/a/kafka/cluster/?lane=k";
  assert.equal(addressOf(base, { lang: "", theme: "" }), base);
  assert.equal(
    addressOf(base, { lang: "zh-hans", theme: "dark", frame: "" }, "#at_us=5&position=2"),
    `${base}&lang=zh-hans&theme=dark#at_us=5&position=2`,
  );
});

test("a lab's name is text in the code, whatever it holds", () => {
  const code = codeOf({ address: "http://a/?x=1&y=2", title: '"><script>&', width: 960, height: 640 });
  assert.equal(
    code,
    '<iframe src="http://a/?x=1&amp;y=2" title="&quot;&gt;&lt;script&gt;&amp;" width="960" height="640"'
    + ' style="border:0" loading="lazy" allowfullscreen></iframe>',
  );
});
