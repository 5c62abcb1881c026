"""Words of the Labs page: the list of labs, a new one, their names, their deletion and the undo."""

from django.utils.translation import gettext_lazy as _

LABS = {
    "labs.title": _("Labs"),
    "labs.sub": _(
        "A lab is a workload, its lanes and the list of commands applied to them. Anyone with its link "
        "can watch it."
    ),
    "labs.lab": _("lab"),
    "labs.workload": _("workload"),
    "labs.state": _("state"),
    "labs.changes": _("commands"),
    "labs.clock": _("virtual time"),
    "labs.created": _("created (UTC)"),
    "labs.seed": _("seed"),
    "labs.acts": _("actions"),
    "labs.mine": _("yours"),
    "labs.demo": _("demo"),
    "labs.running": _("running"),
    "labs.paused": _("paused"),
    "labs.idle": _("idle: nobody is watching"),
    "labs.failed": _("stopped by an error"),
    "labs.none": _("No lab yet. Opening the Stage creates one."),
    # A new one
    "labs.new": _("New lab"),
    "labs.new_settings": _("New lab with settings…"),
    "labs.name": _("Name"),
    "labs.name_hint": _("Without a name it is called after its workload and the time when it began."),
    # One from a file
    "labs.open": _("Open a run"),
    "labs.file": _("A run from a file"),
    "labs.file_hint": _(
        "The menu ⋯ of a lab’s panels gives one (“This run as a file that opens again”), and highwater serve --journal one of real "
        "clients, which ends in .highwater. It runs again, and is paused at its end."
    ),
    "labs.no_file": _("Choose a file first."),
    # What its owner does to it
    "labs.rename": _("Rename"),
    "labs.rename_named": _("Rename “{name}”"),
    "labs.name_of": _("New name of “{name}”"),
    "labs.save": _("Save"),
    "labs.cancel": _("Cancel"),
    "labs.renamed": _("Its name is now “{name}”."),
    "labs.delete": _("Delete"),
    "labs.delete_named": _("Delete “{name}”"),
    "labs.deleted": _("“{name}” is deleted. You can undo this for {count} seconds, while this page is open."),
    "labs.undo": _("Undo"),
    "labs.undo_named": _("Undo: keep “{name}”"),
    "labs.back": _("“{name}” is back."),
    "labs.gone": _("“{name}” is gone."),
}
