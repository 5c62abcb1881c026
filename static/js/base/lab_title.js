// What a lab is called: a lesson by its title, any other by its name, without one by its workload and when it began.

export function labTitle({ name, workload_code: code, created: time, lesson = null }, say) {
  if (lesson) return lesson[say("lesson.language")];
  return name || say("labs.unnamed", { workload: say(code), time });
}
