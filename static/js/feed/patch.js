// RFC 6902, as far as the server uses it: add, remove and replace. Changes the document in place and gives it back; an
// operation that does not fit throws, and the caller asks for a snapshot.

export function applyPatch(document, operations) {
  for (const operation of operations) document = applyOne(document, operation);
  return document;
}

function applyOne(document, { op, path, value }) {
  if (op !== "add" && op !== "remove" && op !== "replace") throw new Error(`unknown operation ${op}`);
  if (path === "") {
    if (op === "remove") throw new Error("cannot remove the whole document");
    return value;
  }
  if (path[0] !== "/") throw new Error(`not a pointer: ${path}`);
  const keys = path.slice(1).split("/");
  if (path.includes("~")) {
    keys.forEach((part, index) => {
      keys[index] = part.replaceAll("~1", "/").replaceAll("~0", "~");
    });
  }
  const last = keys.pop();
  let holder = document;
  for (const key of keys) {
    if (!has(holder, key)) throw new Error(`nothing at ${path}`);
    holder = holder[key];
  }
  if (Array.isArray(holder)) changeList(holder, op, last, value, path);
  else changeObject(holder, op, last, value, path);
  return document;
}

function changeList(list, op, key, value, path) {
  const index = key === "-" && op === "add" ? list.length : Number(key);
  const end = op === "add" ? list.length : list.length - 1;
  if (!/^(0|[1-9]\d*|-)$/.test(key) || !(index <= end)) throw new Error(`nothing at ${path}`);
  if (op === "add") list.splice(index, 0, value);
  else if (op === "remove") list.splice(index, 1);
  else list[index] = value;
}

function changeObject(holder, op, key, value, path) {
  if (holder === null || typeof holder !== "object" || (op !== "add" && !has(holder, key))) {
    throw new Error(`nothing at ${path}`);
  }
  if (op === "remove") delete holder[key];
  else if (key === "__proto__") {
    Object.defineProperty(holder, key, { value, writable: true, enumerable: true, configurable: true });
  } else holder[key] = value;
}

function has(holder, key) {
  return holder !== null && typeof holder === "object" && Object.hasOwn(holder, key);
}
