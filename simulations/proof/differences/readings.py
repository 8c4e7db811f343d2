"""Where the proposal's text has two rules, or the release has another name, and no exchange can show it."""

from __future__ import annotations

from functools import partial
from typing import Final

from groups.history.entries import Kind
from simulations.proof.differences.scenarios import (
    ASKED_TO_COMPUTE,
    COMMITS,
    HEARTBEATS,
    ScenarioCase,
    callbacks,
    codes,
    fields,
    group_of,
    log_lines,
    record_types,
    said,
    versions,
)
from simulations.proof.differences.table import Difference, Seen

BYTES_ALONE: Final = "a matter of bytes: `groups.wire.kip` reads and writes the proposal's"
CLIENTS: Final = "the client's affair; the coordinator answers alike"

DELETED_TOPIC: Final = ScenarioCase(
    text="""\
topics: {foo: {partitions: 2}, bar: {partitions: 2}}
protocol: classic
assignor: cooperative-sticky
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo, bar]}
  B: {subscribe: [foo, bar]}
script: [{at: 0s, join: A}, {at: 5s, join: B}, {at: 30s, delete_topic: bar}]
until: 400s
""",
    look=partial(callbacks, topic="bar"),
    looks_at="callbacks with partitions of bar, which is deleted after 30 s",
    kip=(
        seen := [
            "A on_partitions_assigned",
            "A on_partitions_revoked",
            "B on_partitions_assigned",
            "B on_partitions_revoked",
            "A on_partitions_revoked",
        ]
    ),
    kafka=seen,
)
"""Both rules alike: what distinguishes the text is in its own two sentences."""

