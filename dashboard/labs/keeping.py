"""What owners do to their labs as such: name them, delete them, take that back.

A deleted lab is gone at once for everybody (`models.LabsThere`): no page or program finds it, its shard lets
it go at the next write. Its rows stay for LAB_UNDO_S, in which its owner can have it back as it was; then
they go, too.
"""

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext as _

from broker_core.events import Json
from dashboard import access
from dashboard.errors import Refused
from dashboard.labs import selectors
from dashboard.labs.room import check_parts_room, forget_files
from dashboard.labs.transport import transport
from dashboard.models import NAME_MAX, Lab


def lab_rename(*, lab_id: str, request: Json, bearer: str | None = None, visitor: str | None = None) -> Lab:
    """Call a lab otherwise. request: {name}, 1 to 64 printable characters; spaces around it do not count.

    Raises Refused: 404 unknown lab, 403 not the owner, 400 at the field that is wrong.
    """
    with transaction.atomic():
        lab = _owned(Lab.objects, lab_id, bearer, visitor)
        if unknown := sorted(set(request) - {"name"}):
            raise Refused(400, {unknown[0][:64]: _("is unknown")})
        lab.name = checked_name(request.get("name"))
        lab.save(update_fields=["name"])
    return lab


def lab_own(*, lab_id: str, bearer: str | None = None, visitor: str | None = None) -> Lab:
    """The lab is this visitor's from now on: who has its token, as the program that made it, opens it in a browser of their
    own.

    Raises Refused: 404 unknown lab, 403 without its token, or for a browser that sends no cookie.
    """
    with transaction.atomic():
        lab = _owned(Lab.objects, lab_id, bearer, None)
        if visitor is None:
            raise Refused(403, {"lab": _("your browser sends no cookie, so the lab could not be yours")})
        lab.visitor_hash = access.token_hash(visitor)
        lab.save(update_fields=["visitor_hash"])
    return lab


def lab_delete(*, lab_id: str, bearer: str | None = None, visitor: str | None = None) -> None:
    """Delete a lab. Its watchers hear of it; the next write of its driver finds that it is gone.

    Raises Refused: 404 unknown lab, 403 not the owner.
    """
    with transaction.atomic():
        lab = _owned(Lab.objects, lab_id, bearer, visitor)
        lab.deleted_at = timezone.now()
        lab.save(update_fields=["deleted_at"])
        transaction.on_commit(lambda: transport().tell_gone(lab_id) and None)


def lab_restore(*, lab_id: str, bearer: str | None = None, visitor: str | None = None) -> Lab:
    """Undo a deletion; a lab that is not deleted stays as it is. One that ran continues where it was.

    Raises Refused: 404 for a lab that is unknown or gone for good, 403 not the owner, 429 when there is no
    room for one of its size any more.
    """
    with transaction.atomic():
        lab = _owned(Lab.everything, lab_id, bearer, visitor)
        if lab.deleted_at is not None:
            if lab.deleted_at < _undone_since():
                raise selectors.lab_unknown()
            check_parts_room(lab.address_hash, lab.parts, "lab")
            lab.deleted_at = None
            lab.save(update_fields=["deleted_at"])
    return lab


def labs_purge() -> int:
    """Remove for good what was deleted and is too old to be taken back; the number of labs."""
    labs = Lab.everything.filter(deleted_at__lt=_undone_since())
    if not labs.exists():
        return 0
    for lab_id in labs.values_list("pk", flat=True):
        forget_files(lab_id)
    return labs.delete()[1].get("dashboard.Lab", 0)


def _undone_since() -> Any:
    return timezone.now() - timedelta(seconds=settings.LAB_UNDO_S)


def _owned(labs: Any, lab_id: str, bearer: str | None, visitor: str | None) -> Lab:
    lab: Lab | None = labs.select_for_update().filter(pk=lab_id).first()
    if lab is None:
        raise selectors.lab_unknown()
    if not access.is_owner(lab, bearer=bearer, visitor=visitor):
        raise Refused(403, {"lab": _("this lab is not yours: you can only look at it")})
    return lab


def checked_name(name: object) -> str:
    """What a lab may be called. Raises Refused 400."""
    text = name.strip() if isinstance(name, str) else ""
    if not 1 <= len(text) <= NAME_MAX or not text.isprintable():
        raise Refused(400, {"name": _("must be 1 to 64 printable characters")})
    return text
