"""What aiormq's source distribution leaves out: the fixtures that its tests take a RabbitMQ from. Given to the suites' pytest
as a plugin (`-p`); a suite that has fixtures of these names keeps its own."""

import os
from types import SimpleNamespace

import pytest
from yarl import URL


@pytest.fixture(scope="session")
def rabbitmq_container() -> SimpleNamespace:
    served = {
        "5672/tcp": int(os.environ["RABBITMQ_5672_TCP"]),
        "5671/tcp": int(os.environ["RABBITMQ_5671_TCP"]),
    }
    return SimpleNamespace(id="", host="127.0.0.1", ports=served)


@pytest.fixture(scope="session")
def amqp_direct_url(rabbitmq_container: SimpleNamespace) -> URL:
    port = rabbitmq_container.ports["5672/tcp"]
    return URL.build(
        scheme="amqp", user="guest", password="guest", host=rabbitmq_container.host, port=port, path="//"
    )
