"""What the logs leave out."""

import logging
from pathlib import Path


class NotOfPy4j(logging.Filter):
    """For the root logger: leaves out what py4j tells it without its own logger, a trace for each call that a
    lost Java takes along. The caller reports once that Java was lost."""

    def filter(self, record: logging.LogRecord) -> bool:
        return Path(record.pathname).parent.name != "py4j"
