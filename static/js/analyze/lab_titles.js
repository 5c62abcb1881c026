// What the labs are called where one is chosen: as on the Labs page, and what their workload is. Node tests it.

// labs: [{id, name, created, codes: of the workload and its key}] -> texts in the same order. Two of one title are
// told apart by their ids.
export function labTitles(labs, say) {
  const titles = labs.map(({ name, created, codes: [workload, ...more] }) =>
    [
      ...(name ? [name, say(workload)] : [say("labs.unnamed", { workload: say(workload), time: created })]),
      ...more.map((code) => say(code)),
    ].join(" · "),
  );
  return titles.map((title, place) =>
    titles.indexOf(title) === titles.lastIndexOf(title) ? title : `${title} · ${labs[place].id}`,
  );
}
