"""Where the suites come from: the source distributions of PyPI, by pip, in an environment of their own. Fetched once."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

from mqsite.keeper import ROOT
from tests.clients.suites import Suite

HERE = Path(__file__).parent
FOLDER = ROOT / "var" / "clients"
PYTHON = FOLDER / "venv" / "bin" / "python"
CERTIFICATES = FOLDER / "certificates"


def make_environment() -> None:
    """The clients, their pytest and what their tests import, and certificates. Raises CalledProcessError, say without a network."""
    wanted, stamp = (HERE / "requirements.txt").read_text(), FOLDER / "venv" / "requirements.txt"
    if not stamp.exists() or stamp.read_text() != wanted:
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", FOLDER / "venv"], check=True)
        _pip("install", "-r", HERE / "requirements.txt")
        stamp.write_text(wanted)
    if not CERTIFICATES.exists():
        _make_certificates()


def fetch(suite: Suite) -> Path | None:
    """The folder of its source; None: there is none. Raises CalledProcessError."""
    if suite.sdist is None:
        named = os.environ.get(suite.variable)
        return Path(named).resolve() if named else None
    folder = FOLDER / "suites" / suite.sdist.replace("==", "-")
    if folder.exists():
        return folder
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
        name = suite.sdist.split("==")[0]
        _pip("download", "--no-deps", "--no-binary", name, "--dest", temporary, suite.sdist)
        (archive,) = Path(temporary).glob("*.tar.gz")
        with tarfile.open(archive) as tar:
            tar.extractall(temporary, filter="data")
        (found,) = (each for each in Path(temporary).iterdir() if each.is_dir())
        if suite.name == "py-amqp":  # it looks for them here, and its source distribution leaves them out
            shutil.copytree(CERTIFICATES, found / "t" / "certs")
        folder.parent.mkdir(exist_ok=True)
        found.rename(folder)
    return folder


def _pip(*arguments: str | Path) -> None:
    subprocess.run([PYTHON, "-m", "pip", "--disable-pip-version-check", *arguments, "-qq"], check=True)


def _make_certificates() -> None:
    """Under the names of py-amqp's: an authority, a pair of its own for server and client, and a pair of another's."""
    with tempfile.TemporaryDirectory(dir=FOLDER) as temporary:
        made = Path(temporary) / "made"
        made.mkdir()
        for suffix in ("_broken", ""):
            subprocess.run(
                [PYTHON, "-m", "trustme", "--quiet", "--dir", temporary, "--identities", "localhost", "127.0.0.1"], check=True
            )  # fmt: skip
            names = {"server.pem": f"client_certificate{suffix}.pem", "server.key": f"client_key{suffix}.pem"}
            for name, wanted in names.items():
                Path(temporary, name).rename(made / wanted)
        Path(temporary, "client.pem").rename(made / "ca_certificate.pem")
        made.rename(CERTIFICATES)
