/**
 * The shapes of `/api/inspect` (docs/reference/api.md), so that `tsc` can hold the modules to them. Nothing in this
 * file exists at run time.
 */

import type { Json } from '../types';

export interface Problem {
  sentence: string;
  offset?: number | null;
  path?: string | null;
}

/** A field: where it lies in the outermost bytes, and its value or the fields that it holds. */
export interface FieldNode {
  name: string;
  type: string;
  offset: number;
  /** The whole extent, prefix included. */
  length: number;
  /** How many of the bytes are a length, a count or the mark of null. */
  prefix?: number;
  value?: Json;
  /** The digits of a number that a double cannot hold. */
  text?: string;
  fields?: FieldNode[];
  /** Of bytes that were opened in place: what they are. */
  kind?: string;
  since?: number;
  until?: number;
  tag?: number;
  meaning?: string;
  /** The name of what an id stands for, where the timeline knows it; of a record in a batch, its offset and key. */
  called?: string;
  problem?: Problem | null;
  /** What the offsets of `fields` count in, where they lie in bytes of their own, as compressed records do. */
  in?: string;
}

export interface Guess {
  kind: string;
  title: string;
  version: number | null;
  read: number;
  whole: boolean;
  likely: boolean;
  problem?: Problem | null;
}

/** What a client reads that knows no version beyond `version`. */
export interface SeenBy {
  version: number;
  read: number;
  ignored: number;
  fields: { name: string; read: boolean }[];
  consequences: string[];
}

/** A part of a sentence; with a path it leads to that field. */
export interface Said {
  text: string;
  path?: string | null;
}

export interface Inspected {
  bytes: string;
  kind: string;
  title: string;
  version: number | null;
  length: number;
  read: number;
  fields: FieldNode[];
  problem: Problem | null;
  says: Said[];
  how?: string;
  guesses: Guess[];
  clients: SeenBy[];
}

export interface Difference {
  path: string;
  path_b?: string;
  a?: Json;
  b?: Json;
  same: boolean;
  meaning?: string;
}

export interface Compared {
  first: Inspected;
  second: Inspected;
  rows: Difference[];
  leads: { title: string; says: string }[];
  says: Said[];
}

/** Key and value of a record of a timeline. */
export interface RecordBytes {
  timeline: string;
  sequence: number;
  title: string;
  place: string;
  /** The entry that is the record before of the same key, and the first that was looked at for it. */
  before: number | null;
  searched_from: number;
  key: Inspected | null;
  value: Inspected | null;
}
