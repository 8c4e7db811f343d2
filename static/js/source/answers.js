/**
 * From the API's answers to the windows that a map draws: members become lanes, columns of a stretch become sequences and
 * times. Pure: no DOM, no network.
 *
 * @import {GroupWindow, Lane, MembersWindow, PartitionsWindow, WindowColumns} from '../types'
 * @typedef {(member: string) => Lane} LaneOf
 */

/**
 * Members in one lane are one row: their bits together, and the counts of the one that is there.
 *
 * @param {any} answer of `digest?of=members`
 * @param {LaneOf} laneOf
 * @returns {MembersWindow}
 */
export function membersOf(answer, laneOf) {
  /** @type {Map<string, {lane: Lane, members: number[]}>} */
  const lanes = new Map();
  answer.ids.forEach((/** @type {string} */ id, /** @type {number} */ index) => {
    const lane = laneOf(id);
    const held = lanes.get(lane.key);
    if (held) held.members.push(index);
    else lanes.set(lane.key, { lane, members: [index] });
  });
  const ordered = [...lanes.values()].sort((a, b) => a.lane.order - b.lane.order);
  const size = answer.start.length;
  const out = {
    start: new Int32Array(size),
    flags: new Int32Array(size),
    owned: new Int32Array(size),
    revoking: new Int32Array(size),
    wanted: new Int32Array(size),
  };
  const offsets = new Int32Array(ordered.length + 1);
  let at = 0;
  const put = (/** @type {number} */ column, /** @type {number[]} */ runs) => {
    let [flags, owned, revoking, wanted] = [0, 0, 0, 0];
    for (const run of runs) {
      flags |= answer.flags[run];
      owned += answer.owned[run];
      revoking += answer.revoking[run];
      wanted += answer.wanted[run];
    }
    out.start[at] = column;
    out.flags[at] = flags;
    out.owned[at] = owned;
    out.revoking[at] = revoking;
    out.wanted[at] = wanted;
    at += 1;
  };
  ordered.forEach(({ members }, row) => {
    offsets[row] = at;
    if (members.length === 1) {
      for (let run = answer.offsets[members[0]]; run < answer.offsets[members[0] + 1]; run += 1)
        put(answer.start[run], [run]);
    } else {
      merge(answer, members, put);
    }
  });
  offsets[ordered.length] = at;
  return {
    from: answer.from,
    to: answer.to,
    exact: answer.exact,
    columns: answer.columns,
    rows: ordered.map(({ lane }) => lane.key),
    offsets,
    start: out.start.subarray(0, at),
    flags: out.flags.subarray(0, at),
    owned: out.owned.subarray(0, at),
    revoking: out.revoking.subarray(0, at),
    wanted: out.wanted.subarray(0, at),
  };
}

/**
 * The runs of several members, column by column.
 *
 * @param {any} answer
 * @param {number[]} members
 * @param {(column: number, runs: number[]) => void} put
 */
function merge(answer, members, put) {
  const next = members.map((member) => answer.offsets[member]);
  const now = members.map(() => -1);
  for (;;) {
    let column = Infinity;
    members.forEach((member, index) => {
      if (next[index] < answer.offsets[member + 1]) column = Math.min(column, answer.start[next[index]]);
    });
    if (column === Infinity) return;
    members.forEach((member, index) => {
      if (next[index] < answer.offsets[member + 1] && answer.start[next[index]] === column) {
        now[index] = next[index];
        next[index] += 1;
      }
    });
    put(
      column,
      now.filter((run) => run >= 0),
    );
  }
}

/** @param {any} answer of `digest?of=partitions` @param {LaneOf} laneOf @returns {PartitionsWindow} */
export function partitionsOf(answer, laneOf) {
  return {
    from: answer.from,
    to: answer.to,
    exact: answer.exact,
    columns: answer.columns,
    topics: answer.topics,
    lanes: answer.ids.map((/** @type {string} */ id) => laneOf(id).key),
    offsets: Int32Array.from(answer.offsets),
    start: Int32Array.from(answer.start),
    owner: Int32Array.from(answer.owner),
    mode: answer.mode,
    left_out: answer.left_out,
  };
}

/** @param {any} answer of `digest?of=group` @param {LaneOf} laneOf @returns {GroupWindow} */
export function groupOf(answer, laneOf) {
  const { first, from_ms } = answer.columns;
  const stretch = (/** @type {{begin: number, end: number | null}} */ { begin, end }) => ({
    from: first[begin],
    to: end === null ? null : first[end],
    from_ms: from_ms[begin],
    to_ms: end === null ? null : from_ms[end],
  });
  return {
    from: answer.from,
    to: answer.to,
    exact: answer.exact,
    columns: answer.columns,
    unassigned: answer.unassigned,
    members: answer.members,
    epochs: answer.epochs,
    violations: answer.violations,
    states: answer.states.map((/** @type {any} */ one) => ({ ...stretch(one), state: one.state })),
    bands: answer.bands.map((/** @type {any} */ one) => ({
      ...stretch(one),
      count: one.count,
      some: one.some.map((/** @type {[string, number]} */ [topic, partition]) => ({ topic, partition })),
    })),
    hardships: answer.hardships.map((/** @type {any} */ one) => ({
      ...stretch(one),
      lane: laneOf(one.member).key,
      kind: one.kind,
    })),
    coordinators: answer.coordinators.map((/** @type {any} */ one) => ({
      ...stretch(one),
      name: one.name,
      loading_until_ms: one.loading_until_ms,
    })),
    events: answer.events,
    more: answer.more,
  };
}
