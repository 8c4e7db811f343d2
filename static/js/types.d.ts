/**
 * The shapes that reach the browser. They are the API's (docs/reference), named here once so that `tsc`
 * can hold every module to them. Nothing in this file exists at run time.
 */

import type {
  Change,
  Clause,
  Figures,
  Frame,
  Moment,
  Partitions,
  Shape,
  SilentSpan,
  Summary,
  Trouble,
} from './shapes.js';

export type * from './shapes.js';

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

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
  summary?: Partial<Summary>;
  more?: boolean;
}

/** Times are the watcher's clock, but for `now_ms`, the server's. */
export interface LiveSource {
  now_ms: number;
  looked_ms: number | null;
  every_s: number | null;
  mode: string;
  status: string;
  problem: string;
  is_watched: boolean;
  condition: string;
  state: string | null;
  state_since_ms: number | null;
  rebalancing: boolean;
  since_ms: number | null;
  members: number | null;
  skew_ms: number | null;
}

export interface Meta {
  id: string;
  title: string;
  group: string;
  protocol: string | null;
  source: string;
  status: string;
  semantics?: string | null;
  release?: string;
  seed?: number | null;
  provenance?: Json;
  /** How the source of a live group is now; null once its timeline is over. */
  live?: LiveSource | null;
  fold_version: number;
  entry_format: number;
  last: number;
  /** The sequence of the worst moment; null where nothing went wrong. */
  worst?: number | null;
  /** The sequence at which a shared file opens; null where its timeline's own opening counts. */
  opens?: number | null;
  /** What goes wrong, in order. */
  troubles?: Trouble[];
  summary: Partial<Summary>;
  version: string;
  problem?: string;
  /** Why no worker takes it; empty where one does, or will. */
  waits?: string;
  topic_names: { [id: string]: string };
  /** Of a run that has ended: how long it took. */
  work?: import('./panels/times.js').Work | null;
  /** As many members were in the group at once. */
  members_most: number;
  /** `moments`: how many it has, where that is known before it is opened. */
  chunks: { number: number; first: number; last: number; moments?: number | null }[];
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

export interface Column {
  key: string;
  topic: string;
  partition: number;
  /** Of a quiet run that is drawn as one column: its partitions. */
  folded?: string[];
}

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

/* ---- The source: what the board and the map read, whatever gives it (HTTP, a socket, or data in the page) ---- */

/**
 * What a row of the map shows in a column: bits, so that a coarser column is the bitwise or of finer ones and nothing
 * bad disappears when one zooms out. The worst state is the highest bit that is set.
 *
 *     1 MEMBER    is a member of the group
 *     2 BEHIND    its member epoch is older than the group epoch (generation)
 *     4 LEAVING   owns partitions whose target owner is another member, and was not asked to revoke them yet
 *     8 WAITS     is the target owner of partitions that it does not own yet
 *    16 REVOKING  was asked to revoke partitions, and has not confirmed it
 *    32 TWICE     owns partitions that another member owns, too
 *    64 CUT       is cut off from the coordinator
 *   128 PAUSED    does not poll: the process is paused
 *   256 KILLED    the process is killed, the session still open
 *   512 FENCED    fenced, until it rejoins
 *  1024 OUTSIDE   is no member, and its client still reads
 *  2048 BROKEN    part of a broken invariant at this moment
 */
export type MemberFlags = number;

/** Of a partition in a column; a coarser column holds the greatest of the finer ones. 0: it does not exist (yet). */
export type PartitionModeCode = 0 | 1 | 2 | 3 | 4 | 5;
/* 0 absent, 1 own, 2 leaving, 3 revoking, 4 free (unassigned), 5 twice */

/** A row of the map: a lane, which is a member and those that replaced it under the same name. */
export interface MapLane extends Lane {
  /** Ids of its members, in the order of joining. */
  members: string[];
  client_id: string | null;
  host: string | null;
  rack_id: string | null;
  instance_id: string | null;
  /** From the first column in which anybody is in the lane to the last one, as far as is known: sequences. */
  first: number;
  last: number;
}

/** Partitions of a topic are neighbours among the partition rows: rows `first_row` to `first_row + partitions - 1`. */
export interface MapTopic {
  topic: string;
  first_row: number;
  partitions: number;
}

/** Which stretch of the timeline, and how finely. */
export interface WindowAsk {
  /** Sequences, both included. Between moments: the state that holds there. */
  from: number;
  to: number;
  /** Columns wanted at most: pixels, say. If the window has no more moments than this, each is a column: `exact`. */
  columns: number;
}

/**
 * Columns, in order. Column `i` holds the moments from sequence `first[i]` to `last[i]`, which happened from `from_ms[i]` to
 * `to_ms[i]`, `moments[i]` of them; its state lasts until column `i + 1` begins. `first` and `last` are sequences of moments
 * (`Moment.sequence`), so that any of them can be sought. Column 0 may stand before the first moment: then `moments[0]` is 0.
 * Times may run backwards (fail-over): places on an axis of time are the caller's to clamp.
 */
export interface WindowColumns {
  first: number[];
  last: number[];
  from_ms: number[];
  to_ms: number[];
  moments: number[];
  /** 1 where entries were not looked at yet (an import's chunk that nobody opened): no row says anything there. */
  unknown?: number[];
}

/** What all answers have in common. */
interface WindowAnswer {
  from: number;
  to: number;
  /** Whether each moment of the window is a column of its own. */
  exact: boolean;
  columns: WindowColumns;
}

/**
 * Runs per row, flat: row `r` has the runs `offsets[r]` to `offsets[r + 1] - 1`. Run `i` begins with column `start[i]` and
 * lasts until the row's next run begins (or the window ends); a row without runs is absent all along.
 */
export interface MemberRuns {
  /** Keys of lanes (`MapLane.key`): the rows of this answer, in the order of `MapLane.order`. */
  rows: string[];
  offsets: ArrayLike<number>;
  start: ArrayLike<number>;
  flags: ArrayLike<MemberFlags>;
  /** Partitions that it owns at the end of the column (revoking ones included). */
  owned: ArrayLike<number>;
  /** The most that it was revoking at a moment of the column. */
  revoking: ArrayLike<number>;
  /** The most that it should own, and did not, at a moment of the column. */
  wanted: ArrayLike<number>;
}

export interface MembersWindow extends WindowAnswer, MemberRuns {}

export interface PartitionRuns {
  topics: MapTopic[];
  /** Keys of lanes that `owner` speaks of. */
  lanes: string[];
  /** One more than there are partition rows. */
  offsets: ArrayLike<number>;
  start: ArrayLike<number>;
  /** The owner at the end of the column, an index into `lanes`, -1: nobody. */
  owner: ArrayLike<number>;
  mode: ArrayLike<PartitionModeCode>;
}

export interface PartitionsWindow extends WindowAnswer, PartitionRuns {
  /** Partitions that are not told, beyond 20,000: ask for their topics. */
  left_out?: number;
}

/** A stretch: `from` and `to` are sequences of moments, `to` excluded; null: it has not ended in this window. */
export interface MapStretch {
  from: number;
  to: number | null;
  from_ms: number;
  to_ms: number | null;
}

export type HardKind = 'killed' | 'paused' | 'cut' | 'fenced' | 'outside';

/** The group itself in a window. */
export interface GroupWindow extends WindowAnswer {
  states: (MapStretch & { state: string })[];
  epochs: { epoch: number; sequence: number; at_ms: number }[];
  /** Unassigned partitions at a moment of each column: the most; and the number of members at its end. */
  unassigned: ArrayLike<number>;
  members: ArrayLike<number>;
  /** Partitions that were unassigned together, from the same moment to the same moment. At most 500, the longest. */
  bands: (MapStretch & { count: number; some: { topic: string; partition: number }[] })[];
  /** At most 1,000, the longest. */
  hardships: (MapStretch & { lane: string; kind: HardKind })[];
  coordinators: (MapStretch & { name: string; loading_until_ms: number | null })[];
  violations: { sequence: number; at_ms: number; says: string }[];
  /** Like events of the window, collapsed, by their first moment. At most 1,000; `more` events were left out. */
  events: EventGroup[];
  more: number;
}

/** Like events that followed each other: "995 members move to epoch 12 (0.4 s)". One event is a group of one. */
export interface EventGroup {
  /** Sequences of the first moment and of the last one. Others may lie between them. */
  first: number;
  last: number;
  from_ms: number;
  to_ms: number;
  count: number;
  shape: Shape;
  /** The epoch that they all stand in, or else null. */
  epoch: number | null;
  /** Null where they are several members'. */
  actor: string | null;
  /** The sentence of the one event, or that of all together. */
  says: string;
  cause: number | null;
  /** Something that needs attention: a fault, a fence, a removal, a gap, a violation, a fail-over. */
  problem: boolean;
}

/** Where a partition is, kept up to date with each step; the same as `PartitionView`, without a Map of 10,000 objects. */
export interface Ownership {
  /** A partition of the frame that the cursor stands at; null where it does not exist. */
  of(key: string): PartitionView | null;
  /** Partitions without an owner, and those whose owner is not their target owner. */
  readonly free: ReadonlySet<string>;
  readonly moving: ReadonlySet<string>;
  /** What a member owns (revoking ones included), is revoking, and is the target owner of without owning it. */
  member(id: string): { owned: string[]; revoking: string[]; wanted: string[] };
}

/**
 * The one source of what is drawn. Answers are cached; a promise is rejected with one line where nothing can be had.
 * Of a timeline that grows, answers that reach to the end grow stale: `onGrow` says so, ask again.
 */
export interface Source {
  /** The first state's sequence (0, unless retention cut the log from below), and the last entry's. */
  readonly origin: number;
  readonly last: number;
  /** Known lanes in their order: all of the timeline once a `members` answer has covered it. */
  lanes(): MapLane[];
  /** Members by window. */
  members(ask: WindowAsk): Promise<MembersWindow>;
  /** Partitions by window; `topics` restricts them, in this order; all others are left out. */
  partitions(ask: WindowAsk & { topics?: string[] }): Promise<PartitionsWindow>;
  group(ask: WindowAsk): Promise<GroupWindow>;
  /**
   * What is here already and covers the window, perhaps at another resolution (then `exact` and `columns` say which):
   * for drawing at once while the better one is asked for. Null where nothing covers it.
   */
  now(of: 'members', ask: WindowAsk): MembersWindow | null;
  now(of: 'partitions', ask: WindowAsk): PartitionsWindow | null;
  now(of: 'group', ask: WindowAsk): GroupWindow | null;
  /** The moments of a group of events, a page of 500 at most from `after` on. */
  eventsOf(group: EventGroup, after?: number): Promise<Moment[]>;
  /** The whole frame at a sequence; at most one chunk is fetched. */
  frame(sequence: number): Promise<Frame>;
  /** Called after entries were added; the answer takes the listener off. */
  onGrow(listener: () => void): () => void;
}

/** What the map is told with each step of the playhead: the frame is shared, never to be altered. */
export interface MapScene {
  frame: Frame;
  moment: Moment | null;
  sequence: number;
  ownership: Ownership;
  violation: { members: string[]; keys: string[]; says: string } | null;
  /** Milliseconds since the last commit of each silent member. */
  silent?: Map<string, number>;
}
