/**
 * Shapes that Python and the browser share. Written by `python -m tests.house.shapes` from their one declaration in
 * Python; nothing in this file exists at run time.
 */

/** Everything that the laboratory answers about a case. */
export interface Sheet {
  query: string;
  title: string;
  says: Part[];
  case: CaseDocument;
  axes: AxesSheet;
  members: MemberSheet[];
  topics: TopicSheet[];
  answers: AnswerSheet[];
  scorecard: ScorecardRow[];
}

/** Words of a sentence; `board` is the place of the answer that proves them. */
export interface Part {
  text: string;
  board?: number;
}

/** A case, as `simulations.laboratory.documents` reads and writes it. */
export interface CaseDocument {
  members: MemberDocument[];
  joining: MemberDocument[];
  leaving: number[];
  grown: GrownDocument | null;
  topics: TopicDocument[];
  event: string;
  before: string;
  given: number[][] | null;
  seed: number;
}

export interface MemberDocument {
  topics: number[];
  rack: string | null;
  name: string | null;
  id: string | null;
}

export interface GrownDocument {
  topic: number;
  by: number;
}

export interface TopicDocument {
  partitions: number;
  name: string | null;
}

/** Where the case is along the laboratory's choices; `null` where it is none of them. */
export interface AxesSheet {
  sizes: string | null;
  subscriptions: string | null;
  racks: string | null;
  before: string;
  event: string;
}

export interface MemberSheet {
  name: string;
  rack: string | null;
  topics: number[];
  joins: boolean;
  leaves: boolean;
}

export interface TopicSheet {
  name: string;
  partitions: number;
  added: number;
}

/** What one assignor answers. Owners are places of members by column, −1 for nobody. */
export interface AnswerSheet {
  protocol: string;
  assignor: string;
  rebalance: string;
  before: number[];
  after: number[];
  sent: number[] | null;
  counts: CountsSheet;
  measures: AnswerFigures | null;
  faults: FaultSheet[];
  error: string | null;
  says: string;
  changed: number[];
  steps: StepSheet[];
  /** Why it cannot be played on the board; `null` where it can. */
  play: string | null;
}

export interface CountsSheet {
  before: number[];
  after: number[];
}

/** `assigned` are all partitions that have an owner; `placed` was its name before. */
export interface AnswerFigures {
  moved: number;
  revoked: number;
  min: number;
  max: number;
  interrupted: number;
  paused: number;
  rebalances: number;
  local: number | null;
  placed: number;
  assigned: number;
}

export interface FaultSheet {
  name: string;
  says: string;
}

/** A step of an algorithm. `columns` are places of partitions. */
export interface StepSheet {
  says: string;
  columns?: number[];
  /** `[member, partitions, partitions before the step]` of everybody who is there. */
  strip?: number[][];
  /** `[column, member]`, with −1 where a partition is free. */
  chips?: number[][];
}

export interface ScorecardRow {
  key: string;
  label: string;
  title: string;
  values: (number | null)[];
  /** Places of the boards with the best value, none where all are equal. */
  best: number[];
}
