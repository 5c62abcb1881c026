// What may import what in static/js: a page's folder asks the shared ones, never another page's, and nothing imports
// itself in a circle.
import assert from "node:assert/strict";
import { existsSync, readFileSync, readdirSync } from "node:fs";
import { posix } from "node:path";
import test from "node:test";

const ROOT = new URL("../../static/js/", import.meta.url);
const IMPORT = /^(?:import|export)\s(?:[^"]*?\sfrom\s)?"([^"]+)"|\bimport\("([^"]+)"\)/gm;
// What pages share, each only from those before it.
const SHARED = ["base", "feed", "drawing", "take", "lane", "lesson", "room", "frame", "why"];

const read = (name) => readFileSync(new URL(name, ROOT), "utf8");
const modules = readdirSync(ROOT, { recursive: true }).filter((name) => name.endsWith(".js")).sort();
const importsOf = (name, text) =>
  [...text.matchAll(IMPORT)].map(([, address, late]) => posix.join(posix.dirname(name), address ?? late));
// A library that is vendored is no module of ours.
const isVendored = (name) => name.startsWith("../vendor/");
const graph = new Map(modules.map((name) => [name, importsOf(name, read(name)).filter((other) => !isVendored(other))]));

// The modules of a circle, the first one again at its end; null without one.
function circleIn(edges) {
  const done = new Set();
  const walk = (name, way) => {
    if (way.includes(name)) return [...way.slice(way.indexOf(name)), name];
    if (done.has(name)) return null;
    for (const next of edges.get(name) ?? []) {
      const found = walk(next, [...way, name]);
      if (found) return found;
    }
    done.add(name);
    return null;
  };
  for (const name of edges.keys()) {
    const found = walk(name, []);
    if (found) return found;
  }
  return null;
}

// Why a module of one folder may not import one of another; "" where it may.
function wrongOf(from, to) {
  const [here, there] = [from, to].map((name) => name.split("/")[0]);
  if (here === there) return "";
  if (!SHARED.includes(there)) return `${from} imports ${to}, which is another page's`;
  const isBefore = !SHARED.includes(here) || SHARED.indexOf(there) < SHARED.indexOf(here);
  return isBefore ? "" : `${from} imports ${to}, which is for those above it`;
}

test("every module that is imported is there", () => {
  assert.ok(modules.length > 100);
  for (const [name, imported] of graph) {
    for (const other of imported) assert.ok(existsSync(new URL(other, ROOT)), `${name}: ${other}`);
  }
});

test("a vendored library is there, with its licence", () => {
  const libraries = modules.flatMap((name) => importsOf(name, read(name)).filter(isVendored));
  assert.ok(libraries.length);
  for (const name of libraries) {
    const licence = posix.join(posix.dirname(name), "LICENSE");
    for (const other of [name, licence]) assert.ok(existsSync(new URL(other, ROOT)), other);
  }
});

test("modules import one another in no circle", () => assert.equal(circleIn(graph), null));

test("a circle is found, however it is written", () => {
  const texts = {
    "a/one.js": 'import { x } from "./two.js";', "a/two.js": 'import {\n  y,\n  z,\n} from "../b/three.js";',
    "b/three.js": 'export * from "../a/one.js";',
  };
  const edges = new Map(Object.entries(texts).map(([name, text]) => [name, importsOf(name, text)]));
  assert.deepEqual(circleIn(edges), ["a/one.js", "a/two.js", "b/three.js", "a/one.js"]);
  assert.deepEqual(importsOf("a/one.js", 'const { x } = await import("../b/x.js");\nimport "./y.js";'), [
    "b/x.js", "a/y.js",
  ]);
});

test("a page's modules import its own and those that pages share, which import none of a page's", () => {
  assert.deepEqual(
    [...graph].flatMap(([name, imported]) => imported.map((other) => wrongOf(name, other)).filter(Boolean)),
    [],
  );
});

test("another page's module is refused, and a shared one that builds on what is above it", () => {
  assert.match(wrongOf("groups/page.js", "cluster/verbs.js"), /another page's/);
  assert.match(wrongOf("base/say.js", "lane/name.js"), /above it/);
  assert.equal(wrongOf("groups/page.js", "lane/name.js"), "");
});

// Names of other modules that this text calls and neither imports nor declares: what is imported or given to a function
// stands somewhere without a call.
function strangersIn(text) {
  const code = text.replace(/^\s*\/\/.*$|\s\/\/ .*$/gm, "");
  return EXPORTED.filter((name) => {
    const all = [...code.matchAll(new RegExp(`(?<![.\\w$])${name}\\b(\\()?`, "g"))];
    if (!all.length || all.some(([, isCall]) => !isCall)) return false;
    return !new RegExp(`function ${name}\\(|^ *(?:async )?${name}\\([^()]*\\) \\{$`, "m").test(code);
  });
}

const EXPORT = /^export (?:async )?(?:function|const|class) (\w+)/gm;
const EXPORTED = [...new Set(modules.flatMap((name) => [...read(name).matchAll(EXPORT)].map(([, own]) => own)))];

test("a module imports what it calls of another", () => {
  assert.deepEqual(modules.flatMap((name) => strangersIn(read(name)).map((other) => `${name} calls ${other}`)), []);
});

test("a call without its import is found, one of a function's own or of a parameter is none", () => {
  assert.deepEqual(strangersIn("// fillCells is of dom.js\nrows.forEach((row) => fillCells(row));"), ["fillCells"]);
  assert.deepEqual(strangersIn('import { fillCells } from "./dom.js";\nfillCells(row);'), []);
  assert.deepEqual(strangersIn("function fillCells(row) {}\nfillCells(row);"), []);
  assert.deepEqual(strangersIn("const act = ({ fillCells }) => fillCells(1);\ntable.fillCells(2);"), []);
});

// Where a page or the server begins.
const TEMPLATES = new URL("../../templates/", import.meta.url);
const LOADED = /\{% static 'js\/([\w/]+\.js)' %\}/g;
const SCRIPTS = readFileSync(new URL("../../dashboard/page_scripts.py", import.meta.url), "utf8");
const SERVED = [.../^_MODULES = \((.*)\)$/m.exec(SCRIPTS)[1].matchAll(/"([\w/]+)"/g)].map(([, name]) => `${name}.js`);
// What a capsule begins with.
const SHELL = readFileSync(new URL("../../dashboard/labs/capsules/shell.py", import.meta.url), "utf8");
const NOTEBOOK = ["notebook/widget.js"];                 // dashboard/notebook/widget.py gives it to Jupyter
const CAPSULE = [...SHELL.matchAll(/"(?:js\/)?(player\/\w+)(?:\.js)?"/g)].map(([, name]) => `${name}.js`);
const loaded = readdirSync(TEMPLATES, { recursive: true })
  .filter((name) => name.endsWith(".html"))
  .flatMap((name) => [...readFileSync(new URL(name, TEMPLATES), "utf8").matchAll(LOADED)].map(([, script]) => script));

test("every module is on the way from a script that a template loads", () => {
  const reached = new Set(), next = [...loaded, ...SERVED, ...CAPSULE, ...NOTEBOOK];
  assert.ok(loaded.length > 10);
  assert.ok(SERVED.includes("stage/present.js"));
  while (next.length) {
    const name = next.pop();
    if (reached.has(name)) continue;
    assert.ok(graph.has(name), `${name} is not there`);
    reached.add(name);
    next.push(...graph.get(name));
  }
  assert.deepEqual(modules.filter((name) => !reached.has(name)), []);
});

test("no module stands outside a folder", () => assert.deepEqual(modules.filter((name) => !name.includes("/")), []));

// -- the shape of a file ----------------------------------------------------------------------------------------------

const COLUMNS_MAX = 120, LINES_MAX = 450;
const TESTS = new URL("./", import.meta.url);
const tests = readdirSync(TESTS, { recursive: true }).filter((name) => name.endsWith(".mjs"));
const files = [...modules.map((name) => new URL(name, ROOT)), ...tests.map((name) => new URL(name, TESTS))];
const linesOf = (file) => readFileSync(file, "utf8").trimEnd().split("\n");

test("no module and no file of tests is longer than 450 lines", () => {
  const long = files.filter((file) => linesOf(file).length > LINES_MAX).map(({ pathname }) => pathname);
  assert.deepEqual(long, []);
});

test("no line of a module or of its tests is wider than 120 columns", () => {
  const wide = files.flatMap((file) =>
    linesOf(file).flatMap((line, place) => ([...line].length > COLUMNS_MAX ? [`${file.pathname}:${place + 1}`] : [])),
  );
  assert.deepEqual(wide, []);
});
