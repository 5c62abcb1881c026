// Parts of a page of which one is shown: a row of tabs with one tab stop, arrow keys choose the next one.

// list: holds the buttons, each with aria-controls. onChoose(): another part is shown.
// -> {offer(id of a tab, whether it makes sense now), chosen(): its id, open(id)}
export function createTabs(list, onChoose = () => {}) {
  const tabs = [...list.querySelectorAll('[role="tab"]')];
  const offered = () => tabs.filter((tab) => !tab.hidden);
  const isChosen = (tab) => tab.getAttribute("aria-selected") === "true";

  function choose(chosen) {
    for (const tab of tabs) {
      const is = tab === chosen;
      tab.setAttribute("aria-selected", String(is));
      tab.tabIndex = is ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = !is;
    }
    onChoose();
  }

  list.addEventListener("click", (event) => {
    const tab = event.target.closest('[role="tab"]');
    if (tab) choose(tab);
  });
  list.addEventListener("keydown", (event) => {
    const all = offered(), place = all.indexOf(event.target);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const next = event.key === "Home" ? all[0] : event.key === "End" ? all.at(-1)
      : step ? all[(place + step + all.length) % all.length] : null;
    if (!next) return;
    event.preventDefault();
    event.stopPropagation();
    choose(next);
    next.focus();
  });

  return {
    chosen: () => tabs.find(isChosen)?.id ?? "",
    open(id) {
      const tab = offered().find((each) => each.id === id);
      if (tab) choose(tab);
    },
    offer(id, is) {
      const tab = document.getElementById(id);
      if (tab.hidden === !is) return;
      tab.hidden = !is;
      if (!is && isChosen(tab)) choose(offered()[0]);
    },
  };
}
