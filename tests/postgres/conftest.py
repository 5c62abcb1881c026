"""One PostgreSQL for the folder. Where none is installed its tests are skipped, with the command that
installs it."""

from collections.abc import Iterator

import pytest

from tests.postgres.server import MISSING, Postgres, is_installed


@pytest.fixture(scope="package")
def postgres() -> Iterator[Postgres]:
    if not is_installed():
        pytest.skip(MISSING)
    with Postgres() as running:
        yield running
