// A lesson's text in a link: packed behind the #, so that no server sees or keeps it.

const BEGIN = "text=", LINK_MAX = 16_000;

// The fragment of a link, or null where the text does not fit into one.
export async function packed(text) {
  const bytes = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(text), Infinity);
  let signs = "";
  for (const byte of bytes) signs += String.fromCharCode(byte);
  const fragment = BEGIN + btoa(signs).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  return fragment.length <= LINK_MAX ? fragment : null;
}

// The text of such a fragment; undefined where it has none, null where it is damaged or would hold more than max bytes.
export async function unpacked(fragment, max) {
  if (!fragment.startsWith(BEGIN)) return undefined;
  if (fragment.length > LINK_MAX) return null;
  try {
    const signs = atob(fragment.slice(BEGIN.length).replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(signs, (sign) => sign.charCodeAt(0));
    const text = await through(new DecompressionStream("deflate-raw"), bytes, max);
    return new TextDecoder("utf-8", { fatal: true }).decode(text);
  } catch {
    return null;
  }
}

// All that comes out; a stream that gives more than max bytes is left there.
async function through(stream, bytes, max) {
  const writer = stream.writable.getWriter(), reader = stream.readable.getReader();
  writer.write(bytes).then(() => writer.close()).catch(() => {});             // the reader hears of it
  const parts = [];
  let size = 0;
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > max) {
      await reader.cancel();
      throw new RangeError("too long");
    }
    parts.push(value);
  }
  const all = new Uint8Array(size);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
