import assert from 'node:assert/strict';
import { test } from 'node:test';
import { barrierWords, doesWhat, missingOf, placeOf, waitsAtBarrier } from '../../static/js/frame/barrier.js';
import { partitionsOf, unowned } from '../../static/js/frame/view.js';

const name = (member) => member;
const counted = (count) => `${count} partitions`;

/** C has joined, A has given everything up and joined, B was told and has not polled. */
const eager = {
  state: 'PreparingRebalance',
  at_ms: 10_000,
  generation: 46,
  leader: 'A',
  protocol: 'classic',
  topics: { foo: { partitions: 6 } },
  members: { A: { assigned: { foo: [0, 1, 2] } }, B: { assigned: { foo: [3, 4, 5] } }, C: { assigned: {} } },
  clients: { A: { owned: {} }, B: { owned: { foo: [3, 4, 5] } }, C: { owned: {} } },
  barrier: {
    told: ['B'],
    joined: ['C', 'A'],
    synced: [],
    until_ms: 306_000,
    reasons: { A: 'group is already rebalancing' },
    leader: null,
  },
  withheld: {},
};

test('the barrier tells how many have come, whom it waits for and how long still', () => {
  assert.deepEqual(barrierWords(eager, name), { says: 'JoinGroup: 2 of 3; waits for B', left_ms: 296_000 });
  assert.deepEqual(missingOf(eager), ['B']);
});

test('who has not come holds up the others, who say why they joined', () => {
  assert.deepEqual(waitsAtBarrier(eager, 'B'), { waitsFor: [], holdsUp: ['A', 'C'], reason: null });
  assert.deepEqual(waitsAtBarrier(eager, 'A'), {
    waitsFor: ['B'],
    holdsUp: [],
    reason: 'group is already rebalancing',
  });
});

test('each member stands before, between or behind the two posts', () => {
  assert.deepEqual(
    ['A', 'B', 'C'].map((member) => placeOf(eager, member)),
    ['join', 'told', 'join'],
  );
  const completing = {
    ...eager,
    state: 'CompletingRebalance',
    barrier: { ...eager.barrier, joined: ['C', 'A', 'B'], synced: ['C'], leader: 'A' },
  };
  assert.deepEqual(
    ['A', 'B', 'C'].map((member) => placeOf(completing, member)),
    ['between', 'between', 'sync'],
  );
  assert.equal(barrierWords(completing, name)?.says, 'SyncGroup: 1 of 3; waits for the leader A to assign');
  assert.equal(doesWhat(completing, 'A', counted)[0], 'Leader, assigns, reads nothing');
  assert.equal(barrierWords({ ...eager, state: 'Stable' }, name), null);
});

test('a partition stands with who reads it, not with whom the last generation gave it to', () => {
  const views = partitionsOf(eager);
  const columns = [0, 1, 2, 3, 4, 5].map((partition) => ({ key: `foo-${partition}`, topic: 'foo', partition }));
  assert.deepEqual([...unowned(eager, columns, views)], ['foo-0', 'foo-1', 'foo-2']);
  assert.equal(views.get('foo-3')?.holder, 'B');
});

test('without a barrier the record is all that is known', () => {
  const { barrier, ...recorded } = eager;
  assert.ok(barrier);
  assert.equal(partitionsOf(recorded).get('foo-0')?.holder, 'A');
  assert.equal(placeOf(recorded, 'A'), null);
});
