// Ids of strategies from what is typed beside a family, and back.

// "10, 100" -> ["10", "100"]
export const numbers = (text) => text.split(/[,，;\s]+/).filter(Boolean);

// The ids that a family with these texts means: every combination of its parameters' numbers.
export function combinations(family, texts) {
  let ids = [[]];
  for (const { name } of family.params) {
    ids = ids.flatMap((id) =>
      (numbers(texts[name]).length ? numbers(texts[name]) : ["-"]).map((value) => [...id, `${name}=${value}`]),
    );
  }
  return ids.map((parts) => `${family.model}.${family.algorithm}${parts.length ? `:${parts.join(",")}` : ""}`);
}

// The family's parameters whose text holds anything but whole numbers from min to max, or none.
export const wrongParams = ({ params }, texts) => params.filter(({ name, min, max }) => {
  const given = numbers(texts[name]);
  return !given.length || !given.every((value) => /^\d+$/.test(value) && Number(value) >= min && Number(value) <= max);
});

// "kafka.range:partitions=24" -> { family: "kafka.range", params: {partitions: "24"} }
export function parse(id) {
  const [family, rest = ""] = id.split(":");
  return { family, params: Object.fromEntries(rest.split(",").filter(Boolean).map((part) => part.split("="))) };
}

// What a family is called in the form: as on the Stage, where it is an algorithm of a lane under a name of its own. The
// server's range is called Range there, too.
export function nameCode({ model, algorithm }) {
  const isOwn = model !== "rabbitmq" && !/^(server_|static_|keyless$)|_unnamed$/.test(algorithm);
  return isOwn ? `${model}.${algorithm}` : `strategy.${model}.${algorithm}.short`;
}
