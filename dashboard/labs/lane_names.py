"""A refusal comes back under the name that the request had for its lane: `lane`, or `rig`, its older one.

The core takes either name (broker_core/lab/commands/). What is kept and sent (journals, scenarios, views,
events) has the older one, as the programs that read it know it; so has a refusal of what was kept.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from broker_core.events import Json
from dashboard.errors import Refused


@contextmanager
def under_its_name(request: Json) -> Iterator[None]:
    """While this request is answered."""
    try:
        yield
    except Refused as refused:
        if "lane" in request:
            refused.fields = {
                "lane" if field == "rig" else field: texts for field, texts in refused.fields.items()
            }
        raise
