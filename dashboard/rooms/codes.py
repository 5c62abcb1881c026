"""A room's code: six letters that are read aloud, written on a board and typed on a phone; and how many wrong ones
an address may try."""

import secrets
from datetime import timedelta

from django.utils import timezone

from dashboard import quotas
from dashboard.models import WrongCode
from dashboard.quotas import HOUR_S, Quota

LETTERS = "ABCDEFGHJKMNPQRSTUVWXYZ23456789"
"""Without I, L, O, 0 and 1, which look alike: 31 to the sixth are 887 million codes."""
LENGTH = 6
WRONG_ADDRESS_MAX, WRONG_MAX, WRONG_NEWCOMER = 60, 6_000, 10
"""An hour. A class shares one address and mistypes. With a thousand rooms open, and all that everybody together may
try, a stranger finds one in about six days."""


def code_new() -> str:
    return "".join(secrets.choice(LETTERS) for _place in range(LENGTH))


def code_in(text: str) -> str | None:
    """The code that somebody has typed, None where it can be none.

    >>> code_in(" abc-2df "), code_in("abc 2d"), code_in("ABC1DF")
    ('ABC2DF', None, None)
    """
    code = "".join(letter for letter in text.upper() if letter not in " -")
    return code if len(code) == LENGTH and all(letter in LETTERS for letter in code) else None


def check_tries(address: str) -> None:
    """Raises Refused 429 where this address, or everybody together, has tried too many wrong codes."""
    since = timezone.now() - timedelta(seconds=HOUR_S)
    tries = WrongCode.objects.filter(at__gt=since)
    quota = Quota(quotas.WRONG_CODES, "code", WRONG_ADDRESS_MAX, WRONG_MAX, newcomer=WRONG_NEWCOMER)
    quota.check(mine=tries.filter(address_hash=address).count(), everybody=tries.count(), again_s=HOUR_S)


def wrong_code_add(address: str) -> None:
    WrongCode.objects.create(address_hash=address)


def wrong_codes_sweep() -> None:
    WrongCode.objects.filter(at__lt=timezone.now() - timedelta(seconds=HOUR_S)).delete()
