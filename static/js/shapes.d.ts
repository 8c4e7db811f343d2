/**
 * Shapes that Python and the browser share. Written by `python -m tests.house.shapes` from their one declaration in
 * Python; nothing in this file exists at run time.
 */

export type Partitions = { [key: string]: number[] };

export type Shape =
  | 'join'
  | 'target'
  | 'advance'
  | 'revoke'
  | 'acknowledge'
  | 'gain'
  | 'leave'
  | 'remove'
  | 'commit'
  | 'metadata'
  | 'regex'
  | 'state'
  | 'note'
  | 'fault'
  | 'fence'
  | 'fail_over'
  | 'replace'
  | 'violation'
  | 'gap';

/** The state of a group after an entry. */
export interface Frame {
  sequence: number;
  at_ms: number;
  group: string;
  protocol: string | null;
  state: string | null;
  members: { [key: string]: MemberFrame };
  topics: { [key: string]: TopicFrame };
  /** `null` where the source has no information about clients, as records alone do. */
  clients: { [key: string]: ClientFrame } | null;
  timers: { [key: string]: TimerFrame } | null;
  coordinator?: CoordinatorFrame;
  /** This, the assignment's epoch and the target: of groups with epochs. */
  group_epoch?: number | null;
  assignment_epoch?: number | null;
  target?: { [key: string]: Partitions };
  /** What each expression was resolved to, if records report it. */
  regexes?: { [key: string]: string[] };
  /** This, the leader and what follows: of classic groups. */
  generation?: number | null;
  leader?: string | null;
  protocol_name?: string | null;
  /** `consumer`, `connect` of Kafka Connect, or that of another user of the classic protocol; `null` where unknown. */
  protocol_type?: string | null;
  /** Absent if unknown: records do not report the joining phase. */
  barrier?: BarrierFrame;
  /** What a cooperative leader keeps back for a round, by whom it is for. */
  withheld?: { [key: string]: Partitions };
  /** Absent where no source reports at what rate records are written. */
  consumption?: ConsumptionFrame;
  /** This and the next two: of share groups. */
  initializing?: Partitions;
  initialized?: Partitions;
  deleting?: string[];
  /** This and what follows: of streams groups. */
  target_standby?: { [key: string]: Partitions };
  target_warmup?: { [key: string]: Partitions };
  topology?: TopologyFrame | null;
  validated_topology_epoch?: number;
}

/** A member, of any protocol; what a protocol does not have is left out. */
export interface MemberFrame {
  protocol: string;
  epoch?: number | null;
  previous_epoch?: number | null;
  /** Kafka's name of the member's state. */
  state?: string | null;
  /**
   * Of a classic member in a consumer group (KIP-848): `PreparingRebalance` until it joins again, `CompletingRebalance`
   * until it is synced, `Stable`. `null` where unknown: SyncGroup leaves no record.
   */
  rebalance_state?: string | null;
  client_id: string | null;
  host: string | null;
  instance_id?: string | null;
  rack_id: string | null;
  subscribed?: string[];
  subscribed_regex?: string;
  /**
   * Of a streams group's member: its active tasks, as `pending_…` are; the copies stand apart. Of a worker of Kafka
   * Connect: its tasks by connector. `null` where a classic member's bytes cannot be read: unknown, and not nothing.
   */
  assigned: Partitions | null;
  /** Why `subscription` or `assignment` of a classic member cannot be read; absent where they can. */
  unreadable?: { [key: string]: string };
  worker?: WorkerFrame;
  pending_revocation?: Partitions;
  pending_assignment?: Partitions;
  session_timeout_ms?: number | null;
  rebalance_timeout_ms?: number | null;
  standby?: Partitions;
  standby_pending_revocation?: Partitions;
  warmup?: Partitions;
  warmup_pending_revocation?: Partitions;
  process_id?: string;
  endpoint?: string | null;
  tags?: { [key: string]: string };
  topology_epoch?: number;
}

