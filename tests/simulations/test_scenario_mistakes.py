"""Each mistake of a scenario is told with its line, its field and what would be right."""

from __future__ import annotations

import pytest

from simulations.world.scenario import ScenarioError, load

BASE = """\
topics: {foo: {partitions: 3}}
members:
  A: {subscribe: [foo]}
  B: {subscribe: [foo]}
script:
  - {at: 0s, join: A}
"""

CLASSIC = "topics: {a: {partitions: 1}}\nmembers: {A: {subscribe: [a], protocol: classic, %s}}\nscript: []"
"""Of one member of the classic protocol."""


@pytest.mark.parametrize(
    ("text", "line", "field", "message"),
    [
        ("", 1, "", "the scenario is empty; it needs topics, members and a script"),
        ("- a\n- b", 1, "", "a scenario is a mapping with topics, members and a script"),
        ("topics: [", 1, "", "this is not YAML: "),
        ("a: &x 1\nb: *x", 2, "", "anchors and aliases"),
        ("members: {}", 1, "topics", "a scenario needs topics"),
        (
            BASE + "  - {at: 12.5s, kill: A}\nuntil: 12s",
            7,
            "script[1]",
            "at 12.5 s the run is over, which goes until 12 s; it has to come earlier, or until has to be later",
        ),
        (BASE + "scrpt: []", 7, "scrpt", "unknown key; did you mean script?"),
        (BASE + "seed: 1\nseed: 2", 8, "seed", "this key stands twice"),
        (BASE + "seed: seven", 7, "seed", "expected a whole number, found 'seven'"),
        (BASE + "semantics: kipp", 7, "semantics", "unknown semantics kipp; did you mean kip?"),
        (
            BASE.replace("[foo]}", "[foo], client: librdkafka}") + "semantics: kip",
            3,
            "members.A.client",
            "only semantics: kafka has the client librdkafka; leave client out",
        ),
        (BASE + "protocol: clasic", 7, "protocol", "unknown protocol clasic; did you mean classic?"),
        (
            BASE + "  - {at: 5s, bounce: A, with: {assignors: [sticky]}}",
            7,
            "script[1].with.assignors",
            "assignors is for members of the classic protocol",
        ),
        (BASE + "assignor: sticky", 7, "assignor", "unknown assignor sticky; there are uniform, range"),
        (
            BASE + "assignor: client:mine",
            7,
            "assignor",
            "unknown client-side assignor mine; there are",
        ),
        (BASE + "assignor: scripted", 7, "targets", "assignor: scripted needs targets, by epoch"),
        (BASE + "targets: {2: fails}", 7, "targets", "targets are for assignor: scripted"),
        (BASE + "assignor: scripted\ntargets: {0: fails}", 8, "targets.0", "targets stand under an epoch"),
        (
            BASE + "assignor: scripted\ntargets: {2: fail}",
            8,
            "targets.2",
            "unknown target fail; did you mean fails",
        ),
        (
            BASE + "assignor: scripted\ntargets: {2: {A: {foo: [1]}, B: {foo: [1]}}}",
            8,
            "targets.2.B.foo",
            "foo-1 is given to A already",
        ),
        (
            BASE + "assignor: scripted\ntargets: {2: {C: {}}}",
            8,
            "targets.2.C",
            "unknown member C; there are A, B",
        ),
        (
            BASE + "until: 12",
            7,
            "until",
            "expected a duration with its unit, such as 12s, 1.5s, 500ms or 2m, found '12'",
        ),
        (BASE + "until: 2000h", 7, "until", "at most 86400 s, is 2000h"),
        (
            BASE + "config: {heartbeat_ms: 1}",
            7,
            "config.heartbeat_ms",
            "unknown key; did you mean heartbeat_interval_ms?",
        ),
        (
            BASE + "config: {session_timeout_ms: 4000}",
            7,
            "config",
            "heartbeat_interval_ms (5000) must be below",
        ),
        (
            BASE + "config: {session_timeout_ms: 0}",
            7,
            "config.session_timeout_ms",
            "must be 1 to 2147483647, is 0",
        ),
        (BASE + "network: {loss: 1}", 7, "network.loss", "must be 0 to 0.9, is 1"),
        (BASE + "network: {loss: often}", 7, "network.loss", "expected a number, found 'often'"),
        (BASE + "network: {los: 0.1}", 7, "network.los", "unknown key; did you mean loss?"),
        (BASE + "world: story", 7, "world", "unknown world story; did you mean stormy?"),
        (BASE + "replication_ms: 100000", 7, "replication_ms", "must be 0 to 60000, is 100000"),
        (
            BASE + "config: {assignors: [range, range]}",
            7,
            "config.assignors[1]",
            "range stands twice",
        ),
        (BASE + "config: {assignors: []}", 7, "config.assignors", "a broker has at least one assignor"),
        (
            BASE + "config: {assignors: [range]}\nassignor: uniform",
            8,
            "assignor",
            "unknown assignor uniform; there are range",
        ),
        (
            BASE + "config: {regex_refresh_interval_ms: 9999}",
            7,
            "config.regex_refresh_interval_ms",
            "must be 10000 to 2147483647, is 9999",
        ),
        (
            BASE + "config: {max_session_timeout_ms: 30000}",
            7,
            "config",
            "session_timeout_ms (45000) must not be above max_session_timeout_ms (30000)",
        ),
        (
            BASE + "network: {delay_ms: [5, 1]}",
            7,
            "network.delay_ms",
            "the least delay (5) is above the greatest (1)",
        ),
        (BASE + "network: {delay_ms: 5}", 7, "network.delay_ms", "expected a list, found '5'"),
        (BASE + "  - {at: 5s, kil: B}", 7, "script[1].kil", "unknown key; did you mean kill?"),
        (BASE + "  - {at: 5s}", 7, "script[1]", "a line of the script needs a verb; there are join, leave"),
        (BASE + "  - {join: B}", 7, "script[1]", "a line of the script needs at, such as at: 12s"),
        (BASE + "  - {at: 5s, join: B, kill: A}", 7, "script[1]", "one verb a line, this has join and kill"),
        (
            BASE + "  - {at: 5s, fail_over: now}",
            7,
            "script[1].fail_over",
            "unknown broker now; there are coordinator",
        ),
        (BASE + "  - {at: 5s, bounce: A, with: {}}", 7, "script[1].with", "with names what the new process"),
        (
            BASE + "  - {at: 5s, fail_over: coordinator, how: move, lost: 1}",
            7,
            "script[1]",
            "a coordinator that is moved hands its whole log over",
        ),
        (BASE + "  - {at: 5s, fail_over: coordinator, how: leave}", 7, "script[1].how", "unknown way leave"),
        (BASE + "  - {at: 5s, leave: A, how: crash}", 7, "script[1].how", "unknown way crash"),
        (
            BASE + "  - {at: 5s, poll_late: B, for: 9s}",
            7,
            "script[1]",
            "poll_late B: it has not joined at 5 s",
        ),
        (
            BASE + "  - {at: 5s, subscribe: A, topics: [foo], regex: f.*}",
            7,
            "script[1]",
            "subscribe needs topics or regex, and only one of them",
        ),
        (
            BASE + "  - {at: 5s, create_topic: foo, partitions: 2}",
            7,
            "script[1]",
            "foo is there at 5 s; it would have to be deleted first",
        ),
        (
            BASE + "  - {at: 5s, create_topic: bar, partitions: 2, racks: {2: [a]}}",
            7,
            "script[1]",
            "bar has no partition 2 that could have racks",
        ),
        (BASE + "  - {at: 5s, create_topic: bar}", 7, "script[1]", "create_topic needs partitions"),
        (
            BASE + "  - {at: 5s, delete_topic: foo}\n  - {at: 6s, add_partitions: foo, to: 9}",
            8,
            "script[2]",
            "add_partitions foo: there is no such topic at 6 s",
        ),
        (
            BASE + "  - {at: 5s, delete_topic: bar}",
            7,
            "script[1].delete_topic",
            "unknown topic bar; there are foo",
        ),
        (BASE + "  - {at: 5s, heal: A}", 7, "script[1]", "heal A: it is not cut at 5 s"),
        (
            BASE + "  - {at: 5s, cut: A}\n  - {at: 6s, cut: A}",
            8,
            "script[2]",
            "cut A: it is cut already at 6 s",
        ),
        (
            BASE + "  - {at: 5s, cut: everything}",
            7,
            "script[1]",
            "cut names a member, coordinator, or a pair",
        ),
        (
            BASE + "  - {at: 5s, cut: [A, B]}",
            7,
            "script[1].cut[1]",
            "unknown end B; there are coordinator",
        ),
        (BASE + "  - {at: 5s, cut: [A]}", 7, "script[1].cut", "expected two ends, such as [A, coordinator]"),
        (BASE + "  - {at: 5s, network: {}}", 7, "script[1].network", "network sets delay_ms, loss"),
        (BASE + "  - {at: 5s, clock_jump: A}", 7, "script[1]", "clock_jump needs by"),
        (
            BASE + "  - {at: 5s, clock_jump: A, by: soon}",
            7,
            "script[1].by",
            "expected a duration with its unit",
        ),
        (
            BASE + "  - {at: 5s, set_config: {session_timeout_ms: 1000}}",
            7,
            "script[1].set_config",
            "consumer.session.timeout.ms must be in the range",
        ),
        (
            BASE + "  - {at: 5s, set_config: {max_size: 3}}",
            7,
            "script[1].set_config.max_size",
            "unknown key; there are",
        ),
        (BASE + "  - {at: 5s, delete_group: mine}", 7, "script[1].delete_group", "unknown group mine"),
        (BASE + "  - {at: 5s, join: C}", 7, "script[1].join", "unknown member C; there are A, B"),
        (BASE + "  - {at: soon, join: B}", 7, "script[1].at", "expected a duration with its unit"),
        (BASE + "  - {at: 5s, kill: B}", 7, "script[1]", "kill B: it has not joined at 5 s"),
        (BASE + "  - {at: 5s, join: A}", 7, "script[1]", "join A: it is running at 5 s"),
        (BASE + "  - {at: 5s, slow_revoke: A}", 7, "script[1]", "slow_revoke needs for"),
        (
            BASE + "  - {at: 5s, add_partitions: foo, to: 3}",
            7,
            "script[1]",
            "foo has 3 partitions at 5 s; it can only grow",
        ),
        (
            BASE + "  - {at: 5s, subscribe: A, topics: [fo]}",
            7,
            "script[1].topics[0]",
            "unknown topic fo; did you mean foo?",
        ),
        (BASE + "steps: [{after: {join: A}}]", 7, "steps[0]", "a step needs says"),
        (
            BASE + "steps: [{after: join, says: x}]",
            7,
            "steps[0].after",
            "join needs its member, such as {join: A}",
        ),
        (
            BASE + "steps: [{after: {joins: A}, says: x}]",
            7,
            "steps[0].after.joins",
            "unknown key; did you mean join?",
        ),
        (
            BASE + "steps: [{after: {join: C}, says: x}]",
            7,
            "steps[0].after.join",
            "unknown member C; there are A, B",
        ),
        (BASE + "start: {group_epoch: 2}", 7, "start", "a start needs assignment_epoch"),
        (
            BASE + "start: {group_epoch: 2, assignment_epoch: 3, members: {}}",
            7,
            "start.assignment_epoch",
            "must be 1 to 2 (no target is ahead of its group), is 3",
        ),
        (
            BASE
            + "start: {group_epoch: 2, assignment_epoch: 2, members: {B: {epoch: 2, owned: {foo: [3]}}}}",
            7,
            "start.members.B.owned.foo[0]",
            "must be 0 to 2 (foo has no other partitions), is 3",
        ),
        (
            BASE
            + "start:\n  group_epoch: 2\n  assignment_epoch: 2\n  members:\n"
            + "    A: {epoch: 2, owned: {foo: [1]}}\n    B: {epoch: 2, owned: {foo: [1]}}",
            12,
            "start.members.B.owned.foo[0]",
            "foo-1 is given to A already",
        ),
        (
            "topics: {foo: {partitions: 0}}\nmembers: {}\nscript: []",
            1,
            "topics.foo.partitions",
            "must be 1 to 10000, is 0",
        ),
        ("topics: {foo: {}}\nmembers: {}\nscript: []", 1, "topics.foo", "a topic needs partitions"),
        ("topics: {}\nmembers: {}\nscript: []", 1, "topics", "a scenario needs at least one topic"),
        (
            "topics: {'a b': {partitions: 1}}\nmembers: {}\nscript: []",
            1,
            "topics.a b",
            "a topic is named with letters",
        ),
        (
            "topics: {a: {partitions: 6000}, b: {partitions: 6000}}\nmembers: {}\nscript: []",
            1,
            "topics.b",
            "all topics together have at most 10000 partitions",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {}\nscript: []",
            2,
            "members",
            "a scenario needs at least one member",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {subscribe: [b]}}\nscript: []",
            2,
            "members.A.subscribe[0]",
            "unknown topic b; there are a",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {subscribe: a}}\nscript: []",
            2,
            "members.A.subscribe",
            "expected a list, found 'a'",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {regex: a.*, subscribe: [a]}}\nscript: []",
            2,
            "members.A",
            "a consumer has subscribe or regex, not both",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {}}\nscript: []",
            2,
            "members.A",
            "a member needs subscribe, a list of topics, or regex",
        ),
        (
            CLASSIC % "assignors: [cooperative-sticky], client: '2.3'",
            2,
            "members.A.assignors[0]",
            "a client 2.3 does not know cooperative-sticky; that begins with 2.4",
        ),
        (
            CLASSIC % "assignors: [range, custom-cooperative]",
            2,
            "members.A.assignors",
            "no rebalance protocol is supported by all of range, custom-cooperative: no client starts so",
        ),
        (CLASSIC % "assignors: []", 2, "members.A.assignors", "a member lists at least one assignor"),
        (
            CLASSIC % "client: '2.2', instance_id: a-1",
            2,
            "members.A",
            "a client 2.2 knows no instance_id; that begins with 2.3",
        ),
        (CLASSIC % "client: '1.0'", 2, "members.A.client", "unknown client 1.0; "),
        (
            CLASSIC % "session_timeout_ms: 3000",
            2,
            "members.A",
            "heartbeat_interval_ms (3000) must be below session_timeout_ms (3000)",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {subscribe: [a], auto_commit: maybe}}\nscript: []",
            2,
            "members.A.auto_commit",
            "expected true or false, found 'maybe'",
        ),
        (
            "topics: {a: {partitions: 2, racks: {2: [r]}}}\nmembers: {A: {subscribe: [a]}}\nscript: []",
            1,
            "topics.a.racks.2",
            "expected a partition, 0 to 1, as the key, found '2'",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {subscribe: [a], instance_id: a b}}\nscript: []",
            2,
            "members.A.instance_id",
            "an instance is named with letters",
        ),
        (
            "topics: {a: {partitions: 1}}\nscript: []\nmembers: {A: {subscribe: [a], instance_id: i}, "
            "B: {subscribe: [a], instance_id: i}}\nstart:\n"
            "  {group_epoch: 1, assignment_epoch: 1, members: {A: {epoch: 1}, B: {epoch: 1}}}",
            5,
            "start.members.B",
            "instance i is held by A already",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {"
            + ", ".join(f"m{n}: {{subscribe: [a]}}" for n in range(1001))
            + "}\nscript: []",
            2,
            "members",
            "at most 1000 members, these are 1001",
        ),
        (
            "topics: {a: {partitions: 1}}\nscript: []\nmembers:\n  A: {protocol: classic, regex: '(a'}",
            4,
            "members.A.regex",
            "a classic consumer subscribes by an expression that RE2 knows, without look-around or references back: missing )",
        ),
        (
            "topics: {a: {partitions: 1}}\nmembers: {A: {protocol: classic, subscribe: [a]}}\n"
            "script:\n  - {at: 0s, join: A}\n  - {at: 1s, subscribe: A, regex: '(?=a)a'}",
            5,
            "script[1].regex",
            "a classic consumer subscribes by an expression that RE2 knows",
        ),
        (
            'topics: {a: {partitions: 1}}\nscript: []\nmembers: {"A\\e[2J": {subscribe: [a]}}',
            3,
            "members.A\\x1b[2J",
            "a member is named with letters",
        ),
    ],
)
def test_a_mistake_is_told_with_its_line_its_field_and_what_would_be_right(
    text: str, line: int, field: str, message: str
) -> None:
    with pytest.raises(ScenarioError) as caught:
        load(text)
    assert (caught.value.line, caught.value.field) == (line, field)
    assert caught.value.message.startswith(message)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["[" * 5_000, "{a: " * 3_000, "\x00", "!!python/object:os.system {}", "x" * 1_000_001, "? [a]\n: b"],
)
def test_hostile_text_is_refused_like_any_other(text: str) -> None:
    with pytest.raises(ScenarioError):
        load(text)
