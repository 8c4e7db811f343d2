import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences, differenceWords, firstDifference, stopAt, stopsOf } from '../../static/js/compare/positions.js';

/** @param {number} at_ms @param {number} group_epoch @param {{[member: string]: number[]}} owned @returns {any} */
const seen = (at_ms, group_epoch, owned) => ({
  moment: null,
  at_ms,
  frame: {
    at_ms,
    group_epoch,
    state: 'Stable',
    members: Object.fromEntries(
      Object.entries(owned).map(([member, foo]) => [member, { epoch: group_epoch, assigned: { foo } }]),
    ),
  },
});

const name = (/** @type {string} */ member) => member.split('-')[0];

/** B joins at epoch 2 in both; the second run is slower and skips no event, and at epoch 3 it ends otherwise. */
const runs = [
  { begin_ms: 0, name, seen: [seen(0, 1, { A: [0, 1] }), seen(10, 2, { A: [0], B: [1] }), seen(20, 3, { B: [0, 1] })] },
  {
    begin_ms: 1000,
    name,
    seen: [
      seen(1000, 1, { 'A-9': [0, 1] }),
      seen(1015, 2, { 'A-9': [0], 'B-9': [1] }),
      seen(1030, 3, { 'A-9': [0], 'B-9': [1] }),
      seen(1040, 3, { 'A-9': [0] }),
    ],
  },
];

test('locked by time each run shows the last that it was by then', () => {
  const stops = stopsOf('time', runs);
  assert.deepEqual(
    stops.map(({ at }) => at),
    [0, 10, 15, 20, 30, 40],
  );
  assert.deepEqual(stopAt(stops, 14).places, [1, 0]);
  assert.deepEqual(stopAt(stops, 99).places, [2, 3]);
});

test('locked by event each run shows as many events, and the shorter one its last', () => {
  assert.deepEqual(
    stopsOf('event', runs).map(({ places }) => places),
    [
      [0, 0],
      [1, 1],
      [2, 2],
      [2, 3],
    ],
  );
});

test('locked by epoch each run shows where that epoch begins', () => {
  assert.deepEqual(stopsOf('epoch', runs), [
    { at: 1, places: [0, 0] },
    { at: 2, places: [1, 1] },
    { at: 3, places: [2, 2] },
  ]);
});

test('the first difference is where boards part, not where one is only slower, if epochs lock them', () => {
  assert.equal(firstDifference(stopsOf('time', runs), runs)?.at, 10);
  assert.equal(firstDifference(stopsOf('event', runs), runs)?.at, 2);
  assert.equal(firstDifference(stopsOf('epoch', runs), runs)?.at, 3);
  assert.equal(firstDifference(stopsOf('event', [runs[0], runs[0]]), [runs[0], runs[0]]), undefined);
});

test('members are the same by name, and a difference names both sides', () => {
  const [one, other] = runs.map(({ seen: some }) => ({ frame: some[2].frame, name }));
  assert.deepEqual(differences(one, other), {
    words: ['A is no member', 'foo-0 is read by B, not A'],
    keys: ['foo-0'],
    members: [],
  });
  assert.equal(differenceWords(differences(other, one), 1), 'Not as 1: A is a member; foo-0 is read by A, not B');
  assert.equal(differenceWords(differences(one, one), 1), 'As 1');
});

test('wherever the playhead of random runs stops, each board shows the frame that a search from the beginning finds', () => {
  let state = 7;
  const random = (/** @type {number} */ below) => (state = (state * 48_271) % 2_147_483_647) % below;
  const made = () => {
    let [at_ms, epoch] = [random(50), 1];
    const begin_ms = at_ms;
    const some = Array.from({ length: 1 + random(30) }, () => {
      at_ms += random(20);
      epoch += random(3) === 0 ? 1 : 0;
      return seen(at_ms, epoch, {});
    });
    return { begin_ms, name, seen: some };
  };
  for (let round = 0; round < 200; round += 1) {
    const some = [made(), made(), made()];
    for (const { at, places } of stopsOf('time', some))
      some.forEach(({ seen: all, begin_ms }, run) => {
        const found = all.findLastIndex(({ at_ms }) => at_ms - begin_ms <= at);
        assert.equal(places[run], Math.max(0, found));
      });
    for (const { at, places } of stopsOf('epoch', some))
      some.forEach(({ seen: all }, run) => {
        const found = all.findIndex(({ frame }) => frame.group_epoch >= at);
        assert.equal(places[run], found < 0 ? all.length - 1 : found);
      });
  }
});

test('a member without an epoch, as of the classic protocol, differs by what it reads alone', () => {
  const classic = seen(0, 2, { A: [0, 1] });
  delete classic.frame.members.A.epoch;
  const found = differences({ frame: seen(0, 2, { A: [0, 1] }).frame, name }, { frame: classic.frame, name });
  assert.deepEqual(found, { words: [], keys: [], members: [] });
});
