// A run in a cell of a notebook: the capsule's own page in a frame. The frame has the notebook's address, as its page
// asks for one; what it asks of a site is answered from the capsule.

function render({ model, el }) {
  const frame = document.createElement("iframe");
  const sized = () => frame.style.setProperty("height", `${model.get("height")}px`);
  Object.assign(frame, { title: model.get("title") });
  frame.style.cssText = "width:100%;border:0;display:block;background:transparent";
  sized();
  frame.addEventListener("load", () => {
    const inside = frame.contentDocument;
    inside.open();
    inside.write(model.get("html"));
    inside.close();
  }, { once: true });
  model.on("change:height", sized);
  el.append(frame);
  return () => {
    model.off("change:height", sized);
    frame.remove();
  };
}

export default { render };
