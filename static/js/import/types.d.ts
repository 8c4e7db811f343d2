/** An import as the API shows it (explorer/pages/imports/api.py). */

export interface Stage {
  name: string;
  done: number;
  of: number | null;
  unit: string;
}

/** A file that was looked into. */
export interface Source {
  file: string;
  is: string;
  first_offset: number | null;
  last_offset: number | null;
  bytes: number;
  records: number;
  compacted: number;
  state: string;
  repeats: string | null;
  kind: string;
}

/** A group that was found, as a timeline. */
export interface Row {
  id: string;
  url: string;
  group: string;
  title: string;
  protocol: string;
  entries: number;
  first_ms: number | null;
  last_ms: number | null;
  gaps: number;
}

/** A topic id that the log does not name. */
export interface Nameless {
  id: string;
  partitions: number | null;
  suggestion: { name: string; why: string } | null;
  groups: string[];
  timelines: string[];
  name: string | null;
}

export interface Skipped {
  file: string;
  offset: number | null;
  last_offset: number | null;
  reason: string;
  records: number;
  normal: boolean;
}

export interface Detail {
  id: string;
  title: string;
  status: string;
  problem: string;
  /** Whether it failed and can be read again from the same files. */
  repeatable: boolean;
  /** Why no worker takes it; empty where one does, or will. */
  waits: string;
  created: string;
  finished: string | null;
  stage: string;
  stages: Stage[];
  bytes: number;
  remaining_s: number | null;
  found: number | null;
  sources: Source[];
  timelines: Row[];
  timelines_in_all: number;
  matching: number;
  span: [number, number] | null;
  again: { same: number; longer: number; overlapping: number };
  repeated: number;
  waiting_groups: { group: string; protocol: string; records: number; first_ms: number; last_ms: number }[];
  spark: { ready: boolean } | null;
  /** What read it, and why: null until that is chosen. */
  engine: { name: string; why: string; executors_lost?: number } | null;
  /** What each stage took. */
  times: import('../panels/times.js').StageTime[];
  /** So often its worker ended, and another one began with it. */
  begun_again: number;
  /** Groups that it had finished by then. */
  finished_before: number;
  /** That no count has changed for minutes; empty while one does. */
  stuck: string;
  /** The last lines of the log, where the import failed. */
  log: string[];
  named: { says: string; count: number }[];
  nameless: Nameless[];
  records: { read: number; decoded: number; skipped: Skipped[]; compacted?: number; unlisted?: number };
}
