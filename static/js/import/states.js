/**
 * What an import has come to: whether it has ended, and how many groups are known.
 *
 * @import {Detail} from './types'
 */

const ENDED = new Set(['complete', 'failed', 'cancelled']);

/** The stage in which Spark's process comes up: ten to twenty seconds, in which nothing is read. */
export const SPARK = 'Starting Spark';

/** @param {Detail} detail */
export const ended = (detail) => ENDED.has(detail.status);

/** Groups that are known by now: those stored, or those that were read. @param {Detail} detail */
export const total = (detail) =>
  ended(detail) ? detail.timelines_in_all : (detail.found ?? detail.waiting_groups.length);
