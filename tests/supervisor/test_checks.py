"""What is checked before anything starts, function by function: each refusal is one sentence that names the
setting."""

import json
import os
import socket
import stat

import pytest

from mqsite import supervisor_checks as checks
from mqsite.host import takes_clients
from mqsite.supervisor_checks import CannotStart


def refusal(function, *arguments):
    with pytest.raises(CannotStart) as refused:
        function(*arguments)
    said = str(refused.value)
    assert said.endswith(".") and "\n" not in said
    return said


# -- numbers -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("text", "port"), [("0", 0), ("80", 80), ("08000", 8000), ("65535", 65_535)])
def test_a_port_is_any_number_that_tcp_has(text, port):
    assert checks.port_of(text) == port


@pytest.mark.parametrize("text", ["", "65536", "-1", "+80", "80.0", "8_000", " 80", "٨٠", "0x50"])
def test_a_port_that_is_none_is_quoted(text):
    assert refusal(checks.port_of, text) == f"PORT must be a number from 0 to 65535, not {text!r}."


@pytest.mark.parametrize(("text", "shards"), [("1", 1), ("2", 2), ("64", 64)])
def test_shards_are_one_to_sixty_four(text, shards):
    assert checks.shards_of(text) == shards


@pytest.mark.parametrize("text", ["", "0", "65", "-1", "two", "²", "1.0"])
def test_a_number_of_shards_that_is_none_is_quoted(text):
    assert refusal(checks.shards_of, text) == f"LAB_SHARDS must be a number from 1 to 64, not {text!r}."


# -- the run folder ------------------------------------------------------------------------------------------


def test_the_run_folder_is_made_with_its_logs_and_stays_locked_until_the_lock_is_closed(tmp_path):
    folder = tmp_path / "new" / "var"
    lock = checks.open_run_dir(folder)
    assert (folder / "logs").is_dir()
    assert (
        refusal(checks.open_run_dir, folder)
        == f"Another Highwater is running in {folder}; stop it or set HIGHWATER_RUN_DIR."
    )
    lock.close()
    checks.open_run_dir(folder).close()


def test_the_probe_of_the_run_folder_leaves_no_file_behind(tmp_path):
    checks.open_run_dir(tmp_path).close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["logs", "supervisor.lock"]


def test_two_run_folders_do_not_lock_each_other(tmp_path):
    locks = [checks.open_run_dir(tmp_path / name) for name in ("one", "two")]
    for lock in locks:
        lock.close()


def test_a_file_in_the_way_of_the_run_folder_is_told_with_the_systems_reason(tmp_path):
    (tmp_path / "file").write_text("")
    folder = tmp_path / "file" / "var"
    assert refusal(checks.open_run_dir, folder) == f"The folder {folder} cannot be written: Not a directory."


# -- the socket ----------------------------------------------------------------------------------------------


def test_the_listening_socket_is_bound_before_any_web_process_starts():
    with checks.listen("127.0.0.1", 0) as server:
        host, port = server.getsockname()
        assert host == "127.0.0.1" and port > 0
        with socket.create_connection((host, port), 2):
            pass


def test_a_taken_port_names_host_and_port():
    with checks.listen("127.0.0.1", 0) as server:
        port = server.getsockname()[1]
        assert (
            refusal(checks.listen, "127.0.0.1", port)
            == f"Port {port} on 127.0.0.1 is taken by another program; set PORT to another one."
        )


@pytest.mark.parametrize("host", ["203.0.113.7", "2001:db8::7"])
def test_an_address_of_another_machine_is_told_as_such(host):
    assert refusal(checks.listen, host, 0).startswith(f"HOST {host} is no address of this machine")


def test_a_port_that_this_user_may_not_open_is_not_called_taken(monkeypatch):
    def forbidden(*_arguments, **_names):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(checks.socket, "create_server", forbidden)
    assert (
        refusal(checks.listen, "127.0.0.1", 80)
        == "Port 80 on 127.0.0.1 may not be opened by this user; set PORT to another one."
    )


