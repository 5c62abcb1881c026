"""How many examples a costly law is held on."""

import os

from hypothesis import settings

NEW = bool(os.environ.get("HIGHWATER_NEW_EXAMPLES"))


def examples(same: int, new: int) -> settings:
    """So many examples in `make test`, the same each time; more of them, and others, in `make simulate`."""
    return settings(max_examples=new if NEW else same, deadline=None)
