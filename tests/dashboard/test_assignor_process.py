"""The process that runs a user's assignor: the same answer everywhere, and nothing that it can do to the
machine."""

from __future__ import annotations

import json
import os
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dashboard.assignors.child.limits import ANSWER_BYTES_MAX, STEPS_MAX
from dashboard.assignors.child.ordered import OrderedFrozenSet, OrderedSet, is_set
from dashboard.assignors.runner import CHILD, COMMAND, AssignorLost, Runner

MEMBERS = {
    f"c{number}": {"topics": ["t"], "owned": [], "generation": -1, "instance_id": "", "rack": ""}
    for number in range(1, 8)
}
EMPTY = "def assign(members, partitions):\n    return {}\n"


def ordered(source: str) -> bytes:
    return json.dumps({"source": source, "arguments": [MEMBERS, {"t": 9, "u": 3}]}).encode()


def answered(source: str, *, seed: str = "0", start: str = "") -> dict[str, Any]:
    """What the real child says. seed: PYTHONHASHSEED. start: Python that changes it before its `main`."""
    command = COMMAND if not start else (*COMMAND[:-1], "-c", f"{IN_ITS_FOLDER}{start}\nmain.main()")
    done = subprocess.run(
        command,
        input=ordered(source),
        capture_output=True,
        env={"PYTHONHASHSEED": seed},
        cwd="/",
        check=False,
    )
    assert done.returncode == 0, done.stderr.decode()
    return dict(json.loads(done.stdout))


IN_ITS_FOLDER = (
    f"import json, sys\nsys.path.insert(0, {str(CHILD.parent)!r})\nfrom child import __main__ as main, "
    f"limits\n"
)

# --- the same answer in every process

BY_ADDRESS = (
    "def assign(members, partitions):\n    def one(): pass\n    "
    + "\n    ".join(
        [
            (
                "mixed = {None, one, assign, len, int, str, set, 'a', 'b', 'c', float('nan'), (None, 1), "
                "frozenset({None, 'x'}), lambda: 0, range(0)}"
            ),
            "grown = set()",
            "for name in [*members, None, one, *'hgfedcba']: grown.add(name)",
            "taken = grown.pop()",
            "keys = members.keys() - {'c2', None} | {one, None} ^ {'c3'}",
            "left = dict(members)",
            "left['n'] = 3",
            "left['n'] -= 1",
            "views = left.keys()",
            "views &= {None, 'n', 'c1', 'c5'}",
            "items = {'k': (1, None)}.items() | {(None, 2), ('z', one)}",
            "made = {name: None for name in {None, 'q', 'w', 'e'}}",
            (
                "texts = [f'{one}', f'{mixed!s:>3}', f'{one!r}', '%s %r' % (one, [assign]), str(one), "
                "repr([].append), str(iter([])), str(n for n in [1])]"
            ),
            "texts += [str(name) for name in sorted({one, assign, len}, key=str)]",
            "texts += [str(n) for n in {min([one, assign, len], key=lambda f: f'{f}'), None}]",
            "found = [*mixed, *grown, taken, *keys, *views, *items, *made, *texts]",
            "return {'c1': [[str(x), 0] for x in found], 'c2': [[str(mixed), 0], [str(keys), 0]]}",
        ]
    )
    + "\n"
)


def test_what_python_orders_by_address_has_one_order_in_every_process() -> None:
    seeds = ["0", "1", "17", "4294967295", *["random"] * 8]
    answers = {json.dumps(answered(BY_ADDRESS, seed=seed)) for seed in seeds}
    assert len(answers) == 1, "each process has its addresses elsewhere"
    (said,) = answers
    assert "assignment" in json.loads(said) and " at 0x" not in said


def test_pythons_own_sets_would_have_differed() -> None:
    """Else the test above shows nothing."""
    code = "print([str(x)[:9] for x in {None, len, int, 'a', 'b', 'c', 'd', (None, 1)}])"
    orders = {
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, env={"PYTHONHASHSEED": seed}, check=True
        ).stdout
        for seed in ("0", "1", "17", *["random"] * 5)
    }
    assert len(orders) > 1


