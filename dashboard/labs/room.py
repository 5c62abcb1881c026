"""Whether there is room for another lab, or for a lab to grow: how many labs, and how many parts
(`broker_core/lab/size.py`), an address and everybody together may have."""

from django.conf import settings
from django.db.models import F, Q, Sum
from django.db.models.functions import Coalesce
from django.utils import timezone

from dashboard import quotas
from dashboard.labs import comparisons, searches
from dashboard.labs.capsules import orders
from dashboard.models import DEMO_SLUG, LESSON_SLUG, Lab
from dashboard.quotas import Quota

PARTS_NEWCOMER = 10_000
"""An address with fewer parts may use the reserve: a few labs of an ordinary size."""
AGAIN_S = 300.0
"""Nobody knows when somebody deletes a large lab."""


def make_room(address: str, parts: int) -> None:
    """Refuse a lab of so many parts beyond the quotas, unless a visitor's copy of the demo, or a lesson's lab
    that the site made, has long been left alone: that one makes room for another lab. address: "" for the server itself."""
    quota = Quota(
        quotas.LABS, "lab", settings.LABS_ADDRESS_MAX, settings.LABS_MAX, newcomer=settings.LABS_NEWCOMER
    )
    own = Lab.objects.filter(address_hash=address) if address else Lab.objects.none()
    mine = own.count()
    if address and quota.is_full_for(mine):
        labs, refusal = own, quota.full_for
    elif quota.is_full(mine, Lab.objects.count()):
        labs, refusal = Lab.objects.all(), quota.full
    else:
        check_parts_room(address, parts, "lab")
        return
    visits = labs.filter(Q(parent__slug=DEMO_SLUG) | Q(slug__startswith=LESSON_SLUG), status=Lab.Status.IDLE)
    oldest = visits.annotate(left_at=Coalesce("last_watched_at", "created_at")).order_by("left_at").first()
    free_in_s = (
        settings.LAB_VISIT_KEEP_S - (timezone.now() - oldest.left_at).total_seconds()
        if oldest
        else settings.LAB_VISIT_KEEP_S
    )
    if oldest is None or free_in_s > 0:
        raise refusal(free_in_s)
    check_parts_room(address, parts, "lab")
    forget_files(oldest.pk)
    oldest.delete()


def forget_files(lab_id: str) -> None:
    """The lab is gone for good, and with it what the workers have made of it."""
    comparisons.forget(lab_id)
    orders.forget(lab_id)
    searches.forget(lab_id)


def check_parts_room(address: str, adding: int, field: str) -> None:
    """Raise Refused at `field` where the labs of the address, or all together, would have too many parts with
    so many more."""
    if adding <= 0:
        return
    quota = Quota(
        quotas.PARTS, field, settings.LABS_PARTS_ADDRESS_MAX, settings.LABS_PARTS_MAX, newcomer=PARTS_NEWCOMER
    )
    own = _parts(address) if address else None
    quota.check(mine=own, everybody=_parts(), adding=adding, again_s=AGAIN_S)


def grow(lab: Lab, adding: int, field: str) -> None:
    """Count what a command will add to a lab, or refuse it. What the lab really has then its next frame
    says."""
    check_parts_room(lab.address_hash, adding, field)
    Lab.objects.filter(pk=lab.pk).update(parts=F("parts") + max(0, adding))


def _parts(address: str = "") -> int:
    """Failed labs hold nothing any more."""
    labs = Lab.objects.exclude(status=Lab.Status.FAILED)
    labs = labs.filter(address_hash=address) if address else labs
    total: int = labs.aggregate(total=Sum("parts"))["total"] or 0
    return total
