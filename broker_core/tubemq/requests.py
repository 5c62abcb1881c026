"""Requests between TubeMQ's clients, master and brokers, by the names of MasterService.proto and
BrokerService.proto.

C2M, M2C: consumer and master. C2B, B2C: consumer and broker. P2B: producer to broker. partition: the key
"brokerId:topic:partitionId". Offsets are bytes of the partition's index log, ENTRY_BYTES for each message.
Left out: filters at a broker, host names, authentication.
Source: TubeMQ (InLong a6c7a6a670); docs/tubemq/facts.md, "Requests".
"""

from __future__ import annotations

import msgspec

from broker_core.clock import SECOND_US

SUCCESS, BAD_REQUEST, UNAUTHORIZED, FORBIDDEN, NOT_FOUND = 200, 400, 401, 403, 404
MOVED = 301
NONE_REGISTERED, ALL_WAITING, ALL_IN_USE = 406, 407, 408
PARTITION_OCCUPIED, HB_NO_NODE, DUPLICATE_PARTITION, CERTIFICATE_FAILURE = 410, 411, 412, 415
CLIENT_SHUTDOWN, CLIENT_HIGH_FREQUENCY_REQUEST = 420, 421
PARTITION_UNSUBSCRIBABLE = 422
CONSUME_KIND_DIFFERS, TOPICS_DIFFER, FILTERS_DIFFER = 424, 425, 426
SESSION_KEY_DIFFERS, SELECT_BIG_DIFFERS = 427, 428
SOURCE_COUNT_DIFFERS, NODE_ID_TAKEN, TOPIC_NOT_DEPLOYED = 429, 430, 431
CONSUME_GROUP_FORBIDDEN, SERVER_CONSUME_SPEED_LIMIT = 450, 452
INTERNAL_ERROR, SERVICE_UNAVAILABLE, UNSPECIFIED = 500, 503, 599

TIMEOUT_US = 30 * SECOND_US
"""Without a word from a client for so long, master and brokers each remove it."""
CONNECT, DISCONNECT, ONLY_CONNECT, ONLY_DISCONNECT = 1, 2, 10, 20
"""kind of a ConsumerEvent."""
REGISTER, UNREGISTER = 31, 32
"""op_type of a RegisterRequestC2B (RpcConstants.MSG_OPTYPE_REGISTER, MSG_OPTYPE_UNREGISTER)."""
FROM_FIRST, FROM_MAX, FROM_MAX_ALWAYS = 0, 1, 2
"""read_status of a RegisterRequestC2B: where a group without a stored offset begins; the last one sets the end of
the log whatever is stored."""
ENTRY_BYTES = 28
"""Of one message in the index log (INDEX_MSG_UNIT_SIZE)."""
NAME_LENGTH_MAX = 1_024
MESSAGE_BYTES_MAX = 1_024 * 1_024 + 1_024
"""Of a message's data (BrokerServiceServer.sendMessageP2B)."""


TOPICS_MAX = 1_024


def is_name(text: str) -> bool:
    """Whether it can be a client's id or a group's name (PBParameterUtils).

    >>> is_name("c1"), is_name(" "), is_name("c" * 1_025)
    (True, False, False)
    """
    return bool(text.strip()) and len(text) <= NAME_LENGTH_MAX


class _Request(msgspec.Struct, array_like=True, gc=False):
    pass


class RegisterRequestC2MV2(_Request, tag="tubemq.RegisterRequestC2MV2"):
    """Of a consumer that balances for itself. conditions: "topic#filter,filter,...". partitions: what it holds."""

    client_id: str
    group: str
    source_count: int
    node_id: int
    topics: list[str] = []
    conditions: list[str] = []
    partitions: list[str] = []
    flow_id: int = -2


class RegisterRequestC2M(_Request, tag="tubemq.RegisterRequestC2M"):
    """Of a consumer whose partitions the master gives out. require_bound: with offsets of its own, once all of
    `total_count` clients are there; required_partition: "key=offset,key=offset". partitions: what it holds."""

    client_id: str
    group: str
    topics: list[str]
    conditions: list[str] = []
    require_bound: bool = False
    session_key: str = ""
    total_count: int = -2
    select_big: bool = True
    required_partition: str = ""
    partitions: list[str] = []
    flow_id: int = -2


