// What a lab cannot play of the study that it was opened from: kept for the lab's page, which says it once.

const nameOf = (lab) => `highwater.left_out.${lab}`;

export function keepLeftOut(lab, sentences) {
  try {
    if (sentences.length) sessionStorage.setItem(nameOf(lab), sentences.join(" "));
  } catch {
    // A browser that keeps nothing: the lab opens without the remark.
  }
}

// The remark, null without one or when it has been given out before.
export function takeLeftOut(lab) {
  try {
    const text = sessionStorage.getItem(nameOf(lab));
    sessionStorage.removeItem(nameOf(lab));
    return text;
  } catch {
    return null;
  }
}
