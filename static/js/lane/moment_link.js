// The link to what a page shows: its address, and after # the moment that is on screen and what is chosen there. It
// opens the same lab, looked at as it was then.

const DIGITS = /^[0-9]{1,15}$/;

// moment: {at_us, position?}. shown: what is chosen on the page, as texts by name; "" and null are left out.
export function momentHash({ at_us: atUs, position = null }, shown = {}) {
  const parts = Object.entries({ at_us: atUs, position, ...shown })
    .filter(([, value]) => value !== null && value !== undefined && value !== "");
  return `#${new URLSearchParams(parts)}`;
}

// -> {moment, shown}; moment is null where the address names none.
export function fromHash(hash) {
  const { at_us: atUs, position, ...shown } = Object.fromEntries(new URLSearchParams(hash.replace(/^#/, "")));
  if (!DIGITS.test(atUs ?? "")) return { moment: null, shown: {} };
  const isPlaced = DIGITS.test(position ?? "");
  return { moment: { at_us: Number(atUs), ...(isPlaced ? { position: Number(position) } : {}) }, shown };
}
