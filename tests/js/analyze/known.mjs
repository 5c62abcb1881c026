// What the tests of this folder share: the study of fixtures/study.json.gz, and what a chart is given.
import { load, say } from "../fixtures/load.mjs";

export const COLORS = {
  ink: "#1B2128", muted: "#57606A", rule: "#DCDFE3", panel: "#FFFFFF", outline: "#1B2128", font: "sans-serif",
  mono: "monospace", model: { pulsar: "#2F5FC4", kafka: "#B3470A", tubemq: "#00766C", rabbitmq: "#8B3A92" },
  identity: ["#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#F0E442"],
};
export const words = new Proxy(
  {},
  {
    get: (_, code) => (String(code).endsWith(".short") ? String(code).split(".").slice(1, 3).join(" ") : String(code)),
    has: () => true,
  },
);
export const study = () => load("study");
export const context = (more = {}) => {
  const result = study();
  return {
    result, order: result.ranking.map(({ id }) => id), picked: result.ranking[0].id, step: 2, say, words,
    colors: COLORS, width: 640, ...more,
  };
};