class RegisterResponseM2C(_Request, tag="tubemq.RegisterResponseM2C"):
    """is_not_allocated: of a bound group that has not yet carried out its plan. flow_id: number of the flow rules;
    flow_rules: default and the group's, if the client has those of another number."""

    code: int
    is_not_allocated: bool = True
    flow_id: int = -2
    flow_rules: list[str] = []
    from_max_id: int = -2


class GetPartMetaRequestC2M(_Request, tag="tubemq.GetPartMetaRequestC2M"):
    """topic_meta_id: of what the client has; the answer carries the topics only if the master's is another
    one."""

    client_id: str
    group: str
    topic_meta_id: int


class GetPartMetaResponseM2C(_Request, tag="tubemq.GetPartMetaResponseM2C"):
    """topic_meta: entries of `metadata.expand_topic_meta`. broker_ids: the brokers that the master knows."""

    code: int
    topic_meta_id: int
    topic_meta: list[str]
    broker_ids: list[int]


class HeartRequestC2MV2(_Request, tag="tubemq.HeartRequestC2MV2"):
    """Of a consumer that balances for itself. partitions: what it holds, None to say nothing new."""

    client_id: str
    group: str
    partitions: list[str] | None = None
    flow_id: int = -2


class HeartRequestC2M(_Request, tag="tubemq.HeartRequestC2M"):
    """Of a consumer whose partitions the master gives out. partitions: what it holds, None to say nothing new. done:
    id of the event that it has carried out, 0 for none."""

    client_id: str
    group: str
    partitions: list[str] | None
    done: int = 0
    flow_id: int = -2


class ConsumerEvent(_Request):
    """What the master wants of a consumer. kind: CONNECT, DISCONNECT, or the same alone in their plan."""

    event_id: int
    kind: int
    partitions: list[str]


class HeartResponseM2C(_Request, tag="tubemq.HeartResponseM2C"):
    """from_max_id: number of the operator's last order to consume from the end, to a group that balances for itself."""

    code: int
    event: ConsumerEvent | None = None
    is_not_allocated: bool = True
    flow_id: int = -2
    flow_rules: list[str] = []
    from_max_id: int = -2


class CloseRequestC2M(_Request, tag="tubemq.CloseRequestC2M"):
    client_id: str
    group: str


class RegisterRequestC2B(_Request, tag="tubemq.RegisterRequestC2B"):
    """curr_offset: where to begin, below 0 for the stored offset. last_pack_consumed: with UNREGISTER,
    whether the batch out was handled. read_status: where a group begins that has no stored offset."""

    op_type: int
    client_id: str
    group: str
    partition: str
    curr_offset: int = -1
    last_pack_consumed: bool = False
    read_status: int = FROM_FIRST


class RegisterResponseB2C(_Request, tag="tubemq.RegisterResponseB2C"):
    code: int
    op_type: int
    partition: str
    curr_offset: int
    max_offset: int


class HeartBeatRequestC2B(_Request, tag="tubemq.HeartBeatRequestC2B"):
    client_id: str
    group: str
    partitions: list[str]


class HeartBeatResponseB2C(_Request, tag="tubemq.HeartBeatResponseB2C"):
    """failures: (code, partition) of those that this client does not hold: 411 nobody does, 412 another
    one."""

    failures: list[tuple[int, str]]


class GetMessageRequestC2B(_Request, tag="tubemq.GetMessageRequestC2B"):
    """last_pack_consumed: the batch before this one is confirmed with the read. escapes_flow_control: the group has
    flow rules of its own, which its clients keep, so the broker's do not hold."""

    client_id: str
    group: str
    partition: str
    last_pack_consumed: bool = False
    escapes_flow_control: bool = False


