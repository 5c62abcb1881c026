"""`highwater open`: a run goes to a site, and the address of its lab comes back; a site is stood in for by one that records."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from broker_core.errors import CommandError
from broker_core.serve.__main__ import REFUSED, main
from broker_core.serve.opening import open_on_site


@pytest.fixture
def site():
    """answers: what the next request gets; asked: what came."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            server.asked.append((self.path, self.headers["Content-Type"], body))
            status, text = server.answers.pop(0)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        def log_message(self, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.asked, server.answers = [], []
    server.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, name="highwater-site")
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def run(tmp_path):
    path = tmp_path / "a failed test.highwater"
    path.write_bytes(b"the run")
    return path


def test_run_is_handed_over_with_its_name_and_the_labs_address_is_printed(site, run, capsys):
    site.answers.append((201, json.dumps({"id": "abc", "owner_token": "secret"}).encode()))
    assert main(["open", str(run), "--site", f"{site.url}/"]) == 0
    assert capsys.readouterr().out == f"{site.url}/lab/abc/rabbitmq/#own=secret\n"
    assert site.asked == [("/api/labs/open/?name=a%20failed%20test", "application/octet-stream", b"the run")]


@pytest.mark.parametrize(
    ("answer", "field", "said"),
    [
        ((409, {"fields": {"file": ["was made under version 3 of the rules"]}}), "file", "was made under version 3 of the rules"),
        ((429, {"fields": {"lab": ["too many"]}}), "lab", "too many"),
        ((404, {}), "site", "answers 404"),
        ((201, []), "site", "answers 201"),
    ],
)  # fmt: skip
def test_what_the_site_refuses_is_said(site, run, answer, field, said):
    site.answers.append((answer[0], json.dumps(answer[1]).encode()))
    with pytest.raises(CommandError, match=said) as refused:
        open_on_site(run, site.url)
    assert refused.value.field == field


def test_site_that_is_none_is_said(site, run):
    site.answers.append((200, b"<html>"))
    with pytest.raises(CommandError, match="is it a site of Highwater"):
        open_on_site(run, site.url)


@pytest.mark.parametrize("address", ["127.0.0.1:8000", "ftp://here", "http://", "http://[::1", "http://a:b"])
def test_address_that_is_none_is_refused(run, address):
    with pytest.raises(CommandError, match="must be an address such as"):
        open_on_site(run, address)


def test_where_no_site_answers_it_says_what_to_start(site, run, capsys):
    gone = site.url
    site.shutdown()
    site.server_close()
    assert main(["open", str(run), "--site", gone]) == REFUSED
    said = capsys.readouterr().err
    assert gone in said and "make run" in said and "--site" in said


def test_file_that_is_not_there_is_said(tmp_path, capsys):
    assert main(["open", str(tmp_path / "none.highwater")]) == REFUSED
    assert "file: cannot be read" in capsys.readouterr().err
