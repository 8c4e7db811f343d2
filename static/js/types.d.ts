/**
 * The shapes that reach the browser. They are the API's (docs/reference), named here once so that `tsc`
 * can hold every module to them. Nothing in this file exists at run time.
 */

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Partition numbers by topic, in the order in which the source gives them. */
export type Partitions = { [topic: string]: number[] };

/** What one entry altered: a side that is absent is left out, which is not null. */
export interface Change {
  sequence: number;
  path: string[];
  old?: Json;
  new?: Json;
}

export type Shape =
  | 'join' | 'target' | 'advance' | 'revoke' | 'acknowledge' | 'gain' | 'leave' | 'remove'
  | 'commit' | 'metadata' | 'regex' | 'state' | 'note' | 'fault' | 'fence' | 'fail_over' | 'replace'
  | 'violation' | 'gap';

/** A settled step that changed or said something; the board rests on nothing else. */
export interface Moment {
  sequence: number;
  first: number;
  at_ms: number;
  actor: string;
  shape: Shape;
  says: string;
  epoch: number | null;
  cause: number | null;
  /** The row of a proposal's table that ends here, and what the case study tells of it. */
  step: number | null;
  narration?: string;
}

export interface MemberFrame {
  protocol?: string;
  epoch?: number | null;
  previous_epoch?: number | null;
  state?: string | null;
  client_id?: string | null;
  host?: string | null;
  instance_id?: string | null;
  rack_id?: string | null;
  subscribed?: string[] | null;
  subscribed_regex?: string;
  assigned: Partitions;
  pending_revocation?: Partitions;
  pending_assignment?: Partitions;
  session_timeout_ms?: number | null;
  rebalance_timeout_ms?: number | null;
  /** Of a streams group's member: `assigned` holds its active tasks by subtopology, these the copies. */
  standby?: Partitions;
  standby_pending_revocation?: Partitions;
  warmup?: Partitions;
  warmup_pending_revocation?: Partitions;
  process_id?: string;
  endpoint?: string | null;
  topology_epoch?: number;
}

export interface ClientFrame {
  owned?: Partitions | null;
  calling?: string | null;
  revoking?: Partitions | null;
  heartbeat_ms?: number | null;
  /** Only while it is so. */
  killed?: boolean;
  paused?: boolean;
  cut?: string[];
  fenced?: string;
  clock_ms?: number;
  computing?: boolean;
}

export interface Frame {
  sequence: number;
  at_ms: number;
  group: string;
  protocol: string | null;
  state: string | null;
  group_epoch?: number | null;
  assignment_epoch?: number | null;
  generation?: number | null;
  leader?: string | null;
  protocol_name?: string | null;
  target?: { [member: string]: Partitions } | null;
  /** Of a streams group. */
  target_standby?: { [member: string]: Partitions };
  target_warmup?: { [member: string]: Partitions };
  topology?: { epoch: number; subtopologies: { [id: string]: { source_topics: string[] } } } | null;
  /** Of a share group: partitions whose share state is being made. */
  initializing?: Partitions;
  topics: { [topic: string]: { id?: string | null; partitions: number | null; was?: string } };
  /** What each expression was resolved to, where records tell. */
  regexes?: { [regex: string]: string[] };
  coordinator?: { name: string | null; epoch: number | null; loading_until_ms: number | null; cut: string[] };
  members: { [member: string]: MemberFrame };
  clients: { [member: string]: ClientFrame } | null;
  timers: { [member: string]: { session: number | null; rebalance: number | null } } | null;
}

export interface Chunk {
  first: number;
  last: number;
  frame: Frame;
  changes: Change[];
  moments: Moment[];
}

export interface Delta {
  after: number;
  last: number;
  changes: Change[];
  moments: Moment[];
  summary?: Summary;
  more?: boolean;
}

/** Words of a verdict: `sequences` of one that counts several things, `at_ms` of a time. */
export interface Clause { text: string; sequence: number | null; sequences?: number[]; at_ms?: number }

/** A member that was assigned and silent: open dots on each partition, from its last commit on. Inferred. */
export interface SilentSpan {
  member: string;
  from_ms: number;
  to_ms: number | null;
  from_sequence: number;
  to_sequence: number | null;
  ended: 'resumed' | 'removed' | 'replaced' | 'open';
  partitions: { topic: string; partition: number; from_ms: number; from_sequence: number }[];
}

export interface Summary {
  group?: string;
  protocol?: string | null;
  state?: string | null;
  first_ms?: number | null;
  last_ms?: number | null;
  entries?: number;
  last?: number;
  cast?: { id: string; name: string; joined: number }[];
  topics?: { [topic: string]: { id?: string | null; partitions: number | null; was?: string } };
  epochs?: { epoch: number; sequence: number; at_ms: number }[];
  gaps?: { [key: string]: Json }[];
  findings?: { kind: string; says: string; sequences: number[]; certain: boolean; [key: string]: Json }[];
  silences?: SilentSpan[];
  verdict?: { text: string; clauses: Clause[]; worst?: { sequence: number; at_ms: number | null; kind: string } | null } | null;
}

export interface Meta {
  id: string;
  title: string;
  group: string;
  protocol: string | null;
  source: string;
  status: string;
  semantics?: string | null;
  seed?: number | null;
  provenance?: Json;
  fold_version: number;
  entry_format: number;
  last: number;
  /** The sequence of the worst moment; null where nothing went wrong. */
  worst?: number | null;
  /** The sequences with which problems begin, in order. */
  troubles?: number[];
  summary: Summary;
  version: string;
  problem?: string;
  topic_names: { [id: string]: string };
  chunks: { number: number; first: number; last: number }[];
}

export interface Entry {
  sequence: number;
  at_ms: number;
  kind: string;
  actor: string;
  cause: number | null;
  provenance: string;
  settled: boolean;
  partition?: number | null;
  offset?: number | null;
  unit?: number | null;
  payload: { [key: string]: any };
}

/** Where a partition is in a frame, and who should have it. */
export interface PartitionView {
  key: string;
  topic: string;
  partition: number;
  holders: string[];
  holder: string | null;
  wants: string | null;
  /** Everybody whose target holds it: several in a share group. */
  wanted: string[];
  mode: 'own' | 'leaving' | 'revoking' | 'free' | 'twice';
}

/** One row of the board: a member and those that replaced it under the same name. */
export interface Lane {
  key: string;
  name: string;
  badge: string;
  hue: string;
  order: number;
}

export interface Column { key: string; topic: string; partition: number }

/** A stretch of the timeline during which one member stood in one relation to one partition. */
export interface Span {
  lane: string;
  key: string;
  mode: 'own' | 'revoking' | 'want';
  from: number;
  to: number | null;
  from_ms: number;
  to_ms: number | null;
}