OPERATORS = {"|": "__or__", "&": "__and__", "-": "__sub__", "^": "__xor__"}
COMPARED = ("__eq__", "__le__", "__lt__", "__ge__", "__gt__")
METHODS = (
    "union",
    "intersection",
    "difference",
    "symmetric_difference",
    "isdisjoint",
    "issubset",
    "issuperset",
)
CHANGES = (
    "update",
    "intersection_update",
    "difference_update",
    "__ior__",
    "__iand__",
    "__isub__",
    "__ixor__",
)
few = st.lists(st.sampled_from(["a", "b", "c", None, 1, 2.5, (None,)]), max_size=8)


@given(few, few, st.sampled_from([OrderedSet, OrderedFrozenSet]))
def test_ordered_sets_hold_what_pythons_own_would(here: list[Any], there: list[Any], kind: type) -> None:
    mine, others, theirs = kind(here), kind(there), (set(here), set(there))
    assert set(mine) == theirs[0] and len(mine) == len(theirs[0]) and list(mine) == list(dict.fromkeys(here))
    for name in (*OPERATORS.values(), *METHODS, *COMPARED):
        ours, pythons = getattr(mine, name)(others), getattr(theirs[0], name)(theirs[1])
        assert (set(ours) if is_set(ours) else ours) == pythons, name
    assert list(mine | others) == list(dict.fromkeys(here + there)), "as they were put in"
    assert list(mine & others) == [item for item in mine if item in theirs[1]]
    assert mine != list(here) and (mine == dict.fromkeys(here).keys()) is True


@given(few, few, st.sampled_from(CHANGES))
def test_what_changes_an_ordered_set_changes_it_as_pythons_own(
    here: list[Any], there: list[Any], change: str
) -> None:
    mine, pythons = OrderedSet(here), set(here)
    getattr(mine, change)(OrderedSet(there))
    getattr(pythons, change)(set(there))
    assert set(mine) == pythons and is_set(mine)


def test_the_text_of_an_assignor_runs_as_it_would_in_python() -> None:
    """Whatever is put in place of Python's own: the same values and the same errors."""
    body = """
    seen, box = [], {"a": 7, "b": [1, 2, 3], "s": set("abc")}
    box["a"] -= 2; box["a"] %= 4; box["s"] -= {"b"}; box["b"][0] |= 6; box["b"][1:] += [9]
    five = 5; five ^= 1; five &= 6
    seen += [box["a"], sorted(box["s"]), box["b"], five, 7 - 2, 7 % 4, 7 | 8, 7 & 2, 7 ^ 2, "%03d|%s" % (7, None), f"{7:04d}|{3.14159:.2f}|{'x':>3}"]
    seen += [f"{[1, 'a']}", f"{'a'!r}", f"{five=}", isinstance("a", str), isinstance({1}, set), isinstance(1, (str, int)), str.upper("ab")]
    seen += [list(map(str, [1, 2])), sorted({n % 3 for n in range(9)}), {1, 2} == {2, 1}, {1} <= {1, 2}, len({*"aab"}), str(12), repr("q")]
    total: dict[str, set[str] | None] = {}
    return {"seen": seen, "frozen": {frozenset("ab"): 1}[frozenset("ba")]}
"""
    source = f"def assign(members: dict[str, str | None], partitions):{body}"
    space: dict[str, Any] = {}
    exec(source, space)
    assert answered(source)["assignment"] == json.loads(json.dumps(space["assign"]({}, {})))


# --- steps and CPU

LOOPS = [
    "while True: pass",
    "while True: x = [x]",
    "while True: x = (1 - 2) & (3 | 4) ^ 5",
    "return [0 for n in range(1000000000)]",
    "while True: x = {1, 2, 3} - {2}",
    "while True: x = sorted(map(lambda n: -n, range(9)))",
]


