"""What every page of a lab says of the panel with its settings."""

from django.utils.translation import gettext_lazy as _

PANEL = {
    "settings.panel.title": _("Settings of this lab"),
    "settings.panel.button": _("Settings"),
    "settings.panel.title_button": _("Settings of this lab, and a new one from them"),
}
