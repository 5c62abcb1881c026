"""What is said of a source that cannot be studied."""

import pytest

from broker_core.errors import CommandError
from broker_core.pipeline.sources.spec import source_check


def refused(spec):
    """The refusal of a source, whose field and reason a test looks at."""
    with pytest.raises(CommandError) as caught:
        source_check(spec)
    return caught.value