@pytest.mark.parametrize("loop", LOOPS)
def test_steps_end_a_loop_so_every_machine_ends_it_at_the_same_step(loop: str) -> None:
    order = ordered(f"def assign(members, partitions):\n    x = 0\n    {loop}\n")
    said = subprocess.run(COMMAND, input=order, stdout=subprocess.PIPE, env={"PYTHONHASHSEED": "0"}).stdout
    assert json.loads(said) == {"code": "steps", "params": {"steps": STEPS_MAX}, "line": 3}


# --- what the kernel refuses, asked for by the real child in the place of the user's function

DEEDS = {
    "open": "os.open('/etc/passwd', os.O_RDONLY)",
    "create": "os.open('/tmp/x-highwater', os.O_CREAT | os.O_WRONLY)",
    "read": "os.read(0, 1)",
    "fork": "os.fork() or os._exit(0)",
    "thread": "_thread.start_new_thread(print, ())",
    "exec": "os.execv('/nowhere/x', ['x'])",
    "kill": "os.kill(os.getppid(), 0)",
    "socket": "socket.socket()",
    "setrlimit": "of_libc('setrlimit', 0, ctypes.byref((ctypes.c_ulong * 2)(9, 9)))",
    "unlink": "os.unlink('/nowhere/x')",
    "rename": "os.rename('/nowhere/x', '/nowhere/y')",
    "mkdir": "os.mkdir('/nowhere/x')",
    "stat": "os.stat('/')",
    "listdir": "os.listdir('/')",
    "chdir": "os.chdir('/')",
    "dup": "os.dup(1)",
    "pipe": "os.pipe()",
    "write elsewhere": "os.write(2, b'x')",
    "sleep": "time.sleep(0.01)",
    "setuid": "os.setuid(0)",
    "nice": "os.nice(0)",
    "ptrace": "of_libc('ptrace', 0, 0, 0, 0)",
    "prctl": "of_libc('prctl', 15, b'x', 0, 0, 0)",
    "mount": "of_libc('mount', b'a', b'/nowhere', b'tmpfs', 0, 0)",
    "memory with a program": "mmap.mmap(-1, 4096, prot=7)",
    "a program in memory": "of_libc('mprotect', ctypes.c_void_p(page), 4096, 7)",
}
ASKS = """
import _thread, ctypes, mmap, os, socket, time
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 3, 34, -1, 0)

def of_libc(name, *given):
    if getattr(libc, name)(*given) == -1:
        raise OSError(ctypes.get_errno(), name)

def answer(order):
    try:
        {deed}
    except Exception as error:
        return json.dumps({{"errno": getattr(error, "errno", None), "error": str(error)}})
    return json.dumps({{"errno": 0}})

main.answer = answer
"""


@pytest.mark.parametrize("deed", DEEDS)
def test_the_kernel_refuses_the_real_child(deed: str) -> None:
    said = answered(EMPTY, start=ASKS.format(deed=DEEDS[deed]))
    refused = {"errno": 1} if deed != "thread" else {"errno": None, "error": "can't start new thread"}
    assert refused.items() <= said.items(), said
    free = answered(EMPTY, start=ASKS.format(deed=DEEDS[deed]) + "\nmain.shut = main.limit = lambda: None\n")
    assert free["errno"] != 1 and free != said, "without the filter it is another answer"


@pytest.mark.parametrize(
    "deed",
    [
        "sys.modules['posix'].listdir('/')",
        "sys._getframe(0)",
        "__import__('colorsys')",
        "compile('1', 'x', 'eval')",
    ],
)
def test_the_audit_hook_refuses_too_whoever_asks(deed: str) -> None:
    start = f"lock = main.lock\ndef then():\n    lock()\n    {deed}\nmain.lock = then"
    assert "is not allowed" in answered(EMPTY, start=start)["error"]


