"""A Pulsar lab that has run for five seconds, for the commands of its lane."""

from tests.core.lab.pulsar.pulsar_lab import SECOND, lab_of

__all__ = ["SECOND", "order", "running", "view"]


def running(algorithm="shared", consumers=2, rate=20, **options):
    lab = lab_of(algorithm, consumers, rate, keys=50, **options)
    lab.advance_to(5 * SECOND)
    return lab


def order(lab, kind, consumer="c1", seconds=1.0, **args):
    events = lab.submit(
        {"command_id": f"n{lab.position + 1}", "kind": kind, "consumer": consumer, "args": args}
    )
    return events + lab.advance_to(lab.now_us + int(seconds * SECOND))


def view(lab):
    return lab.view()["lanes"]["pulsar"]