READINGS: Final = (
    Difference(
        id="group-configs",
        topic="settings of a group",
        section="Dynamic Group Configuration; Rejected Alternatives, Storing dynamic group configuration in the Group Coordinator",
        proposal="in a record of the coordinator (older; rejected), in the controller (newer); under the broker's names",
        reading="the controller's: no record; under the release's names, which leave `group.` out",
        released="in the controller; `consumer.session.timeout.ms` and the like",
        seen=Seen.STATE,
        unshown="both take them through `Shard.configure`; `kip` has no assignment interval to set",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, join: A}, {at: 10s, set_config: {heartbeat_interval_ms: 6000}}, {at: 12s, join: B}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
            ),
            look=partial(said, kind=Kind.RESPONSE, api=HEARTBEATS, field="heartbeatIntervalMs"),
            looks_at="heartbeat intervals of the responses, before and after the group's own setting",
            kip=[5000, 6000],
            kafka=[5000, 6000],
        ),
    ),
    Difference(
        id="enforce-rebalance",
        topic="`enforceRebalance`",
        section="KafkaConsumer",
        proposal="throws (older); does nothing and logs a warning (newer)",
        reading="does nothing and logs a warning",
        released="does nothing and logs a warning",
        seen=Seen.CLIENT,
        unshown="the client's affair; `simulate` shows it with `enforce_rebalance`",
        scenario=ScenarioCase(
            text=group_of("{at: 0s, join: A}, {at: 10s, enforce_rebalance: A}"),
            look=log_lines,
            looks_at="what the client logs",
            kip=(
                warns := [
                    "enforceRebalance() has no effect in the consumer protocol; the client logs a warning"
                ]
            ),
            kafka=warns,
        ),
    ),
    Difference(
        id="join-without-response",
        topic="a join whose response is lost",
        section="Rejected Alternatives, Client side generated Member ID",
        proposal="the client joins again without an id; the first member stays until its session has ended",
        reading=(
            "a run's coordinator makes the id of the process's name, so the second join is the same member; "
            "a client that has no id yet leaves without a request, and its member stays until its session has ended"
        ),
        released="the client has its id from the start, and joins and leaves with it",
        seen=Seen.STATE,
        unshown="the id is made outside of the coordinator's rules; `simulate` shows it with a `network` that loses messages",
        scenario=ScenarioCase(
            text="network: {delay_ms: [100, 100]}\n"
            + group_of("{at: 0s, join: A}, {at: 150ms, cut: A}, {at: 1s, heal: A}", until="60s"),
            look=partial(said, kind=Kind.REQUEST, api=HEARTBEATS, field="memberId"),
            looks_at="member ids in the heartbeats of A, whose first response is lost",
            kip=["", "A"],
            kafka=["A"],
        ),
    ),
    Difference(
        id="lowest-epoch",
        topic="the lowest member epoch",
        section="ConsumerGroupHeartbeat API",
        proposal="-1, by the rule; -2 is what a static member leaves with",
        reading="-2, with an instance id",
        released="-2, with an instance id",
        seen=Seen.ANSWER,
        unshown="both answer alike",
        scenario=ScenarioCase(
            text=group_of(
                "{at: 0s, join: A}, {at: 10s, send: A, request: ConsumerGroupHeartbeat, fields: {memberEpoch: -3}}, "
                "{at: 15s, leave: A}",
                members="A: {subscribe: [foo], instance_id: i}",
            ),
            look=partial(codes, api=HEARTBEATS),
            looks_at="error codes of heartbeats: epoch -3 is refused, and -2 is how the static member leaves",
            kip=[0, 42, 0],
            kafka=[0, 42, 0],
        ),
    ),
    Difference(
        id="commits-instance",
        topic="a commit that names an instance id",
        section="OffsetCommit API",
        proposal="has the field (KIP-345); no rule of its own",
        reading="`FENCED_INSTANCE_ID` if another member holds the instance, as for every other request of a classic member",
        released="the member id alone counts: a replaced member is unknown, joins again and replaces the other",
        seen=Seen.ANSWER,
        unshown="only classic members name it; `simulate` shows it with two that have one `instance_id`",
        scenario=ScenarioCase(
            text="""\
topics: {foo: {partitions: 2}}
protocol: classic
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], instance_id: i, auto_commit: true, auto_commit_interval_ms: 1000}
  B: {subscribe: [foo], instance_id: i}
  C: {subscribe: [foo], protocol: consumer}
script: [{at: 0s, join: A}, {at: 5s, join: C}, {at: 20s, join: B}]
until: 40s
""",
            look=partial(codes, api=COMMITS),
            looks_at="error codes of the commits of A, whose instance B takes over",
            kip=[0, 82],
            kafka=[0, 25, 0],
        ),
    ),
    Difference(
        id="record-keys",
        topic="records 6 to 8",
        section="Records",
        proposal="the whole target, current assignment, group configuration (older); target epoch, target of a member, "
        "current assignment (newer)",
        reading="the newer",
        released="as the newer",
        seen=Seen.BYTES,
        unshown=BYTES_ALONE,
        scenario=ScenarioCase(
            text=group_of("{at: 0s, join: A}"),
            look=partial(fields, of=(6, 7, 8), part="key"),
            looks_at="fields of the keys of records 6 to 8",
            kip=(keys := {"6": ["groupId"], "7": ["groupId", "memberId"], "8": ["groupId", "memberId"]}),
            kafka=keys,
        ),
    ),
    Difference(
        id="record-values",
        topic="values of records",
        section="Records",
        proposal="group epoch in type 5, assignors, error and metadata of assignments in types 5, 7 and 8; no state",
        reading="a run keeps the released fields and adds the proposal's; the bytes panel shows the proposal's layout",
        released="rebalance timeout and server assignor in type 5; previous epoch, state and pending revocation in 8",
        seen=Seen.BYTES,
        unshown=BYTES_ALONE,
        scenario=ScenarioCase(
            text=group_of("{at: 0s, join: A}"),
            look=lambda entries: "groupEpoch" in fields(entries, of=(5,), part="value")["5"],
            looks_at="whether type 5 has the group's epoch",
            kip=True,
            kafka=False,
        ),
    ),
    Difference(
        id="api-keys",
        topic="API keys",
        section="Public Interfaces",
        proposal="to be decided; 71 to describe",
        reading="68 to beat, 69 to describe; private keys for the two that no release has",
        released="68 and 69",
        seen=Seen.BYTES,
        unshown=BYTES_ALONE,
    ),
    Difference(
        id="config-resource",
        topic="resource type of a group's settings",
        section="Dynamic Group Configuration",
        proposal="16",
        reading="32",
        released="32",
        seen=Seen.BYTES,
        unshown="`set_config` of a scenario sends no request; `decode` reads DescribeConfigs with either number",
    ),
    Difference(
        id="metadata-version",
        topic="type of `MetadataVersion`",
        section="ConsumerGroupInstallAssignment API",
        proposal="int16; int32 in two places",
        reading="int16 everywhere",
        released="never built",
        seen=Seen.BYTES,
        unshown=BYTES_ALONE,
    ),
    Difference(
        id="topic-ids-in-offsets",
        topic="topic ids in offset requests",
        section="OffsetCommit API",
        proposal="from version 9 on, names or ids",
        released="from version 10 on, ids alone",
        seen=Seen.BYTES,
        unshown=BYTES_ALONE,
        scenario=ScenarioCase(
            text=group_of("{at: 0s, join: A}, {at: 10s, commit: A, offset: 7}"),
            look=partial(versions, api=COMMITS),
            looks_at="version of A's commit, which has topic ids",
            kip=[9],
            kafka=[10],
        ),
    ),
    Difference(
        id="batches",
        topic="what one batch of records holds",
        section="Group Coordinator",
        proposal="all of a target, which is atomic; of what else may be with it nothing",
        reading="as released: the log of a run collects what waits (`append_linger_ms`)",
        released="perhaps several requests: the broker collects what waits (`group.coordinator.append.linger.ms` -1)",
        seen=Seen.BYTES,
        unshown="who keeps the log makes its batches, not the coordinator; `simulate` shows it",
        scenario=ScenarioCase(
            text="config: {append_linger_ms: 20}\n"
            + group_of("{at: 0s, join: [A, B]}", members="A: {subscribe: [foo]}, B: {subscribe: [foo]}"),
            look=lambda entries: len({e.cause for e in entries if e.kind is Kind.RECORD and e.batch == 0}),
            looks_at="how many requests wrote the first batch, for which the broker waits 20 ms",
            kip=2,
            kafka=2,
        ),
    ),
    Difference(
        id="dead",
        topic="the group state `Dead`",
        section="Group States",
        proposal="a group that is removed",
        released="declared, never set",
        seen=Seen.STATE,
        unshown="a group that is removed is not there to be asked, in either",
    ),
    Difference(
        id="embedded-version",
        topic="classic members in a group of the new protocol",
        section="Supporting Online Consumer Group Upgrade",
        proposal="need version 3 of the embedded protocol; the generation in their bytes is compared",
        reading="version 2, which tells the generation, is needed to convert the group, else `INVALID_REQUEST`; no generation is compared",
        released="neither is asked for",
        seen=Seen.ANSWER,
        unshown="the exchanges here are those of the new protocol; `simulate` shows it with `client: '2.5'`",
        scenario=ScenarioCase(
            text="""\
topics: {foo: {partitions: 2}}
protocol: classic
config: {initial_rebalance_delay_ms: 0}
members:
  A: {subscribe: [foo], assignors: [range], client: '2.3'}
  B: {subscribe: [foo], protocol: consumer}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 20s
""",
            look=partial(codes, api=HEARTBEATS),
            looks_at="error codes of the heartbeats of B, which joins the classic group",
            kip=[42],
            kafka=[0],
        ),
    ),
    Difference(
        id="classic-metadata",
        topic="what classic members tell their own assignors",
        section="Client Side Assignor",
        proposal="protocols become assignors, user data their metadata in version -1; a joiner whose assignor lacks that version is refused",
        reading=(
            "a joiner with assignors of its own is refused if any classic member tells something, one without if assignments do; "
            "a classic member's changed user data want no other target"
        ),
        released="user data of assignments refuse the conversion, those of subscriptions are not looked at",
        seen=Seen.ANSWER,
        unshown="the exchanges here are those of the new protocol; `simulate` shows it with `bounce` and `assignors`",
        scenario=ScenarioCase(
            text="protocol: classic\nassignor: sticky\n"
            + group_of(
                "{at: 0s, join: [A, B]}, {at: 10s, enforce_rebalance: A}, "
                "{at: 20s, bounce: B, for: 1s, with: {protocol: consumer, assignors: [streams]}}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
                until="30s",
            ),
            look=partial(codes, api=HEARTBEATS),
            looks_at="error codes of the heartbeats of B, whose own assignor does not read what A's reports",
            kip=[42],
            kafka=[0],
        ),
    ),
    Difference(
        id="validate-subscription",
        topic="`validateSubscription` of KIP-792",
        section="Supporting Online Consumer Group Upgrade",
        proposal="required",
        reading="left out",
        released="never built",
        seen=Seen.CLIENT,
        unshown=CLIENTS,
    ),
    Difference(
        id="unknown-owned-partitions",
        topic="owned partitions of a topic that the leader does not know",
        section="KIP-429, Consumer Coordinator Algorithm",
        proposal="given back to the member that claims them",
        reading="in no assignment, as Kafka's assignors have it: the members revoke them and join again",
        released="in no assignment",
        seen=Seen.CLIENT,
        unshown="`simulate` shows it with `delete_topic` in a group of `cooperative-sticky`",
        scenario=DELETED_TOPIC,
    ),
    Difference(
        id="local-generation",
        topic="a generation of the sticky assignor's own",
        section="KIP-341, Rejected Alternatives",
        proposal="rejected: it could be confused with the group's, and could be 0 again",
        reading="the group's generation, which `onAssignment` hands to the assignor",
        released="the group's generation, in its group metadata",
        seen=Seen.CLIENT,
        unshown="the case studies `kip341-two-owners` and `kip341-generation` are without and with the generation",
        studies=("kip341-two-owners", "kip341-generation"),
    ),
    Difference(
        id="generation-at-the-broker",
        topic="a JoinGroup with a stale generation",
        section="KIP-792, Rejected Alternatives",
        proposal="refused by the coordinator with `ILLEGAL_GENERATION`: rejected, since the member would need another round",
        reading="taken; the leader's assignor, which reads the generation in the subscription, ignores the older claim",
        released="taken; the leader's assignor ignores the older claim",
        seen=Seen.ANSWER,
        unshown="the case studies `kip792-stale-owner` and `kip792-generation` are without and with the generation",
        studies=("kip792-stale-owner", "kip792-generation"),
    ),
    Difference(
        id="generation-in-the-assignor",
        topic="a generation that the assignor alone knows",
        section="KIP-792, Rejected Alternatives",
        proposal="rejected: the leader's check of a cooperative assignment needs the generation, too",
        reading="in the subscription; the check leaves `cooperative-sticky` out since 3.1",
        released="in the subscription; clients before 3.1 checked without it, and threw (KAFKA-13406)",
        seen=Seen.CLIENT,
        unshown="the case study `kip792-leader-throws` has the check without the generation",
        studies=("kip792-leader-throws",),
    ),
    Difference(
        id="generation-of-another-broker",
        topic="a generation that another broker could give out again",
        section="KIP-792, Rejected Alternatives",
        proposal="no concern: brokers hand subscriptions on unread, and one generation twice does no harm",
        reading="as released",
        released="another coordinator continues from the generation in the group's record",
        seen=Seen.ANSWER,
        unshown="one coordinator has all of an exchange here; `simulate` shows it with `fail_over`",
        scenario=ScenarioCase(
            text="protocol: classic\n"
            + group_of(
                "{at: 0s, join: A}, {at: 10s, fail_over: coordinator}, {at: 20s, join: B}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo]}",
                until="40s",
            ),
            look=lambda entries: said(
                [e for e in entries if e.payload.get("body", {}).get("errorCode") == 0],
                kind=Kind.RESPONSE,
                api="JoinGroup",
                field="generationId",
            ),
            looks_at="generations in the responses to JoinGroup, another broker having taken over after 10 s",
            kip=[1, 2],
            kafka=[1, 2],
        ),
    ),
    Difference(
        id="epochs-of-members",
        topic="the epoch of a member that keeps what it has",
        section="Rejected Alternatives, An epoch per member not aligned to the group epoch",
        proposal="reaches the group's; rejected: one that grows only when the member's assignment changes",
        reading="reaches the group's, with a record each time",
        released="reaches the group's, with a record each time",
        seen=Seen.RECORD,
        unshown="both rules are alike but for the first epoch; `simulate` shows it",
        scenario=ScenarioCase(
            text="topics: {foo: {partitions: 2}, bar: {partitions: 2}}\n"
            "members: {A: {subscribe: [foo]}, B: {subscribe: [bar]}}\n"
            "script: [{at: 0s, join: A}, {at: 20s, join: B}]\nuntil: 60s\n",
            look=lambda entries: [
                e.payload["value"]["memberEpoch"]
                for e in entries
                if e.kind is Kind.RECORD and e.payload["type"] == 8 and e.payload["key"]["memberId"] == "A"
            ],
            looks_at="epochs of A in its records; B, which joins after 20 s, takes nothing from it",
            kip=[1, 2],
            kafka=[2, 3],
        ),
    ),
    Difference(
        id="deleted-topic-callback",
        topic="a topic that is deleted while a cooperative member owns it",
        section="KIP-429, Consumer Coordinator Algorithm and ConsumerRebalanceListener",
        proposal="`onPartitionsLost` for what does not exist any more, in the algorithm; `onPartitionsRevoked`, in the listener",
        reading="`onPartitionsRevoked`, before the member joins again",
        released="`onPartitionsRevoked`",
        seen=Seen.CLIENT,
        unshown=CLIENTS,
        scenario=DELETED_TOPIC,
    ),
    Difference(
        id="stale-commit",
        topic="a commit that is refused as stale",
        section="OffsetCommit API",
        proposal="is sent again when a heartbeat's response has brought another epoch",
        reading="so, but for `commitAsync`, which could undo a later one; an automatic one has the positions of then",
        released="is sent again before a revocation; every other one fails",
        seen=Seen.CLIENT,
        unshown=CLIENTS,
        scenario=ScenarioCase(
            text="""\
topics: {foo: {partitions: 4}}
config: {heartbeat_interval_ms: 1000, session_timeout_ms: 5000}
network: {delay_ms: [200, 300]}
members:
  A: {subscribe: [foo], auto_commit: true, auto_commit_interval_ms: 880}
  B: {subscribe: [foo]}
script: [{at: 0s, join: A}, {at: 4s, join: B}]
until: 12s
""",
            look=partial(codes, api=COMMITS),
            looks_at="error codes of the commits of A, whose epoch another joins meanwhile",
            kip=[0, 113, 0],
            kafka=[0],
        ),
    ),
    Difference(
        id="target-size",
        topic="a target that is larger than a batch",
        section="Records",
        proposal="cannot be: the difference between two assignments is at most 1 MB; what comes then is left open",
        reading="it is not written and tried again each half second; who installs one is answered `UNKNOWN_SERVER_ERROR`",
        released="the heartbeat that computes it is answered `UNKNOWN_SERVER_ERROR`, which ends the consumer",
        seen=Seen.STATE,
        unshown="`simulate` shows it with `max_message_bytes`",
        scenario=ScenarioCase(
            text="""\
topics: {foo: {partitions: 400}}
config: {max_message_bytes: 1000}
members: {A: {subscribe: [foo]}}
script: [{at: 0s, join: A}]
until: 20s
""",
            look=partial(codes, api=HEARTBEATS),
            looks_at="error codes of the heartbeats of A, whose target is larger than a batch",
            kip=[0],
            kafka=[-1],
        ),
    ),
    Difference(
        id="unsupported-assignor",
        topic="`UNSUPPORTED_ASSIGNOR` for an assignor on the client",
        section="ConsumerGroupHeartbeat API",
        proposal="for an assignor or a version range that the group does not support; where none is supported by all, the coordinator's is used",
        reading=(
            "for a member that brings assignors, where the others have one that somebody can run, and with the member nobody could; "
            "the coordinator's is used where a member brings none"
        ),
        released="for a server assignor that the broker lacks",
        seen=Seen.ANSWER,
        unshown="`simulate` shows it with `assignors`",
        scenario=ScenarioCase(
            text="""\
topics: {foo: {partitions: 2}}
members:
  A: {subscribe: [foo], assignors: [range]}
  B: {subscribe: [foo], assignors: [roundrobin]}
script: [{at: 0s, join: A}, {at: 10s, join: B}]
until: 20s
""",
            look=partial(codes, api=HEARTBEATS),
            looks_at="error codes of the heartbeats; B brings an assignor that A has not",
            kip=[0, 112, 0],
            kafka=[0],
        ),
    ),
    Difference(
        id="segments",
        topic="`--format segment`",
        section="Records",
        proposal="refused: no Kafka reads it",
        released="a segment that Kafka's own tools read",
        seen=Seen.BYTES,
        unshown="`simulate --format segment` shows it: with `--semantics kip` it is refused",
    ),
    Difference(
        id="epoch-per-partition",
        topic="an epoch of each partition",
        section="Rejected Alternatives, An epoch per partition",
        proposal="rejected: metadata of an assignment belong to a member, and classic groups are hard to convert",
        reading="an epoch of each member",
        released="an epoch of each member; since 4.4 its record also has the epoch at which it was given each partition",
        seen=Seen.RECORD,
        unshown="which epochs there are is in the records, and `simulate` shows them",
        scenario=ScenarioCase(
            text=group_of("{at: 0s, join: A}"),
            look=lambda entries: [
                sorted(owned)
                for e in entries
                if e.kind is Kind.RECORD and e.payload["type"] == 8
                for owned in e.payload["value"]["assignedPartitions"]
            ],
            looks_at="fields of what A has in its record",
            kip=[["partitions", "topicId"]],
            kafka=[["assignmentEpochs", "partitions", "topicId"]],
        ),
    ),
    Difference(
        id="one-coordinator",
        topic="a coordinator and a log of the new protocol's own",
        section="Rejected Alternatives, Not reusing the current coordinator",
        proposal="rejected: a classic group could hardly be converted",
        reading="one coordinator, and `__consumer_offsets` for both protocols",
        released="one coordinator, and `__consumer_offsets` for both protocols",
        seen=Seen.RECORD,
        unshown="the exchanges here are those of the new protocol; `simulate` shows it with a classic member",
        scenario=ScenarioCase(
            text="protocol: classic\n"
            + group_of(
                "{at: 0s, join: A}, {at: 20s, join: B}",
                members="A: {subscribe: [foo]}, B: {subscribe: [foo], protocol: consumer}",
                until="40s",
            ),
            look=lambda entries: record_types(entries, since_ms=20_000, until_ms=20_050)[:2],
            looks_at="types of the first records when B joins A's classic group: its own (2) goes, in the same log",
            kip=[2, 5],
            kafka=[2, 5],
        ),
    ),
    Difference(
        id="no-client-assignors",
        topic="no assignors on clients, not even for Kafka Streams",
        section="Rejected Alternatives, No more client-side assignors, even for Kafka Streams",
        proposal="rejected: Streams would have to send its topology, and new features would wait for brokers",
        reading="members may bring assignors",
        released="what was rejected: consumers have none, and members of a Streams group send their topology (KIP-1071)",
        seen=Seen.ANSWER,
        unshown="`simulate` shows it with `assignors`",
        scenario=ASKED_TO_COMPUTE,
    ),
)
