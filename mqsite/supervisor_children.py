"""The processes that the supervisor owns: start, notice, restart, end. Each is known by its id and start
time, so that only what we started is ever ended, even after the system has given its id to somebody else.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

PR_SET_PDEATHSIG = 1
BACK_OFF_FIRST_S, BACK_OFF_MAX_S = 0.1, 5.0
STEADY_S = 10.0  # a child that lived this long was well: its next death does not count as a series
LOG_BYTES_MAX = 5_000_000

_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


@dataclass(slots=True)
class Child:
    """One process. command: its argument list. pass_fds: descriptors that it inherits."""

    name: str
    command: Sequence[str]
    pass_fds: tuple[int, ...] = ()
    stdout: int | None = None
    process: subprocess.Popen[bytes] | None = None
    started_s: float = 0.0
    deaths: int = 0  # in a row
    restart_at_s: float | None = None

    @property
    def is_alive(self) -> bool:
        return self.process is not None and self.process.poll() is None


@dataclass(slots=True)
class Children:
    """All of them, in the order of their start. Keeps `children.json` in the run folder for the next start to
    clean up by."""

    run_dir: Path
    root: Path
    environment: Mapping[str, str]
    clock: Callable[[], float] = time.monotonic
    children: list[Child] = field(default_factory=list)

    def start(self, child: Child) -> None:
        """Start it, or start it again."""
        if child not in self.children:
            self.children.append(child)
        log_path = self.log_path(child.name)
        if log_path.exists() and log_path.stat().st_size > LOG_BYTES_MAX:
            log_path.replace(log_path.with_suffix(".log.1"))
        parent = os.getpid()

        def die_with_parent() -> None:
            if _libc is not None:
                _libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                if os.getppid() != parent:  # it was gone before the wish was heard
                    os.kill(os.getpid(), signal.SIGKILL)

        with log_path.open("ab") as log:
            # Its own session: Ctrl-C in the terminal reaches the supervisor alone, which then ends them in
            # order.
            child.process = subprocess.Popen(
                list(child.command),
                cwd=self.root,
                env=dict(self.environment),
                stdin=subprocess.DEVNULL,
                stdout=log if child.stdout is None else child.stdout,
                stderr=log,
                pass_fds=child.pass_fds,
                start_new_session=True,
                preexec_fn=die_with_parent,
            )
        child.started_s, child.restart_at_s = self.clock(), None
        self._record()

    def tend(self) -> list[Child]:
        """Notice deaths and start again what is due. Returns those that were found dead now."""
        dead: list[Child] = []
        now_s = self.clock()
        for child in self.children:
            if child.is_alive:
                continue
            if child.restart_at_s is None:
                child.deaths = 1 if now_s - child.started_s > STEADY_S else child.deaths + 1
                child.restart_at_s = now_s + min(BACK_OFF_FIRST_S * 2 ** (child.deaths - 1), BACK_OFF_MAX_S)
                dead.append(child)
            elif now_s >= child.restart_at_s:
                self.start(child)
        return dead

    def end_all(self, within_s: float) -> None:
        """End the last started first, each with SIGTERM and what is left of its share of the time, then
        SIGKILL. All are gone after."""
        end_s = self.clock() + within_s
        groups = [
            [child for child in self.children if child.name.startswith(prefix)]
            for prefix in ("web", "worker", "keeper", "redis")
        ]
        for place, group in enumerate(groups):
            running = [child.process for child in group if child.process is not None and child.is_alive]
            for process in running:
                process.terminate()
            share_s = (end_s - self.clock()) / (len(groups) - place)
            group_end_s = self.clock() + max(0.0, share_s)
            for process in running:
                try:
                    process.wait(max(0.0, group_end_s - self.clock()))
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
        (self.run_dir / "children.json").unlink(missing_ok=True)

    def log_path(self, name: str) -> Path:
        """Where a child writes what it has to say."""
        return self.run_dir / "logs" / f"{name.replace(' ', '-')}.log"

    def _record(self) -> None:
        rows = [
            {"name": child.name, "pid": child.process.pid, "started": start_time(child.process.pid)}
            for child in self.children
            if child.process is not None and child.is_alive
        ]
        draft = self.run_dir / "children.json.part"
        draft.write_text(json.dumps(rows), encoding="utf-8")
        draft.replace(self.run_dir / "children.json")


def end_left_over(run_dir: Path, within_s: float = 3.0) -> list[str]:
    """End what an earlier supervisor that was killed has left behind. Returns the names of those found
    alive."""
    try:
        rows = json.loads((run_dir / "children.json").read_text(encoding="utf-8"))
        left = [
            (str(row["name"]), int(row["pid"]), str(row["started"]))
            for row in rows
            if row["started"] is not None
        ]
    except (OSError, ValueError, KeyError, TypeError):
        return []
    alive = [entry for entry in left if start_time(entry[1]) == entry[2]]
    for sent, wait_s in ((signal.SIGTERM, within_s), (signal.SIGKILL, 1.0)):
        end_s = time.monotonic() + wait_s
        remaining = [(pid, started) for _, pid, started in alive if start_time(pid) == started]
        for pid, _ in remaining:
            os.kill(pid, sent)
        while time.monotonic() < end_s and any(start_time(pid) == started for pid, started in remaining):
            time.sleep(0.02)
    (run_dir / "children.json").unlink(missing_ok=True)
    return [name for name, _, _ in alive]


def start_time(pid: int) -> str | None:
    """When the process began, in whatever spelling the system has; None: there is none, or it is a zombie."""
    if sys.platform == "linux":
        try:
            # The name in brackets may hold spaces and brackets; what follows the last one does not.
            fields = (
                Path(f"/proc/{pid}/stat")
                .read_text(encoding="utf-8", errors="replace")
                .rpartition(")")[2]
                .split()
            )
        except OSError:
            return None
        return None if fields[0] in "ZX" else fields[19]
    shown = subprocess.run(
        ["ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False
    ).stdout.strip()
    return shown or None
