// Deleting a study for good: asked once, in a dialog that says what goes.

import { page, say } from "../base/chrome.js";
import { reasonOf } from "../base/reasons.js";
import { remove } from "../base/requests.js";

const $ = (id) => document.getElementById(id);

// -> ask({ id, name }): opens the dialog. onGone(id): when it is deleted.
export function createDelete({ onGone }) {
  const dialog = $("delete-dialog");
  let study = null;

  $("delete-keep").addEventListener("click", () => dialog.close());
  $("delete-yes").addEventListener("click", async () => {
    const { id } = study;
    $("delete-yes").disabled = true;
    try {
      await remove(`${page.urls.studies}${id}/`);
      dialog.close();
      onGone(id);
    } catch (error) {
      // Somebody else of the same person, in another tab, was faster.
      if (error.status === 404) {
        dialog.close();
        onGone(id);
      }
      $("delete-error").hidden = false;
      $("delete-error").textContent = reasonOf(error);
    }
    $("delete-yes").disabled = false;
  });
  return function ask(next) {
    study = next;
    $("delete-title").textContent = say("delete.title", { name: study.name || study.id });
    $("delete-error").hidden = true;
    dialog.showModal();
  };
}
