// The speed that one has chosen, and the other one while something changes. An order is on its way for a moment: who
// presses again by then means what was chosen last, not what the page still shows.

const ARRIVES_MS = 2_000;

// current(): the view.
export function createPace({ current, now = () => performance.now() }) {
  let asked = null;

  // -> {speed, atChanges}
  function chosen() {
    const { speed, own_speed: own = speed, at_changes: atChanges = null } = current();
    const isThere = asked && own === asked.speed && atChanges === asked.atChanges;
    if (isThere || (asked && now() - asked.at > ARRIVES_MS)) asked = null;
    return asked ?? { speed: own, atChanges };
  }

  const ask = (speed, atChanges) => {
    asked = { speed, atChanges, at: now() };
  };

  // Whether the clock is slow just now, because something changes.
  const isSlow = ({ playing, speed, own_speed: own = speed, at_changes: atChanges, changing }) =>
    Boolean(playing && changing && atChanges && speed === atChanges && speed !== own);

  return { chosen, ask, isSlow };
}
