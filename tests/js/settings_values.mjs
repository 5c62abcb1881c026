// What the browser would send of the controls that come in as JSON, for tests of the server.

import { readFileSync } from "node:fs";

import { valueOf } from "../../static/js/settings/read.js";

const controls = JSON.parse(readFileSync(0, "utf-8"));
process.stdout.write(JSON.stringify(controls.map((control) => valueOf(control) ?? null)));
