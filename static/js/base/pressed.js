// A control that was pressed: what it asked for is under way, and may be refused.

import { Refusal } from "./commands.js";
import { FieldError, showErrors } from "./field_errors.js";

// -> what `doing` gives. near: says that it is busy until then; null for none.
export async function whileBusy(near, doing) {
  near?.setAttribute("aria-busy", "true");
  try {
    return await doing();
  } finally {
    near?.removeAttribute("aria-busy");
  }
}

// -> whether all that is wrong stands at the fields of the form now. A 403 is no fault of a field.
// fieldsOf(fields): the server's names of fields as those of the form.
export function isAtFields(form, error, say, fieldsOf = (fields) => fields) {
  if (error instanceof FieldError) return !showErrors(form, { [error.field]: [say(error.message)] }).length;
  const isAboutFields = error instanceof Refusal && error.status !== 403 && Object.keys(error.fields).length > 0;
  return isAboutFields && !showErrors(form, fieldsOf(error.fields)).length;
}