/** What only a worker of Kafka Connect has, in addition to its tasks. */
export interface WorkerFrame {
  url: string;
  /** How far it had read the config topic when it joined. */
  config_offset: number | null;
  /** Connectors that it runs. */
  connectors: string[];
  /** After which it joins again by itself, so that tasks of a worker that is gone wait for it; 0 for not at all. */
  delay_ms: number;
  /** Whether its leader could not assign, since its own config was behind (CONFIG_MISMATCH). */
  failed: boolean;
}

export interface TopicFrame {
  id: string | null;
  partitions: number | null;
  /** The name that a topic with this id had before another topic took it. */
  was?: string;
}

/** What a client knows and does, if a simulation or its log reports it; flags are there only while they are true. */
export interface ClientFrame {
  owned: Partitions;
  /** The callback that it is in. */
  calling: string | null;
  revoking: Partitions;
  heartbeat_ms: number | null;
  cut?: string[];
  killed?: boolean;
  paused?: boolean;
  fenced?: string;
  clock_ms?: number;
  computing?: boolean;
}

/** When a member's timers end. */
export interface TimerFrame {
  session: number | null;
  rebalance: number | null;
}

export interface CoordinatorFrame {
  name: string | null;
  epoch: number | null;
  loading_until_ms: number | null;
  cut: string[];
}

/** How far a classic group's members are between two generations (JoinGroup and SyncGroup wait for each other). */
export interface BarrierFrame {
  told: string[];
  joined: string[];
  synced: string[];
  until_ms: number | null;
  reasons: { [key: string]: string };
  leader: string | null;
}

/**
 * How far records are read, where topics have a rate (records a second of each partition). The group's lag at any time
 * until the next frame: `(waiting + waiting_rate * at_ms) / 1000` records. Its partition-milliseconds not read (nobody
 * fetches): `unread_ms + unread_count * at_ms - unread_since_ms`.
 */
export interface ConsumptionFrame {
  rates: { [key: string]: number };
  partitions: { [key: string]: { [key: string]: PartitionConsumptionFrame } };
  lag_max: number;
  lag_max_at_ms: number;
  unread_max_ms: number;
  waiting_rate: number;
  waiting: number;
  unread_count: number;
  unread_since_ms: number;
  unread_ms: number;
  read_twice: number;
  skipped: number;
}

/**
 * How far a partition is read. `read`: the offset up to which anybody has, `null` before; the log ends at
 * `begin_offset` plus what its topic's rate makes since `begin_ms`.
 */
export interface PartitionConsumptionFrame {
  begin_ms: number;
  begin_offset: number;
  read: number | null;
  readers: { [key: string]: ReaderFrame };
  read_twice: number;
  skipped: number;
  lag_max: number;
  unread_since_ms: number | null;
  unread_ms: number;
}

/** Where a client is at a partition; one that `fetches` goes on with the end of the log. */
export interface ReaderFrame {
  position: number;
  fetches: boolean;
}

/** What a streams application does: each subtopology with the topics that it reads, writes and keeps. */
export interface TopologyFrame {
  epoch: number;
  subtopologies: { [key: string]: SubtopologyFrame };
}

export interface SubtopologyFrame {
  source_topics: string[];
  source_topic_regex: string[];
  repartition_source_topics: string[];
  repartition_sink_topics: string[];
  state_changelog_topics: string[];
}

/** What one entry altered at one place; `old` or `new` is left out where there was or is nothing. */
export interface Change {
  sequence: number;
  path: string[];
  old?: any;
  new?: any;
}

/** A settled step that changed or said something; the board rests on nothing else. */
export interface Moment {
  sequence: number;
  /** The first of its entries; `sequence` is the last. */
  first: number;
  at_ms: number;
  actor: string;
  shape: Shape;
  says: string;
  epoch: number | null;
  /** The sequence of the request or timer that brought it about, where that is before `first`. */
  cause: number | null;
  /** The row of a proposal's table that ends here. */
  step: number | null;
  /** The case study's own words for that row. */
  narration?: string;
}

