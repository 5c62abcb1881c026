"""What cannot start says why in one sentence, ends with an error, and leaves nothing running."""

import socket
import subprocess
import sys

import pytest

from tests.supervisor.site import SupervisedSite, is_running


def refused(run_dir, *arguments, **environment):
    """The only line that it wrote; checks the rest."""
    site = SupervisedSite(run_dir, *arguments, **environment)
    out, said = site.process.communicate(timeout=40)
    assert (site.process.returncode, out) == (1, "")
    assert said.count("\n") == 1 and said.endswith(".\n")
    assert not (run_dir / "children.json").exists()
    return said


@pytest.fixture
def taken_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield str(server.getsockname()[1])


@pytest.fixture
def closed_port():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    return str(port)


def test_a_taken_port(tmp_path, taken_port):
    said = refused(tmp_path, "--port", taken_port)
    assert said == f"Port {taken_port} on 127.0.0.1 is taken by another program; set PORT to another one.\n"


@pytest.mark.parametrize("port", ["eighty", "70000", "-1", "²"])
def test_a_port_that_is_none(tmp_path, port):
    assert refused(tmp_path, f"--port={port}") == f"PORT must be a number from 0 to 65535, not {port!r}.\n"


def test_a_host_that_is_not_ours(tmp_path):
    assert "HOST 203.0.113.7 is no address of this machine" in refused(
        tmp_path, "--host", "203.0.113.7", "--port", "0"
    )


def test_shards_that_are_none(tmp_path):
    assert (
        refused(tmp_path, LAB_SHARDS="0", PORT="0") == "LAB_SHARDS must be a number from 1 to 64, not '0'.\n"
    )


def test_an_unwritable_folder(tmp_path):
    # A file in the way stops root, too.
    (tmp_path / "file").write_text("")
    said = SupervisedSite(tmp_path / "file" / "run").process.communicate(timeout=20)[1]
    assert said == f"The folder {tmp_path / 'file' / 'run'} cannot be written: Not a directory.\n"


def test_an_unreachable_redis(tmp_path, closed_port):
    said = refused(tmp_path, REDIS_URL=f"redis://127.0.0.1:{closed_port}/0", PORT="0")
    assert (
        said == f"The Redis at 127.0.0.1:{closed_port} (REDIS_URL) cannot be reached: Connection refused.\n"
    )


def test_something_else_where_redis_should_be(tmp_path, taken_port):
    said = refused(tmp_path, REDIS_URL=f"redis://127.0.0.1:{taken_port}/0", PORT="0")
    assert said.startswith("The Redis that REDIS_URL names does not answer: ")


def test_an_unreachable_database(tmp_path, closed_port):
    said = refused(tmp_path, DATABASE_URL=f"postgres://user:secret@127.0.0.1:{closed_port}/labs", PORT="0")
    assert (
        said
        == f"The database at 127.0.0.1:{closed_port} (DATABASE_URL) cannot be reached: Connection refused.\n"
    )


@pytest.mark.parametrize("url", ["nonsense", "mongodb://127.0.0.1/labs"])
def test_a_database_address_that_makes_no_sense(tmp_path, url):
    assert "DATABASE_URL is not an address that Highwater understands." in refused(
        tmp_path, DATABASE_URL=url, PORT="0"
    )


def test_a_python_that_is_too_old_gets_one_sentence(tmp_path):
    # The real installer, told that it runs on another Python.
    program = (
        "import collections, runpy, sys\n"
        "sys.version_info = collections.namedtuple('V', 'major minor micro')(3, 8, 10)\n"
        "sys.argv = ['install.py']\n"
        "runpy.run_path('mqsite/install.py', run_name='__main__')\n"
    )
    done = subprocess.run([sys.executable, "-I", "-c", program], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr == (
        f"Highwater needs Python 3.11 or 3.12; {sys.executable} is 3.8. Install one, or name it: make "
        f"PYTHON=/path/to/python3.11\n"
    )


def test_only_what_an_earlier_run_started_is_ended(tmp_path):
    from mqsite.supervisor_children import end_left_over, start_time

    ours, others = (subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"]) for _ in range(2))
    try:
        rows = [
            {"name": "ours", "pid": ours.pid, "started": start_time(ours.pid)},
            # The id was ours once; the process that has it now began at another time.
            {"name": "others", "pid": others.pid, "started": "1"},
            {"name": "long gone", "pid": 2**22 + 7, "started": "1"},
        ]
        import json

        (tmp_path / "children.json").write_text(json.dumps(rows))
        assert end_left_over(tmp_path) == ["ours"]
        assert ours.wait(5) != 0
        assert is_running((others.pid, start_time(others.pid)))
        assert list(tmp_path.iterdir()) == []
    finally:
        for process in (ours, others):
            process.kill()
            process.wait()


def test_a_record_that_was_cut_off_stops_no_start(tmp_path):
    from mqsite.supervisor_children import end_left_over

    (tmp_path / "children.json").write_text('[{"name": "web", "pid"')
    assert end_left_over(tmp_path) == []
