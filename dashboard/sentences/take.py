"""Words of what can be taken away from a panel: pictures, tables, events."""

from django.utils.translation import gettext_lazy as _

TAKE = {
    "take": _("Take away: picture, table, events"),
    "take.short": _("Take away"),
    "take.of": _("Take away: {panel}"),
    "take.svg": _("Picture as SVG"),
    "take.png": _("Picture as PNG, two pixels for one"),
    "take.csv": _("Table as CSV"),
    "take.csv_of": _("Table as CSV: {table}"),
    "take.events": _("Events as JSONL, from 0:00"),
    "take.run": _("This run as a file that opens again"),
    "take.nothing": _("Nothing to take away right now"),
    "take.failed": _("The file could not be made. Please try again."),
    "take.about": _("{lab} · {clock} · seed {seed}"),
    "take.about_hash": _("{lab} · {clock} · seed {seed} · state {hash}"),
}
