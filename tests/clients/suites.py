"""The client libraries' own suites that need a server: which, of which version, and how they are called."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Suite:
    """name: of the library. sdist: what PyPI has of it with its tests, `name==version`; None: PyPI has none with tests, and
    `variable` names a folder with the source. arguments: of pytest, in that folder. ports: that it asks for, AMQP and AMQPS;
    0: any. certificate, key: that its server shows, files of that folder; None: those that we made."""

    name: str
    sdist: str | None
    arguments: tuple[str, ...]
    ports: tuple[int, int] = (0, 0)
    certificate: str | None = None
    key: str | None = None

    @property
    def variable(self) -> str:
        return f"HIGHWATER_{self.name.upper().replace('-', '_')}"


SUITES = (
    Suite("py-amqp", "amqp==5.4.2", ("t/integration",)),
    Suite("kombu", "kombu==5.7.0", ("t/integration/test_py_amqp.py",)),
    Suite("pika", None, ("tests/acceptance/*_test*.py",), ports=(5672, 5671)),
    Suite(
        "aiormq",
        "aiormq==7.2.4",
        ("tests",),
        certificate="tests/certs/server.pem",
        key="tests/certs/server.key",
    ),
    Suite("aio-pika", "aio-pika==10.2.1", ("tests",)),
)
