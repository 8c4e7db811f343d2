/**
 * How a timeline is looked at: all of its moments, those around the playhead, or a map with windows from the server.
 *
 * @import {Meta} from '../types'
 */

/** More members than this are a crowd: a line for each would not fit a screen. */
export const MEMBERS_MOST = 60;
/** More partitions than this are, too: who owns each at each moment is not worked out in a browser. */
export const PARTITIONS_MOST = 600;
/** Up to so many chunks are fetched behind the board, so that spans can be drawn to the end. */
export const CHUNKS_MOST = 24;
/** Moments × partitions that are visited, in slices: a second or two of a slow machine. */
const VISITS_MOST = 1_500_000;

/** @param {Meta} meta @param {number} [members] as many as are there now @returns {'whole' | 'near' | 'crowd'} */
export function sizeOf({ summary, chunks, members_most: most }, members = 0) {
  const known = Object.values(summary.topics ?? {}).reduce((sum, topic) => sum + (topic.partitions ?? 0), 0);
  // A log need not show how many partitions a topic has: then those that were named count.
  const partitions = Math.max(known, summary.partitions_most ?? 0);
  if (Math.max(most, members) > MEMBERS_MOST || partitions > PARTITIONS_MOST) return 'crowd';
  const moments = chunks.reduce((sum, chunk) => sum + (chunk.moments ?? 0), 0);
  return chunks.length > CHUNKS_MOST || moments * Math.max(1, partitions) > VISITS_MOST ? 'near' : 'whole';
}
