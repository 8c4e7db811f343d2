/**
 * Which board a timeline gets: rows for sixty members at once, beyond them the map.
 *
 * @typedef {import('../types').Source} Source
 */

/** The most members at once that a board of rows is made for. */
export const MEMBERS_MOST = 60;

/** As finely as it takes to see how many there were. */
const COLUMNS = 600;

/**
 * @param {Source} source
 * @param {number} lanes how many have been in the group, at whatever time: where they are few, nothing is asked
 * @returns {Promise<boolean>} whether there is a moment with more members than rows are made for
 */
export async function beyondRows(source, lanes) {
  if (lanes <= MEMBERS_MOST) return false;
  const { members } = await source.group({ from: source.origin, to: source.last, columns: COLUMNS });
  for (let column = 0; column < members.length; column += 1) if (members[column] > MEMBERS_MOST) return true;
  return false;
}
