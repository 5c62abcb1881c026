"""What pages offer to copy is what docs/clients/ has, and runs there (tests/core/serve/test_pages.py)."""

from typing import Any

import pytest

from dashboard.client_programs import ADDRESS, CLIENTS, clients_page, programs
from dashboard.labs.rows import checked_scenario
from tests.core.serve.programs import program_of


def test_programs_are_those_of_the_docs_with_what_to_type() -> None:
    found = {each["name"]: each for each in programs()}
    assert list(found) == list(CLIENTS)
    for name, page in CLIENTS.items():
        language = "js" if name == "amqplib" else "python"
        assert found[name]["text"] == program_of(page, language)
        assert ADDRESS in found[name]["run"] and found[name]["file"] in ("orders.py", "orders.mjs")
    assert found["pika"]["run"] == f"python orders.py {ADDRESS}"
    assert found["Celery"]["run"].splitlines() == [
        f"export AMQP_URL={ADDRESS}", "celery -A orders worker &", "python orders.py",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("listens", "shown"), [("127.0.0.1", "127.0.0.1"), ("0.0.0.0", ""), ("::", ""), ("fd00::1", "[fd00::1]")]
)
def test_page_says_where_labs_are_reached_and_what_a_lab_for_clients_is(
    settings: Any, listens: str, shown: str
) -> None:
    settings.CLIENTS_HOST = listens
    page = clients_page(7)
    assert page["host"] == shown
    made = checked_scenario(page["request"])
    assert made["consumers"] == 0 and made["lanes"][0]["began_us"] > 1_700_000_000_000_000
