/**
 * What a reader has done, kept in this browser alone. Two tabs add up; a reload finds it again.
 *
 * @import {Done} from './types'
 */

const KEY = 'lessons';

/** Lessons that are kept, the latest: those of a draft's every name would pile up. */
const KEPT_MOST = 500;

/** @returns {{[lesson: string]: Done}} */
export function all(store = localStorage) {
  try {
    const kept = JSON.parse(store.getItem(KEY) ?? '{}');
    return kept && typeof kept === 'object' && !Array.isArray(kept) ? kept : {};
  } catch {
    return {};
  }
}

/** @param {string} lesson @returns {Done} */
export function of(lesson, store = localStorage) {
  const kept = all(store)[lesson];
  const number = (/** @type {unknown} */ value) =>
    typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : 0;
  return {
    beat: number(kept?.beat),
    reached: number(kept?.reached),
    done: kept?.done === true,
    answers: kept?.answers && typeof kept.answers === 'object' ? kept.answers : {},
  };
}

/**
 * Takes a change over into what is kept: whatever another tab has kept meanwhile stays.
 *
 * @param {string} lesson
 * @param {Partial<Done>} change
 */
export function keep(lesson, change, store = localStorage) {
  const kept = all(store);
  const before = of(lesson, store);
  const { [lesson]: _, ...others } = kept;
  const after = {
    ...before,
    ...change,
    reached: Math.max(before.reached, change.reached ?? 0),
    done: before.done || change.done === true,
    answers: { ...before.answers, ...change.answers },
  };
  const names = Object.keys(others);
  const rest = Object.fromEntries(
    names.slice(Math.max(0, names.length - KEPT_MOST)).map((name) => [name, others[name]]),
  );
  try {
    store.setItem(KEY, JSON.stringify({ ...rest, [lesson]: after }));
  } catch {
    // A browser that keeps nothing still plays lessons.
  }
  return after;
}

/** From the beginning again. @param {string} lesson */
export function forget(lesson, store = localStorage) {
  const { [lesson]: _, ...others } = all(store);
  try {
    store.setItem(KEY, JSON.stringify(others));
  } catch {
    // Nothing was kept.
  }
}