/** A timeline up to an entry, as lists and heads of pages show it. */
export interface Summary {
  group: string;
  protocol: string | null;
  state: string | null;
  first_ms: number | null;
  last_ms: number;
  entries: number;
  /** The sequence of that entry. */
  last: number;
  cast: NamedMember[];
  /** The first hosts that members joined from. Absent of summaries from before they were kept. */
  hosts?: string[];
  topics: { [key: string]: TopicFrame };
  /**
   * As many partitions as the topics have, and at least as many as were named: a log need not show how many a topic
   * has. Absent of summaries from before it was counted.
   */
  partitions_most?: number;
  epochs: EpochStart[];
  gaps: Gap[];
  findings: Finding[];
  /** Patterns that the log neither shows nor rules out. */
  cannot_tell: Untold[];
  silences: SilentSpan[];
  /** Absent where no source reports at what rate records are written. */
  consumption?: ConsumptionSummary;
  verdict: Verdict | null;
}

/** A member as a summary names it. */
export interface NamedMember {
  id: string;
  name: string;
  /** The sequence of the step with which it joined. */
  joined: number;
  /** The id of the first member in the same lane. */
  lane: string;
}

/** Where an epoch began: `sequence` is that of the step that began it. */
export interface EpochStart {
  epoch: number | null;
  sequence: number;
  at_ms: number;
  /** It is a generation. */
  classic?: boolean;
}

/** Records that are not there: the payload of the note that reports it, `sequence` of its step, what it `says`. */
export interface Gap {
  note?: string;
  sequence?: number;
  says?: string;
  partition?: number;
  from_offset?: number;
  to_offset?: number;
  missing?: number;
  offsets?: number;
  compacted?: boolean;
  continued?: boolean;
  reason?: string;
}

/**
 * A fact with its proof. `count` is the number of all such facts, of which only the first or the longest are listed.
 * Times are `at_ms` or `from_ms` and `to_ms`, on the log's clock; `forming` marks what belongs to the group's first
 * seconds. Each finder's docstring lists which of the other fields it fills.
 */
export interface Finding {
  kind: string;
  says: string;
  sequences: number[];
  needs: string[];
  certain: boolean;
  at_ms?: number | null;
  from_ms?: number;
  to_ms?: number | null;
  length_ms?: number | null;
  /** Of a removal: since the member's last commit. */
  quiet_ms?: number | null;
  every_ms?: number;
  count?: number;
  forming?: boolean;
  open?: boolean;
  member?: string | null;
  name?: string;
  /** The id of the member that waits for `member`. */
  waiter?: string;
  members?: any[];
  names?: string[];
  lane?: string;
  back_ms?: number | null;
  back_sequence?: number | null;
  at?: number;
  again?: number;
  why?: string | null;
  looks_like?: string | null;
  because?: string;
  partition?: string;
  partitions?: any;
  noun?: string;
  /** Of epochs the first one; of an unassigned partition whether nobody had owned it before. */
  first?: number | boolean | null;
  last?: number | null;
  /** Where each of the things that it counts happened, for stepping through them. */
  steps?: number[];
  data?: { [key: string]: any };
  /** Whether it is an incident's name (`patterns`); the next ones are of these alone. */
  pattern?: boolean;
  title?: string;
  /** Of several patterns the lowest opens the verdict. */
  rank?: number;
  severity?: string;
  causes?: string[];
  look_at?: string[];
  /** Titles of other patterns that are the cause of this one here. */
  explained_by?: string;
  from_offset?: number | null;
  /** A committed offset before and after. */
  to_offset?: number | null;
  /** Who held a partition before `name`. */
  giver?: string | null;
  /** What the evidence leaves open. */
  cannot_know?: string;
  /** Where a proposal and the release say different things. */
  differs?: string;
  [key: string]: any;
}

