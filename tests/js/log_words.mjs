// Reads {folder, words} from standard input and prints what the log page writes: for the test that holds it against
// log_presentation.py.
import { readFileSync } from "node:fs";

import { speaker } from "../../static/js/base/say.js";
import { choices, replicaWords } from "../../static/js/log/replica.js";
import { folderTable } from "../../static/js/log/tables.js";
import { behind, sub } from "../../static/js/log/words.js";

const { folder, words } = JSON.parse(readFileSync(0, "utf8"));
const { head, rows } = folderTable(folder, speaker(words));
process.stdout.write(
  JSON.stringify({
    choices: choices(folder, speaker(words)), replica: replicaWords(folder, speaker(words)),
    sub: sub(folder, speaker(words)), behind: behind(folder, speaker(words), words), table: { head, rows },
  }),
);
