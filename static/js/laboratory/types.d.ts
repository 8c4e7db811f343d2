/** What /api/laboratory answers; docs/reference/api.md tells of each part. */

export interface LabMember {
  name: string;
  rack: string | null;
  topics: number[];
  joins: boolean;
  leaves: boolean;
}
export interface LabTopic {
  name: string;
  partitions: number;
  added: number;
}
export interface LabStep {
  says: string;
  columns: number[];
  /** member, partitions, partitions before the step */
  strip?: [number, number, number][];
  /** column, member (−1: free) */
  chips?: [number, number][];
}
export interface LabMeasures {
  moved: number;
  revoked: number;
  min: number;
  max: number;
  interrupted: number;
  paused: number;
  rebalances: number;
  local: number | null;
  assigned: number;
}
export interface LabAnswer {
  protocol: 'classic' | 'consumer';
  assignor: string;
  rebalance: 'eager' | 'cooperative' | 'consumer';
  /** the place of each partition's owner, −1 for nobody */
  before: number[];
  after: number[];
  sent: number[] | null;
  counts: { before: number[]; after: number[] };
  measures: LabMeasures | null;
  faults: { name: string; says: string }[];
  error: string | null;
  says: string;
  /** places of members that lose, gain, come or go */
  changed: number[];
  steps: LabStep[];
  /** why the simulator cannot play it */
  play: string | null;
}
export interface LabRow {
  key: string;
  label: string;
  title: string;
  values: (number | null)[];
  best: number[];
}
export interface Sheet {
  query: string;
  title: string;
  says: { text: string; board?: number }[];
  case: {
    before: string;
    event: string;
    seed: number;
    members: unknown[];
    joining: unknown[];
    leaving: number[];
    grown: { topic: number; by: number } | null;
    given: number[][] | null;
  };
  axes: { sizes: string | null; subscriptions: string | null; racks: string | null; before: string; event: string };
  members: LabMember[];
  topics: LabTopic[];
  answers: LabAnswer[];
  scorecard: LabRow[];
}
export type Change = { what: string; [name: string]: unknown };
export type View = 'before' | 'moves' | 'after';
