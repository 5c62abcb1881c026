// What the tests of this folder share: views of fixtures/log.json.gz, and how they are drawn and checked.
import { load } from "../fixtures/load.mjs";

export const WORDS = { second: "s", minute: "min", "log.hour": "h", "log.day": "d" };

export const byId = (shapes, id) => shapes.find((shape) => shape.id === id);
export const { folder, lookups, clean, article, walks, far } = load("log");
export const all = { ...lookups, ...walks };
