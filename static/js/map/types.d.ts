/**
 * The shapes that the map's modules share. Nothing in this file exists at run time. What the map is drawn from is
 * `Source` in ../types.d.ts.
 */

export type Kind = 'members' | 'partitions';
export type Axis = 'events' | 'time';
export type Grouping = 'none' | 'host' | 'rack' | 'client' | 'topic';
export type Only = 'all' | 'changing' | 'trouble';

/** Something that has a row: a lane, which is a member and those that replaced it, or a partition. */
export interface Entity {
  /** `MapLane.key`, or `topic-partition`. */
  key: string;
  /** As it is written, whole. */
  name: string;
  /** By what else it is found: member ids, client id, `group.instance.id`. */
  also: string[];
  host: string | null;
  rack: string | null;
  client: string | null;
  /** Of a partition. */
  topic: string | null;
  /** The row's place while nothing else orders it. */
  order: number;
}

/** A line of the list: a row, or the head of a group of rows. */
export interface Line {
  type: 'row' | 'group';
  key: string;
  /** The entity's index; of a group that of its first row. */
  index: number;
  level: 1 | 2;
  name: string;
  /** The entities of a group; of a row it alone. */
  indices: number[];
  /** Whether the rows of a group are in the list. */
  open: boolean;
}

/** Which stretch of the timeline is in sight: sequences, both included. */
export interface Window {
  from: number;
  to: number;
}

/** Rows as they lie in an answer, ready to be painted: row `r` has the runs `offsets[r]` to `offsets[r + 1] - 1`. */
export interface Track {
  offsets: ArrayLike<number>;
  /** The column in which each run begins. */
  start: ArrayLike<number>;
  /** What each run is painted as: mode × 8 + hue. */
  codeOf: (run: number) => number;
  /** Where each column begins, in device pixels; one more than there are columns. */
  places: ArrayLike<number>;
}

/** What a row says at the playhead. */
export interface RowText {
  /** A sentence without the row's name. */
  says: string;
  mode: number;
  /** Who it is about, and why: each a link. */
  links: { key: string; kind: Kind; text: string }[];
}

/** Whoever is in trouble at the playhead, the worst first. */
export interface Trouble {
  kind: Kind;
  key: string;
  /** Without its name: `revokes orders-412 for c-066`. */
  says: string;
  mode: number;
}

/** Colours as they lie in the words of an `ImageData`. */
export interface Palette {
  ground: number;
  absent: number;
  settled: number;
  behind: number;
  waiting: number;
  revoking: number;
  stalled: number;
  lost: number;
  unassigned: number;
  unassignedGround: number;
  ink: number;
  /** Six hues and grey. */
  hues: number[];
}