def test_a_kernel_without_a_filter_runs_no_assignor_root_or_not(tmp_path: Path) -> None:
    """The kernel is played by a filter of our own, which refuses that another one is set."""
    launcher = tmp_path / "old_kernel.py"
    number = {"x86_64": 157, "aarch64": 167}[os.uname().machine]
    rules = [
        (0x20, 0, 0, 0),
        (0x15, 0, 3, number),
        (0x20, 0, 0, 16),
        (0x15, 0, 1, 22),
        (0x06, 0, 0, 0x50016),
        (0x06, 0, 0, 0x7FFF0000),
    ]
    program = b"".join(struct.pack("HBBI", *rule) for rule in rules)
    launcher.write_text(
        f"import ctypes, os, sys\nclass P(ctypes.Structure):\n    _fields_ = [('n', ctypes.c_ushort), "
        f"('p', ctypes.c_char_p)]\n"
        f"libc = ctypes.CDLL(None)\nwanted = P({len(rules)}, {program!r})\n"
        "assert not libc.prctl(38, 1, 0, 0, 0) and not libc.prctl(22, 2, ctypes.byref(wanted), 0, "
        "0)\nos.execv(sys.argv[1], sys.argv[1:])\n"
    )
    runner = Runner((sys.executable, str(launcher), *COMMAND))
    assert runner.run(EMPTY, {}, {}) == {"code": "off", "params": {}, "line": 0}
    assert Runner().run(EMPTY, {}, {}) == {"assignment": {}}


# --- what is read of it


def test_no_more_of_an_answer_is_read_than_it_may_have_and_the_kernel_ends_a_longer_one(
    tmp_path: Path,
) -> None:
    flood = (
        sys.executable,
        "-c",
        f"import sys; sys.stdin.read(); sys.stdout.write('x' * {3 * ANSWER_BYTES_MAX})",
    )
    assert Runner(flood).run(EMPTY, {}, {})["code"] == "long_answer"
    start = f"main.answer = lambda order: 'x' * {3 * ANSWER_BYTES_MAX}\n"
    command, out = (*COMMAND[:-1], "-c", f"{IN_ITS_FOLDER}{start}main.main()"), tmp_path / "answer"
    with out.open("wb") as file:
        done = subprocess.run(
            command, input=ordered(EMPTY), stdout=file, stderr=subprocess.DEVNULL, env={}, check=False
        )
    assert done.returncode != 0 and out.stat().st_size <= ANSWER_BYTES_MAX


@pytest.mark.parametrize("shell", ["[made]", "{'c1': made}", "(made,)"])
def test_an_answer_nested_too_deeply_is_said_so(shell: str) -> None:
    source = (
        f"def assign(members, partitions):\n    made = []\n    for n in range(3000):\n        made = "
        f"{shell}\n    return made\n"
    )
    assert answered(source) == {"code": "deep_answer", "params": {}, "line": 0}
    deep = '{"assignment": ' + "[" * 4_000
    assert Runner((sys.executable, "-c", f"print({deep!r})")).run(EMPTY, {}, {})["code"] == "deep_answer"


@pytest.mark.parametrize("said", ["5", "null", "[]", "{}", "not JSON"])
def test_an_answer_that_is_none_is_said_so(said: str) -> None:
    assert Runner((sys.executable, "-c", f"print({said!r})")).run(EMPTY, {}, {})["code"] == "unreadable"


@pytest.mark.parametrize("end", ["os.kill(os.getpid(), 9)", "os.kill(os.getpid(), 15)", "sys.exit(3)"])
def test_a_process_that_is_ended_from_outside_says_nothing_of_the_function(end: str, tmp_path: Path) -> None:
    log = tmp_path / "runs"
    command = (sys.executable, "-c", f"import os, sys; open({str(log)!r}, 'a').write('x'); {end}")
    with pytest.raises(AssignorLost, match="in 3 tries"):
        Runner(command).run(EMPTY, {}, {})
    assert log.read_text() == "xxx", "it was tried again before"


def test_a_tubemq_rule_is_passed_a_third_argument() -> None:
    source = "def assign(members, partitions, status):\n    return {'a': [['t', row['lag']] for row in status['t']]}\n"
    status = {"t": [{"lag": 4, "subscribable": True}, {"lag": 0, "subscribable": False}]}
    assert Runner().run(source, MEMBERS, {"t": 9}, status) == {"assignment": {"a": [["t", 4], ["t", 0]]}}
