/** What a lesson's page plays: simulations/lessons/sheets.py. */

import type { Chunk, Meta } from '../types';

export interface TextPart {
  kind: 'text' | 'value' | 'partition' | 'member' | 'term' | 'code';
  text: string;
  word?: string;
  reference?: string;
}

export interface Option {
  key: string;
  says: TextPart[];
  right: boolean;
  why: TextPart[];
}

export interface Ask {
  kind: 'partitions' | 'members' | 'choice' | 'places';
  many: boolean;
  question: TextPart[];
  tray: TextPart[];
  options: Option[];
  answer: TextPart[];
  at: number | null;
  hint: TextPart[] | null;
  then: TextPart[] | null;
}

export interface Beat {
  sequence: number;
  title: string;
  text: TextPart[][];
  notes: TextPart[] | null;
  cite: TextPart[] | null;
  terms: string[];
  ask: Ask | null;
  row: number | null;
}

export interface Row {
  sequence: number;
  says: TextPart[];
  cells: string[];
  same: boolean[];
}

export interface Table {
  source: string;
  members: string[];
  rows: Row[];
  slip: TextPart[] | null;
}

export interface Run {
  title: string;
  summary: Meta['summary'];
  chunk: Chunk;
}

export interface Hands {
  query: string;
  members: { name: string; topics: string[]; joins: boolean; leaves: boolean }[];
  partitions: string[];
  before: (string | null)[];
  answers: {
    name: string;
    after: (string | null)[];
    sent: (string | null)[] | null;
    measures: { [name: string]: number };
  }[];
}

export interface Sheet {
  id: string;
  title: string;
  goal: TextPart[];
  minutes: number;
  of: string;
  kind: string;
  replayable: boolean;
  quiz: boolean;
  run: Run | null;
  hands: Hands | null;
  table: Table | null;
  beats: Beat[];
}

/** What a reader has done of one lesson: the beat that was reached last, the answers, and whether it is done. */
export interface Done {
  beat: number;
  reached: number;
  done: boolean;
  answers: { [beat: string]: string[] };
}
