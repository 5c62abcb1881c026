"""`make clients`: the client libraries' own suites against `highwater serve`; after each, the same run again, and the laws of the
broker. `python -m tests.clients pika kombu` runs those alone.

    PyPI ─ pip ─► var/clients/{venv, suites} ─► pytest of the suite ─ AMQP ─► highwater serve ─► journal ─► replay, laws

Exit code 1 where a test fails whose reason is not in reasons.toml, where none of a suite ran, or where a run does not hold.
"""

from __future__ import annotations

import sys

from tests.clients.fetch import fetch, make_environment
from tests.clients.outcomes import Outcomes, Verdict, judge, read_reasons
from tests.clients.play import play
from tests.clients.suites import SUITES


def main(names: list[str]) -> int:
    unknown = set(names) - {suite.name for suite in SUITES}
    if unknown:
        known = ", ".join(suite.name for suite in SUITES)
        print(f"There is no suite {', '.join(sorted(unknown))}; there are {known}.", file=sys.stderr)
        return 2
    suites = [suite for suite in SUITES if not names or suite.name in names]
    make_environment()
    folders = {suite.name: fetch(suite) for suite in suites}
    is_good = True
    for suite in suites:
        folder = folders[suite.name]
        if folder is None:
            why = f"PyPI has no tests of it; {suite.variable}=FOLDER names its source"
            print(f"{suite.name}: not run, {why}", flush=True)
            continue
        outcomes = play(suite, folder)
        verdict = judge(outcomes, read_reasons(suite.name))
        print(words(suite.name, outcomes, verdict), flush=True)
        is_good &= bool(outcomes.passed) and not verdict.unknown and not outcomes.broken
    return 0 if is_good else 1


def words(suite: str, outcomes: Outcomes, verdict: Verdict) -> str:
    counts = f"{len(outcomes.passed)} passed, {len(outcomes.failed)} failed, {len(outcomes.skipped)} skipped"
    lines = [f"{suite}: {counts}, {outcomes.seconds:.0f} s"]
    lines += [f"  differs: {test}: {why}" for test, why in verdict.known.items()]
    lines += [f"  passes, and reasons.toml says why it would not: {reason.test}" for reason in verdict.idle]
    lines += [f"  FAILED: {test}\n{said}" for test, said in verdict.unknown.items()]
    lines += [f"  FAILED: its run does not hold: {why}" for why in outcomes.broken]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
