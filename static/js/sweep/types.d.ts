/** What the API tells of a sweep (docs/reference/api.md). */

export interface Place {
  cell: number;
  /** Seeds that are in. */
  seeds: number;
  text: string;
  step: number | null;
}

export interface Map {
  figure: { data: any[]; layout: any };
  /** Shape by shape, event by event. */
  cells: Place[];
}

export interface Detail {
  id: string;
  title: string;
  status: string;
  stage: string;
  /** Why no worker takes it; empty where one does, or will. */
  waits: string;
  problem: string;
  done: number;
  cases: number;
  created: string;
  finished: string | null;
  took_ms: number;
  axes: {
    assignors: { name: string; label: string; runs_as: string }[];
    shapes: { name: string; label: string }[];
    events: { name: string; label: string; head: string }[];
    /** How many, from the first one on. */
    seeds: number;
    first_seed: number;
  };
  master: string;
  cores: number;
  same_engine: boolean;
  spark: { ready: boolean } | null;
  measure: string;
  aggregate: string;
  measures: { key: string; label: string; title: string; unit: string }[];
  most: string;
  says: { text: string; cell?: number; measure?: string }[];
  maps: Map[];
}

export interface Cell {
  cell: number;
  assignor: string;
  shape: string;
  event: string;
  unit: string;
  in: number;
  median: string | null;
  least: string | null;
  most: string | null;
  worst: number | null;
  seeds: { seed: number; text: string }[];
  thrown: { seed: number; says: string }[];
  strip: { data: any[]; layout: any };
}

export interface Seed {
  cell: number;
  seed: number;
  query: string | null;
  url: string | null;
  board: number;
  reason: string | null;
  figures: { [figure: string]: number | null } | null;
}
