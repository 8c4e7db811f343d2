/**
 * What a member's row of the map contains in a column, as bits (`MemberFlags` in types.d.ts, groups/history/digests/flags.py).
 * Bits of finer columns are or-ed into those of coarser ones: nothing bad disappears when one zooms out.
 *
 * @import {MemberFlags} from '../types'
 */

export const MEMBER = 1;
export const BEHIND = 2;
export const LEAVING = 4;
export const WAITS = 8;
export const REVOKING = 16;
export const TWICE = 32;
export const CUT = 64;
export const PAUSED = 128;
export const KILLED = 256;
export const FENCED = 512;
export const OUTSIDE = 1024;
export const BROKEN = 2048;

/** Modes of a partition (`PartitionModeCode`), the worst last. */
export const MODES = /** @type {const} */ (['absent', 'own', 'leaving', 'revoking', 'free', 'twice']);