@pytest.mark.parametrize(
    ("host", "port", "shown"),
    [
        ("127.0.0.1", 8000, "http://127.0.0.1:8000/"),
        ("0.0.0.0", 80, "http://127.0.0.1:80/"),
        ("", 80, "http://127.0.0.1:80/"),
        ("::", 8000, "http://[::1]:8000/"),
        ("2001:db8::7", 8000, "http://[2001:db8::7]:8000/"),
        ("lab.example", 8000, "http://lab.example:8000/"),
    ],
)
def test_the_printed_address_can_be_opened_in_a_browser(host, port, shown):
    assert checks.address_shown(host, port) == shown


# -- redis ---------------------------------------------------------------------------------------------------


class Package:
    """As importlib finds it. origin: its __init__.py, None for one without."""

    def __init__(self, origin):
        self.origin = origin


def test_the_embedded_redis_is_found_beside_its_package(tmp_path, monkeypatch):
    program = tmp_path / "bin" / "redis-server"
    program.parent.mkdir()
    program.write_text("")
    monkeypatch.setattr(
        checks.importlib.util, "find_spec", lambda _name: Package(str(tmp_path / "__init__.py"))
    )
    missing = "The embedded Redis is not installed; run `make install`, or set REDIS_URL."
    program.chmod(0o600)
    assert refusal(checks.redis_executable) == missing
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    assert checks.redis_executable() == str(program)


@pytest.mark.parametrize("found", [None, Package(None)])
def test_a_missing_embedded_redis_says_what_to_do(found, monkeypatch):
    monkeypatch.setattr(checks.importlib.util, "find_spec", lambda _name: found)
    assert (
        refusal(checks.redis_executable)
        == "The embedded Redis is not installed; run `make install`, or set REDIS_URL."
    )


# -- the keeper's checks -------------------------------------------------------------------------------------


@pytest.fixture
def keeper():
    from mqsite import keeper

    return keeper


def unreachable(keeper, monkeypatch, name, url):
    """What a person reads where the setting `name` is this address; None where it is let through."""
    monkeypatch.setenv(name, url)
    try:
        keeper._reachable(name, "The Redis" if name == "REDIS_URL" else "The database")
    except keeper._Refusal as refused:
        return str(refused)
    return None


@pytest.mark.parametrize(
    ("name", "url"),
    [
        ("REDIS_URL", ""),
        ("REDIS_URL", "unix:///nowhere/redis.sock"),
        ("REDIS_URL", "redis+socket:///nowhere/redis.sock"),
        ("DATABASE_URL", "sqlite:////nowhere/file.sqlite3"),
        ("DATABASE_URL", "postgres://user@%2Fvar%2Frun%2Fpostgresql/labs"),
        ("DATABASE_URL", "postgres:///labs"),
    ],
)
def test_a_socket_or_a_file_is_not_asked_over_the_network(keeper, monkeypatch, name, url):
    monkeypatch.setattr(
        keeper.socket, "create_connection", lambda *_arguments: pytest.fail("asked over the network")
    )
    assert unreachable(keeper, monkeypatch, name, url) is None


@pytest.mark.parametrize(
    ("name", "url", "asked"),
    [
        ("REDIS_URL", "redis://cache", ("cache", 6379)),
        ("REDIS_URL", "rediss://cache:7000/1", ("cache", 7000)),
        ("DATABASE_URL", "postgres://user:secret@store/labs", ("store", 5432)),
        ("DATABASE_URL", "postgresql://store:1234/labs", ("store", 1234)),
    ],
)
def test_an_address_is_asked_at_its_own_port_or_its_kinds(keeper, monkeypatch, name, url, asked):
    seen = []

    def refuse(address, within_s):
        seen.append((address, within_s))
        raise ConnectionRefusedError(111, "Connection refused")

    monkeypatch.setattr(keeper.socket, "create_connection", refuse)
    said = unreachable(keeper, monkeypatch, name, url)
    assert seen == [(asked, keeper.OUTSIDE_WAIT_S)]
    assert (
        said.endswith(f" at {asked[0]}:{asked[1]} ({name}) cannot be reached: Connection refused.")
        and "secret" not in said
    )


