"""Words for turning points, shown under "Why?": event kind -> what it means. The rule and its inputs are shown as the core names them."""

from django.utils.translation import gettext_lazy as _

EVENTS = {
    "event.unknown": _("{kind}"),
}
