// Reads {view, words} from standard input and prints what present.js says in Node: for the test of the engine that the
// server runs it in.
import { readFileSync } from "node:fs";

import { present } from "../../static/js/stage/present.js";

const { view, words } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(JSON.stringify(present(view, words)));
