/** A row of `GET /api/kept`. */
export interface Kept {
  kind: 'import' | 'timeline';
  id: string;
  url: string;
  title: string;
  source: string;
  status: string;
  problem: string;
  waits: string;
  headline: string;
  /** Of a timeline: its members, hosts and other words that were searched for and that the row does not show. */
  found?: string[];
  /** 0: no trouble, 1: warning, 2: critical. */
  severity: number;
  /** Milliseconds since 1970; null where the clock is a simulation's. */
  first_ms: number | null;
  last_ms: number | null;
  created_ms: number;
  ago: string;
  /** Who has made it; empty for a command, a worker or local mode. */
  author: string;
  /** Why its reader may not delete it; empty if it can be. */
  not_deletable: string;
  /** Of an import: all its groups, those in trouble, those that a filter is met by (null without one). */
  groups?: number;
  in_trouble?: number;
  matching?: number | null;
  gravest?: string;
}

export interface Page {
  rows: Kept[];
  after: number;
  matching: number;
}

/** A group of an import, as far as this list shows it (`GET /api/imports/<id>/groups`). */
export interface Inner {
  id: string;
  url: string;
  title: string;
  weight: number;
  verdict: { text: string; headline?: { text: string } };
}
