"""Who may open a lab to real clients, and what may be ordered while they are there."""

from django.conf import settings
from django.utils.translation import gettext as _

from broker_core.lab.commands.base import Command
from broker_core.lab.commands.clock import PlayUntil, Speed
from broker_core.lab.commands.rabbitmq_clients import OpenToClients, SocketActs
from dashboard import quotas
from dashboard.errors import Refused
from dashboard.models import Lab

AGAIN_S = 300.0
"""Nobody knows when somebody closes a lab."""


def check_order(lab: Lab, ordered: Command) -> None:
    """Raises Refused: 409 where the operator has not turned clients on, or for what clients at work do not bear, 429 where as many
    labs are open as the site allows."""
    if ordered.kind == OpenToClients.kind:
        _check_open(lab)
    elif lab.clients_port is None:
        return
    elif isinstance(ordered, SocketActs) and not ordered.is_end:
        raise Refused(
            409, {"args.acts": _("the lab is open: its own clients say this, and an order only ends them")}
        )
    elif isinstance(ordered, Speed | PlayUntil) and _is_other_speed(ordered):
        raise Refused(
            409, {"args.speed": _("real clients go by the clock on the wall: close the lab to them first")}
        )


def _is_other_speed(ordered: Speed | PlayUntil) -> bool:
    at_changes = ordered.at_changes if isinstance(ordered, Speed) else None
    return ordered.speed not in (None, 1) or at_changes not in (None, 1)


def _check_open(lab: Lab) -> None:
    if not settings.CLIENTS_ON:
        raise Refused(
            409,
            {
                "lab": _(
                    "real clients are off on this site; its operator turns them on with HIGHWATER_CLIENTS=1"
                )
            },
        )
    if lab.clients_port is None:
        total = settings.CLIENTS_LABS_MAX
        quota = quotas.Quota(quotas.OPEN_LABS, "lab", total, total)
        quota.check(
            mine=None, everybody=Lab.objects.filter(clients_port__isnull=False).count(), again_s=AGAIN_S
        )
