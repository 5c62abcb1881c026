// Reads {result, ranking, verdict, feasibility, words} from standard input and prints what analyze/result.js says: for
// the test that holds it against study_presentation.py.
import { readFileSync } from "node:fs";

import { feasibleWords } from "../../static/js/analyze/advice.js";
import { head, rankingRows, shortNames, suitsWords, unowned, verdictWords } from "../../static/js/analyze/result.js";

const { result, ranking, verdict, feasibility, words } = JSON.parse(readFileSync(0, "utf8"));
process.stdout.write(
  JSON.stringify({
    head: head(result, ranking, words), rows: rankingRows(result, ranking, words),
    short: Object.fromEntries(shortNames(result.strategies, words)), unowned: unowned(result, words),
    suits: result.strategies.map((each) => suitsWords(each, result.steps, words)),
    sure: verdictWords(result, verdict, words), feasible: feasibleWords(feasibility, words),
  }),
);
