import assert from 'node:assert/strict';
import { test } from 'node:test';

import { commonOf, foldedColumns, LANES_MOST, othersText, seatsOf } from '../../static/js/board/seats.js';

const frame = (names) => ({
  members: Object.fromEntries(names.map((name) => [name, { epoch: 5, assigned: {} }])),
  clients: null,
  group_epoch: 5,
  assignment_epoch: 5,
  target: {},
});
const view = (key, holder, wants = holder, mode = 'own') => ({
  key,
  holder,
  holders: holder ? [holder] : [],
  wants,
  mode,
});
const nobody = { actor: null, broken: [], named: new Set(), troubled: [], views: [], pinned: new Set() };

test('who is broken, acts, is named, in trouble, revokes or waits has a lane, in this order, and no more than six', () => {
  const names = [...'abcdefghij'];
  const { seats, more } = seatsOf({
    frame: frame(names),
    actor: 'b',
    broken: ['a'],
    named: new Set(['c', 'gone']),
    troubled: ['d', 'j'],
    views: [view('t-0', 'e', 'f', 'leaving'), view('t-1', 'g')],
    pinned: new Set(['i']),
  });
  assert.deepEqual([...seats], ['a', 'b', 'c', 'd', 'j', 'e', 'i']);
  assert.equal(seats.size, LANES_MOST + 1);
  assert.deepEqual(more, []);
  const crowded = seatsOf({ ...nobody, frame: frame(names), troubled: names });
  assert.deepEqual([...crowded.seats], names.slice(0, LANES_MOST));
  assert.deepEqual(crowded.more, names.slice(LANES_MOST));
});

test('nobody has a lane where nothing happens', () => {
  assert.deepEqual([...seatsOf({ ...nobody, frame: frame(['a', 'b']), views: [view('t-0', 'a')] }).seats], []);
});

test('a common beginning of names is cut where a word ends, and what stays can be read aloud', () => {
  assert.deepEqual(commonOf(['pay-settle-worker-07', 'pay-settle-worker-24']), {
    prefix: 'pay-settle-',
    word: 'worker-',
  });
  assert.deepEqual(commonOf(['worker-07', 'worker-24']), { prefix: '', word: 'worker-' });
  assert.deepEqual(commonOf(['orders.red', 'orders.green']), { prefix: 'orders.', word: '' });
  assert.deepEqual(commonOf(['app', 'app-2']), { prefix: '', word: '' });
  assert.deepEqual(commonOf(['alone-1']), { prefix: '', word: '' });
  assert.deepEqual(commonOf([]), { prefix: '', word: '' });
});

test('quiet runs of columns are one with their count, within a topic; one alone stays open', () => {
  const columns = ['a-0', 'a-1', 'a-2', 'a-3', 'b-0', 'b-1'].map((key) => ({
    key,
    topic: key[0],
    partition: Number(key[2]),
  }));
  const places = foldedColumns(columns, new Set(['a-2']));
  assert.deepEqual(
    places.map(({ key, folded }) => folded ?? key),
    [['a-0', 'a-1'], 'a-2', 'a-3', ['b-0', 'b-1']],
  );
  assert.deepEqual(foldedColumns(columns, new Set(columns.map(({ key }) => key))), columns);
});

test('the row of the others counts who owns its target and who does not yet', () => {
  const group = frame(['a', 'b', 'c']);
  const moving = new Map([['t-0', view('t-0', 'b', 'a', 'leaving')]]);
  assert.deepEqual(othersText(group, ['a', 'b', 'c'], moving, 0), ['3 members', '1 owns its target, 2 not yet']);
  assert.deepEqual(othersText(group, ['a', 'b'], new Map(), 0), ['2 members', 'own their target']);
  assert.deepEqual(othersText(group, ['c'], new Map(), 0), ['1 member', 'owns its target']);
  assert.deepEqual(othersText(group, ['a', 'b', 'c'], moving, 2), ['3 members', '2 more in trouble']);
  assert.deepEqual(othersText({ ...group, assignment_epoch: 4 }, ['c'], new Map(), 0), [
    '1 member',
    'target of epoch 5 not computed yet',
  ]);
});
