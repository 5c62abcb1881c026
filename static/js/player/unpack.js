// Opens a capsule: unpacks its page, puts style and data in their places, then runs its modules. It stands in the file
// as it is here, before anything else is there.

(async () => {
  const unpacked = async (name) => {
    const bytes = Uint8Array.from(atob(document.getElementById(`packed-${name}`).textContent.trim()),
      (letter) => letter.charCodeAt(0));
    const plain = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(plain).text());
  };
  const put = (tag, given) => document.head.append(Object.assign(document.createElement(tag), given));
  try {
    const { page, catalogue, style, script } = await unpacked("page");
    put("style", { textContent: style });
    for (const [id, value] of Object.entries({ page, catalogue })) {
      put("script", { id, type: "application/json", textContent: JSON.stringify(value) });
    }
    globalThis.recorded = { run: await unpacked("run"), why: () => unpacked("why") };
    put("script", { type: "module", textContent: script });
    document.getElementById("unpack").remove();
  } catch (error) {
    console.error(error);
    document.getElementById("unpack-failed").hidden = false;
  }
})();