class GetMessageResponseB2C(_Request, tag="tubemq.GetMessageResponseB2C"):
    """messages: numbers of the messages of one batch; empty unless code is SUCCESS. curr_offset: where the
    batch begins. size: of the messages' data in bytes; lag: in bytes, what is written after them. min_limit_us: with
    452, how long the partition has to rest."""

    code: int
    partition: str
    messages: list[int]
    curr_offset: int
    max_offset: int
    size: int = 0
    lag: int = -1
    min_limit_us: int = 0


class CommitOffsetRequestC2B(_Request, tag="tubemq.CommitOffsetRequestC2B"):
    client_id: str
    group: str
    partition: str
    last_pack_consumed: bool


class CommitOffsetResponseB2C(_Request, tag="tubemq.CommitOffsetResponseB2C"):
    code: int
    partition: str
    curr_offset: int
    max_offset: int


class SendMessageRequestP2B(_Request, tag="tubemq.SendMessageRequestP2B"):
    """message: its number. size: of its data, in bytes."""

    partition: str
    message: int
    size: int


class SendMessageResponseB2P(_Request, tag="tubemq.SendMessageResponseB2P"):
    """Of a message that is refused. A message that is written is not answered, as our producer would not wait for
    that."""

    code: int
    partition: str


class QueryClientBalanceGroupSet(_Request, tag="tubemq.QueryClientBalanceGroupSet"):
    """admin_query_client_balance_group_set: which groups balance for themselves?"""


class ClientBalanceGroupSet(_Request, tag="tubemq.ClientBalanceGroupSet"):
    groups: list[str]


class SetClientBalanceGroupConsumeFromMax(_Request, tag="tubemq.SetClientBalanceGroupConsumeFromMax"):
    """admin_set_client_balance_group_consume_from_max: each client that is there now begins at the end of what it has."""

    group: str


class ConsumeFromMaxSet(_Request, tag="tubemq.ConsumeFromMaxSet"):
    """code: 404 where no such group balances for itself."""

    code: int
    from_max_id: int = -2


class QueryConsumeGroupDetail(_Request, tag="tubemq.QueryConsumeGroupDetail"):
    """admin_query_consume_group_detail: who is in the group, and holds what?"""

    group: str


class MemberDetail(_Request):
    """partitions: as it last reported them."""

    client_id: str
    node_id: int
    partitions: list[str]


class ConsumeGroupDetail(_Request, tag="tubemq.ConsumeGroupDetail"):
    """kind: "" where there is no such group. check: status, rate and least number of clients of the check for
    resources. topic_meta: of a group that balances for itself."""

    group: str
    kind: str = ""
    topics: list[str] = []
    filters: dict[str, list[str]] = {}
    source_count: int = -2
    is_not_allocated: bool = True
    check: list[int] = []
    topic_meta_id: int = -2
    topic_meta: list[str] = []
    members: list[MemberDetail] = []


class RspExceptionBody(_Request, tag="tubemq.RspExceptionBody"):
    """The answer to what is no request of this service: the name of an exception of the server's."""

    exception_name: str


NO_METHOD = RspExceptionBody("java.lang.Exception")
"""Source: TubeMQ (InLong) RpcProtocol.handleRequest: "No method ... found on the server"."""

STANDBY = RspExceptionBody("StandbyException")
"""Of a master that is not the active one; its client turns to the next."""

Request = (
    RegisterRequestC2MV2
    | RegisterRequestC2M
    | RegisterResponseM2C
    | GetPartMetaRequestC2M
    | GetPartMetaResponseM2C
    | HeartRequestC2MV2
    | HeartRequestC2M
    | HeartResponseM2C
    | CloseRequestC2M
    | RegisterRequestC2B
    | RegisterResponseB2C
    | HeartBeatRequestC2B
    | HeartBeatResponseB2C
    | GetMessageRequestC2B
    | GetMessageResponseB2C
    | CommitOffsetRequestC2B
    | CommitOffsetResponseB2C
    | SendMessageRequestP2B
    | SendMessageResponseB2P
    | QueryClientBalanceGroupSet
    | ClientBalanceGroupSet
    | SetClientBalanceGroupConsumeFromMax
    | ConsumeFromMaxSet
    | QueryConsumeGroupDetail
    | ConsumeGroupDetail
    | RspExceptionBody
)
