"""Commands: what a person may order, one struct for each kind, and the registry that knows them all.

    a request, a script, the journal ─► command_from_json ─► check(facts of the lab) ─► carry_out(lab)

In the journal, in requests and in a share link a command is a plain dict: `{"command_id", "kind", "lane":
"all" | a lane's id, "consumer": name | None, "args": {...}}`, and
once stored `"position"` (its place in the journal, from 1) and `"at_us"` (the virtual time at which it took
effect). A new kind is a class in a file beside the others and a line in COMMANDS.
"""

from collections.abc import Mapping
from types import MappingProxyType

from broker_core.errors import CommandError, Names
from broker_core.events import Json
from broker_core.lab.commands.algorithm import SetAlgorithm, SetOrder
from broker_core.lab.commands.base import ALL, Command, ConsumerCommand
from broker_core.lab.commands.clock import PauseLab, Play, PlayUntil, Speed, Step
from broker_core.lab.commands.cluster import FAULT_COMMANDS
from broker_core.lab.commands.cluster_clients import WRITER_COMMANDS
from broker_core.lab.commands.cluster_operator import OPERATOR_COMMANDS
from broker_core.lab.commands.group import GROUP_COMMANDS
from broker_core.lab.commands.group_partition import PARTITION_COMMANDS
from broker_core.lab.commands.membership import Crash, Join, Leave, Rejoin
from broker_core.lab.commands.pace import Pause, Resume, Slow
from broker_core.lab.commands.pulsar import PULSAR_COMMANDS
from broker_core.lab.commands.pulsar_producer import LoseReceipts
from broker_core.lab.commands.rabbitmq import SERVER_COMMANDS
from broker_core.lab.commands.rabbitmq_access import ACCESS_COMMANDS
from broker_core.lab.commands.rabbitmq_clients import REAL_CLIENT_COMMANDS
from broker_core.lab.commands.rabbitmq_consumer import WORKER_COMMANDS
from broker_core.lab.commands.rabbitmq_server import RUN_COMMANDS
from broker_core.lab.commands.rabbitmq_trace import TraceMethods
from broker_core.lab.commands.tubemq_client import CLIENT_COMMANDS
from broker_core.lab.commands.tubemq_cluster import CLUSTER_COMMANDS
from broker_core.lab.commands.workload import RecordRate
from broker_core.lab.fields import COMMAND_ID, LANE_ID, refuse_unknown
from broker_core.lab.limits import DEFAULT_LIMITS, Limits
from broker_core.lab.older_names import renamed

_ALL_KINDS: tuple[type[Command], ...] = (
    Join,
    Leave,
    Crash,
    Rejoin,
    Pause,
    Resume,
    Slow,
    SetAlgorithm,
    SetOrder,
    Play,
    PlayUntil,
    PauseLab,
    Step,
    Speed,
    RecordRate,
    *FAULT_COMMANDS,
    *OPERATOR_COMMANDS,
    *WRITER_COMMANDS,
    *GROUP_COMMANDS,
    *PARTITION_COMMANDS,
    *PULSAR_COMMANDS,
    LoseReceipts,
    *SERVER_COMMANDS,
    *ACCESS_COMMANDS,
    TraceMethods,
    *RUN_COMMANDS,
    *REAL_CLIENT_COMMANDS,
    *WORKER_COMMANDS,
    *CLIENT_COMMANDS,
    *CLUSTER_COMMANDS,
)
COMMANDS: Mapping[str, type[Command]] = MappingProxyType({command.kind: command for command in _ALL_KINDS})
CONSUMER_KINDS = frozenset(
    kind for kind, command in COMMANDS.items() if issubclass(command, Join | ConsumerCommand)
)
"""Kinds that are about consumers: programs carry them out, and their brokers answer over the network."""
FIELDS = frozenset({"command_id", "kind", "lane", "consumer", "args", "position", "at_us"})


def command_from_json(raw: object, limits: Limits = DEFAULT_LIMITS) -> Command:
    """Check the shape of a command, without a lab. Raises CommandError naming the field that is wrong.

    >>> command_from_json({"command_id": "x1", "kind": "join"}).args()
    {'count': 1}
    """
    if not isinstance(raw, dict):
        raise CommandError("command", "must be an object")
    raw = renamed(raw, "lane")
    refuse_unknown(raw, FIELDS, "", "command")
    command_id = raw.get("command_id")
    if not isinstance(command_id, str) or not COMMAND_ID.fullmatch(command_id):
        raise CommandError("command_id", "must be 1 to 64 letters, digits or . _ : -")
    kind = raw.get("kind")
    if not isinstance(kind, str) or kind not in COMMANDS:
        raise CommandError("kind", "must be one of {choices}", choices=Names(COMMANDS))
    lane = raw.get("lane", ALL)
    if not isinstance(lane, str) or not LANE_ID.fullmatch(lane):
        raise CommandError("lane", 'must be "all" or the id of a lane')
    args = raw.get("args")
    if args is None:
        args = {}
    if not isinstance(args, dict):
        raise CommandError("args", "must be an object")
    made = COMMANDS[kind]
    refuse_unknown(args, made.ARGS, "args.", "args")
    return made.make(command_id, lane, raw.get("consumer"), args, limits)


def check_command(raw: object, limits: Limits = DEFAULT_LIMITS) -> Json:
    """`raw` as a complete command, every key present. Raises CommandError as `command_from_json` does."""
    return command_from_json(raw, limits).to_json()
