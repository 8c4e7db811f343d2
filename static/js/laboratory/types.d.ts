/** What /api/laboratory answers, and what the page asks; docs/reference/api.md tells of each part. */

import type { AnswerSheet, StepSheet } from './shapes.js';

export type * from './shapes.js';

export type LabAnswer = AnswerSheet;
export type LabStep = StepSheet;

export type Change = { what: string; [name: string]: unknown };
export type View = 'before' | 'moves' | 'after';