/** A pattern that a log cannot show; `lacks` are the sources that are missing. */
export interface Untold {
  kind: string;
  title: string;
  lacks: string[];
}

/**
 * A member that was assigned and silent, as a board draws it (open dots): each partition from its last commit on.
 * `to_ms` and `to_sequence` are `null` where it lasts to the log's end.
 */
export interface SilentSpan {
  member: string;
  from_ms: number;
  to_ms: number | null;
  from_sequence: number;
  to_sequence: number | null;
  /** `resumed`, `removed`, `replaced`, or `open` to the log's end. */
  ended: string;
  partitions: SilentPartition[];
}

export interface SilentPartition {
  topic: string;
  partition: number;
  from_ms: number;
  from_sequence: number;
}

/**
 * What a run cost its records: `lag` at the end and at most, records read twice and skipped, time not read (`unread_ms`
 * summed over partitions, `unread_max_ms` of one).
 */
export interface ConsumptionSummary {
  lag: number;
  lag_max: number;
  lag_max_at_ms: number;
  read_twice: number;
  skipped: number;
  unread_ms: number;
  unread_max_ms: number;
}

/** The texts of the clauses, put together, are `text`; `worst` is `null` where nothing was wrong. */
export interface Verdict {
  text: string;
  clauses: Clause[];
  worst: Worst | null;
  headline: Headline;
}

/** Words of a verdict. `sequence` is the step that proves them, `null` for words in between. */
export interface Clause {
  text: string;
  sequence: number | null;
  /** Of a clause that counts n things: where they happened, in order, for stepping through them. */
  sequences?: number[];
  /** Of a time: the moment, so that a page can show it in another zone. */
  at_ms?: number;
  /** Of how the group formed, and of sums: a page shows them with the whole story only. */
  part?: 'start' | 'sum';
}

/** The worst thing of a log: where it began, what it is. */
export interface Worst {
  sequence: number;
  at_ms: number | null;
  kind: string;
}

/** One sentence of at most 25 words; the texts of the clauses, put together, are `text`. */
export interface Headline {
  text: string;
  clauses: Clause[];
  /** `critical`, `warning`; null where nothing is wrong. */
  severity: string | null;
  /** False where part of it is inferred. */
  certain: boolean;
  figures: Figures;
}

/** The numbers next to a headline: `longest_ms` is the longest wait of its incident, `longest` the partition. */
export interface Figures {
  since_ms: number | null;
  /** Partitions that have no owner at the end, or one that commits nothing of them. */
  unread: number;
  /** Of how many; null where the log does not show it. */
  partitions: number | null;
  longest_ms: number | null;
  longest: string | null;
  /** Null where the log cannot show it, and where nothing is wrong. */
  still: boolean | null;
  /**
   * Of the brokers that wrote the records, as far as these show them: `4.3`, `4.4 or later`; several, by time, where
   * brokers were rolled. Absent of verdicts from before it was kept.
   */
  releases?: string[];
}

/** A problem: the entry with which it begins, when that was, and the sentence of its gravest finding. */
export interface Trouble {
  sequence: number;
  at_ms: number | null;
  says: string;
}

/** A group of a live cluster, as lists show it. */
export interface GroupRow {
  lag: number | null;
  lag_ms: number | null;
  lag_is_least: boolean | null;
  lost_records: number | null;
  lost_partition: string | null;
  skew: string | null;
  skew_of: string | null;
  group_epoch: number | null;
  assignment_epoch: number | null;
  members: number | null;
  behind: number | null;
  state_since_ms: number | null;
  rebalancing: boolean;
  since_ms: number | null;
  rebalanced_ms: number[];
  group: string;
  type: string | null;
  state: string | null;
  /** Whether the group can be seen: `seen`, or why not. */
  condition: string | null;
  timeline: string | null;
}
