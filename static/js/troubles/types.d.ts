/** The table of what is wrong, as the API has it (groups/storage/trouble_table.py). */

export interface StripCell {
  cell: number;
  rebalances: number;
  unread: boolean;
}

export interface Cause {
  kind: string;
  text: string;
  from_ms: number;
  to_ms: number;
  groups: string[];
}

export interface TroubleRow {
  timeline: string;
  group: string;
  protocol: string;
  status: string;
  severity: number;
  pattern: string;
  certain: boolean;
  headline: string;
  clauses: { text: string; sequence: number | null }[];
  still: boolean | null;
  worst_ms: number | null;
  worst_member: string;
  rebalances: number;
  unread: number;
  per_hour: number | null;
  at: number | null;
  strip: StripCell[];
  causes: number[];
  topics: string[];
  hosts: string[];
  /** Of the brokers that wrote its records, as far as these show them, and what shows it. */
  releases: string[];
  releases_why: string;
  note: string;
  /** On the page of a cluster: how the group is now. */
  live?: import('../shapes').GroupRow;
}

export interface Table {
  from_ms: number | null;
  to_ms: number | null;
  cells: number;
  matching: number;
  older: number;
  causes: Cause[];
  rows: TroubleRow[];
  /** On the page of all groups: how those that are watched are now, by timeline. */
  live?: Record<string, import('../shapes').GroupRow> | null;
}

export type Sort = 'severity' | 'group' | 'worst' | 'rate';

export interface Narrowed {
  all: boolean;
  text: string;
  pattern: string;
  topic: string;
  host: string;
  cause: number | null;
  sort: Sort;
}
