import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ownership } from '../../static/js/frame/ownership.js';
import {
  alsoOwnedBy,
  columnsOf,
  distance,
  givingUp,
  partitionsOf,
  unowned,
  waitsOf,
  widen,
} from '../../static/js/frame/view.js';
import { memberWords } from '../../static/js/frame/words.js';
import { EMPTY, FRAMES } from './fixtures/basic.js';

const modes = (frame) =>
  Object.fromEntries([...partitionsOf(frame)].map(([key, view]) => [key, `${view.holder ?? '-'} ${view.mode}`]));

test('a partition is owned, to go, being given up, without an owner, and owned again', () => {
  assert.deepEqual(
    [4, 6, 7, 8, 9].map((step) => modes(FRAMES[step - 1])['foo-2']),
    ['A own', 'A leaving', 'A revoking', '- free', 'B own'],
  );
});

test('before the target of an epoch is known, nothing is to go', () => {
  assert.equal(modes(FRAMES[9])['foo-1'], 'A own');
});

test('what a client was asked to revoke counts where records have no state for it', () => {
  const frame = { ...FRAMES[5], clients: { A: { owned: { foo: [0, 1, 2] }, calling: null, revoking: { foo: [2] } } } };
  assert.equal(modes(frame)['foo-2'], 'A revoking');
  assert.deepEqual(givingUp(frame, 'A'), ['foo-2']);
});

test('a partition that two members hold is owned twice', () => {
  const { A, B } = FRAMES[8].members;
  const frame = { ...FRAMES[8], members: { A: { ...A, assigned: { foo: [0, 1, 2] } }, B } };
  assert.equal(partitionsOf(frame).get('foo-2').mode, 'twice');
  assert.deepEqual(partitionsOf(frame).get('foo-2').holders, ['A', 'B']);
  assert.deepEqual([...alsoOwnedBy(partitionsOf(frame), 'B')], [['A', ['foo-2']]]);
  assert.deepEqual([...alsoOwnedBy(partitionsOf(FRAMES[8]), 'B')], []);
});

test('who waits for whom is told from both ends', () => {
  const frame = FRAMES[13];
  const views = partitionsOf(frame);
  assert.deepEqual([...waitsOf(frame, views, 'A').blocks], [['C', ['foo-1']]]);
  assert.deepEqual([...waitsOf(frame, views, 'C').waitsFor], [['A', ['foo-1']]]);
  const freed = FRAMES[14];
  assert.deepEqual(waitsOf(freed, partitionsOf(freed), 'C').free, ['foo-1']);
});

test('the distance to the target is known with the target', () => {
  assert.equal(distance(FRAMES[9], partitionsOf(FRAMES[9])), null);
  assert.deepEqual(distance(FRAMES[13], partitionsOf(FRAMES[13])), [true, false, true]);
  assert.deepEqual(distance(FRAMES[15], partitionsOf(FRAMES[15])), [true, true, true]);
});

test('columns are the partitions of topics that somebody reads, and stay where they are', () => {
  const counts = widen(FRAMES[3]);
  assert.deepEqual(
    columnsOf(counts).map((column) => column.key),
    ['foo-0', 'foo-1', 'foo-2'],
  );
  assert.deepEqual(columnsOf(widen(EMPTY)), []);
  const grown = { ...FRAMES[3], topics: { foo: { id: null, partitions: 12 }, bar: { id: null, partitions: 3 } } };
  assert.equal(columnsOf(widen(grown, counts)).length, 12);
  assert.equal(columnsOf(widen(FRAMES[3], counts)).at(-1).key, 'foo-11');
});

test('a partition that does not exist yet is not one without an owner', () => {
  const frame = { ...FRAMES[15], topics: { foo: { id: null, partitions: 3 } } };
  const columns = columnsOf(new Map([['foo', 5]]));
  assert.deepEqual([...unowned(frame, columns, partitionsOf(frame))], []);
  const grown = { ...frame, topics: { foo: { id: null, partitions: 5 } } };
  assert.deepEqual([...unowned(grown, columns, partitionsOf(grown))], ['foo-3', 'foo-4']);
});

test('a classic group has holders and no target', () => {
  const frame = {
    sequence: 1,
    at_ms: 0,
    group: 'g',
    protocol: 'classic',
    state: 'Stable',
    generation: 4,
    leader: 'A',
    protocol_name: 'range',
    topics: { foo: { id: null, partitions: 2 } },
    clients: null,
    timers: null,
    members: { A: { assigned: { foo: [0] }, subscribed: ['foo'] }, B: { assigned: { foo: [1] }, subscribed: ['foo'] } },
  };
  assert.deepEqual(modes(frame), { 'foo-0': 'A own', 'foo-1': 'B own' });
  assert.equal(distance(frame, partitionsOf(frame)), null);
});

test('nobody is said to read by the old generation of an eager group that its coordinator describes as rebalancing', () => {
  const members = {
    A: { assigned: { foo: [0] }, subscribed: ['foo'] },
    B: { assigned: { foo: [1] }, subscribed: ['foo'] },
  };
  const stable = {
    sequence: 1,
    at_ms: 0,
    group: 'g',
    protocol: 'classic',
    state: 'Stable',
    generation: 4,
    leader: 'A',
    protocol_name: 'sticky',
    topics: { foo: { id: null, partitions: 2 } },
    clients: null,
    timers: null,
    members,
  };
  for (const state of ['PreparingRebalance', 'CompletingRebalance']) {
    const frame = { ...stable, state };
    const views = partitionsOf(frame);
    assert.equal(views.size, 0);
    const columns = columnsOf(widen(frame));
    assert.deepEqual([...unowned(frame, columns, views)], ['foo-0', 'foo-1']);
    assert.doesNotMatch(memberWords(frame, 'A', String).says, /reads|Leader/);
    // What a cooperative member has, it goes on reading.
    assert.deepEqual(modes({ ...frame, protocol_name: 'cooperative-sticky' }), { 'foo-0': 'A own', 'foo-1': 'B own' });
    const ownership = new Ownership();
    ownership.start(stable);
    ownership.follow(frame, [{ sequence: 2, path: ['state'], old: 'Stable', new: state }], 0, 1);
    assert.deepEqual(ownership.member('A').owned, []);
    assert.deepEqual([...ownership.free], ['foo-0', 'foo-1']);
  }
});