@pytest.mark.parametrize(
    "url", ["mysql://store/labs", "nonsense", "postgres://store:port/labs", "postgres://store:99999/labs"]
)
def test_an_address_of_no_kind_that_we_know_is_told_without_repeating_it(keeper, monkeypatch, url):
    assert (
        unreachable(keeper, monkeypatch, "DATABASE_URL", url)
        == "DATABASE_URL is not an address that Highwater understands."
    )


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (ValueError("no such host\nHINT: look"), "no such host"),
        (ValueError("  ends in a stop.  "), "ends in a stop"),
        (ValueError(""), "ValueError"),
    ],
)
def test_a_librarys_error_becomes_the_middle_of_a_sentence(keeper, error, line):
    assert keeper._first_line(error) == line


def test_a_report_is_one_line_of_json(keeper, capsys):
    keeper.report(step="files")
    keeper.report(cannot_start="no\nway.")
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"step": "files"},
        {"cannot_start": "no\nway."},
    ]


def test_static_files_are_prepared_again_only_when_a_source_changed(keeper, tmp_path, monkeypatch):
    root, run_dir = tmp_path / "root", tmp_path / "run"
    for folder in (root / "static" / "js", root / "locale" / "zh_Hans" / "LC_MESSAGES", run_dir):
        folder.mkdir(parents=True)
    script, words = (
        root / "static" / "js" / "live.js",
        root / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po",
    )
    script.write_text("1")
    words.write_text("2")
    monkeypatch.setattr(keeper, "ROOT", root)
    assert not keeper.files_are_fresh(run_dir), "nothing was ever prepared"
    (run_dir / "prepared").write_text(keeper.fingerprint())
    assert keeper.files_are_fresh(run_dir)
    words.with_suffix(".mo").write_bytes(b"compiled")
    assert keeper.files_are_fresh(run_dir), "what is made from a source is no source"
    for change in (
        lambda: script.write_text("12"),
        lambda: os.utime(words, ns=(5, 5)),
        lambda: (root / "static" / "new.css").write_text(""),
    ):
        change()
        assert not keeper.files_are_fresh(run_dir)
        (run_dir / "prepared").write_text(keeper.fingerprint())


@pytest.mark.parametrize(
    ("text", "ports"), [("", range(0)), ("5672", range(5672, 5673)), ("5672-5680", range(5672, 5681))]
)
def test_ports_for_clients_are_one_or_a_range(text: str, ports: range) -> None:
    assert checks.client_ports(text) == ports


@pytest.mark.parametrize("text", ["0", "-", "5680-5672", "5672-", "x", "5672-70000"])
def test_ports_for_clients_that_cannot_be_are_refused(text: str) -> None:
    assert refusal(checks.client_ports, text) == (
        f"HIGHWATER_CLIENTS_PORTS must be a port or a range of them, as 5672-5680, not {text!r}."
    )


@pytest.mark.parametrize(
    ("host", "given", "takes"),
    [
        ("127.0.0.1", None, True),
        ("::1", None, True),
        ("localhost", None, True),
        ("0.0.0.0", None, False),
        ("192.168.1.5", None, False),
        ("0.0.0.0", "1", True),
        ("127.0.0.1", "0", False),
    ],
)
def test_clients_are_taken_where_only_this_machine_reaches_the_site_or_its_operator_says_so(
    monkeypatch: pytest.MonkeyPatch, host: str, given: str | None, takes: bool
) -> None:
    monkeypatch.delenv("HIGHWATER_CLIENTS", raising=False)
    if given is not None:
        monkeypatch.setenv("HIGHWATER_CLIENTS", given)
    assert takes_clients(host) is takes
