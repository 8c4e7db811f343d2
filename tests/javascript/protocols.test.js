import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chipWords } from '../../static/js/board/chips.js';
import { fieldsOf, recordName } from '../../static/js/panels/fields.js';
import { Labels } from '../../static/js/frame/labels.js';
import { distance, partitionsOf, readingChanges, unowned, waitsOf, widen } from '../../static/js/frame/view.js';
import { memberWords, nowWords, stateMeans } from '../../static/js/frame/words.js';

const member = (more) => ({ epoch: 3, state: 'STABLE', assigned: {}, ...more });

/** A and B read foo-0; A is to leave it, C to read foo-1. */
const SHARE = {
  sequence: 9,
  at_ms: 9000,
  group: 'orders',
  protocol: 'share',
  state: 'Stable',
  group_epoch: 3,
  assignment_epoch: 3,
  target: { A: {}, B: { foo: [0] }, C: { foo: [0, 1] } },
  topics: { foo: { id: 'cLledStpRu6ixDUvA4jVgA', partitions: 3 } },
  clients: null,
  timers: null,
  members: {
    A: member({ epoch: 2, subscribed: ['foo'], assigned: { foo: [0] } }),
    B: member({ subscribed: ['foo'], assigned: { foo: [0] } }),
    C: member({ epoch: 2, subscribed: ['foo'], assigned: { foo: [0] } }),
  },
};

/** A is to give 0_1 to B, and keeps a copy of it that B has too. */
const STREAMS = {
  sequence: 9,
  at_ms: 9000,
  group: 'counts',
  protocol: 'streams',
  state: 'Reconciling',
  group_epoch: 3,
  assignment_epoch: 3,
  target: { A: { 0: [0] }, B: { 0: [1] } },
  target_standby: { A: { 0: [1] }, B: { 0: [0] } },
  target_warmup: {},
  topics: { 0: { id: null, partitions: 12 } },
  clients: null,
  timers: null,
  members: {
    A: member({ epoch: 2, assigned: { 0: [0, 1] }, standby: {} }),
    B: member({ standby: { 0: [0, 1] } }),
  },
};

const cast = { name: (id) => id, knows: (id) => 'ABC'.includes(id) };

test('a partition with several readers is shared, not owned twice', () => {
  const views = partitionsOf(SHARE);
  assert.deepEqual(
    [views.get('foo-0').mode, views.get('foo-0').holders, views.get('foo-0').wanted],
    ['own', ['A', 'B', 'C'], ['B', 'C']],
  );
  assert.equal(views.get('foo-1').mode, 'free');
  assert.equal(
    chipWords(views.get('foo-0'), 'foo-0', (id) => id, 'reader'),
    'foo-0: shared by A and B and C',
  );
  assert.deepEqual([...unowned(SHARE, [{ key: 'foo-2', topic: 'foo', partition: 2 }], views)], ['foo-2']);
});

test('in a share group nobody blocks anybody: each member reads and leaves at its own heartbeat', () => {
  const views = partitionsOf(SHARE);
  for (const id of 'ABC')
    assert.deepEqual([waitsOf(SHARE, views, id).blocks.size, waitsOf(SHARE, views, id).waitsFor.size], [0, 0]);
  assert.deepEqual(readingChanges(SHARE, 'A'), { begins: [], leaves: ['foo-0'] });
  assert.deepEqual(readingChanges(SHARE, 'C'), { begins: ['foo-1'], leaves: [] });
  assert.deepEqual(distance(SHARE, views), [false, true, true, false]);
});

test('a share group that is called stable is not said to have reached its target before it has', () => {
  const moment = {
    sequence: 9,
    first: 9,
    at_ms: 9000,
    actor: 'A',
    shape: 'gain',
    says: 'A gets foo-0',
    epoch: 3,
    cause: null,
    step: null,
  };
  const label = (key) => key;
  assert.equal(nowWords(SHARE, moment, partitionsOf(SHARE), cast, label), 'A gets foo-0.');
  const there = { ...SHARE, members: { B: SHARE.members.B }, target: { B: { foo: [0] } } };
  assert.match(
    nowWords(there, moment, partitionsOf(there), cast, label),
    /Every member reads what the target of epoch 3 gives it\.$/,
  );
  assert.match(stateMeans(SHARE), /share group/);
  assert.match(stateMeans({ ...STREAMS, state: 'NotReady' }), /missing/);
});

test('a topology that is not ready is told once', () => {
  const moment = (says) => ({
    sequence: 9,
    first: 9,
    at_ms: 9000,
    actor: 'A',
    shape: 'join',
    says,
    epoch: 3,
    cause: null,
    step: null,
  });
  const told = (says) =>
    nowWords({ ...STREAMS, state: 'NotReady' }, moment(says), partitionsOf(STREAMS), cast, (key) => key);
  assert.equal(told('A joins; the topology is not ready'), 'A joins; the topology is not ready.');
  assert.equal(told('A joins'), 'A joins. No task is assigned while the topology is not ready.');
});

test('tasks stand under subtopologies, and a topic of the same name says nothing of them', () => {
  assert.deepEqual([...widen(STREAMS)], [['0', 2]]);
  assert.equal(partitionsOf(STREAMS).get('0-1').mode, 'leaving');
  assert.deepEqual(waitsOf(STREAMS, partitionsOf(STREAMS), 'B').waitsFor.get('A'), ['0-1']);
});

test('copies of tasks count on the way to the target, one for each member that should have one', () => {
  assert.deepEqual(distance(STREAMS, partitionsOf(STREAMS)), [true, false, false, true, false]);
});

test('a member that waits for a copy alone is not said to own its target', () => {
  const there = {
    ...STREAMS,
    members: { A: member({ assigned: { 0: [0] } }), B: member({ assigned: { 0: [1] }, standby: { 0: [0] } }) },
  };
  assert.equal(memberWords(there, 'A', (key) => key).says, 'Waiting for a copy of 0-1');
  assert.equal(memberWords(there, 'B', (key) => key).says, 'Owns its target');
});

test('tasks are written as Kafka Streams does, once the protocol is known', () => {
  const labels = new Labels();
  assert.equal(labels.partition('0-1'), '0-1');
  labels.follow('streams');
  labels.follow(null);
  assert.deepEqual(
    [labels.partition('0-1'), labels.marked('0'), labels.counted(2)],
    ['0_1', 'subtopology 0', '2 tasks'],
  );
  labels.follow('share');
  assert.deepEqual([labels.partition('foo-1'), labels.having.who], ['foo-1', 'reader']);
});

test("records of both protocols have their names, and their states Kafka's words", () => {
  assert.equal(recordName(15), 'ShareGroupStatePartitionMetadata');
  const body = { state: 1, activeTasks: [{ subtopologyId: '0', partitions: [0, 1] }] };
  assert.deepEqual(
    fieldsOf(body, STREAMS, 'record').map(({ value }) => value),
    ['1 STABLE', '0 [0, 1]'],
  );
  assert.equal(fieldsOf({ state: 0 }, SHARE, 'record')[0].value, '0 STABLE');
});
