import assert from 'node:assert/strict';
import { test } from 'node:test';

import { isRight, mistakes } from '../../static/js/lesson/ask.js';
import { beatAt, filledIn, membersAfter, placeOf, questionAt, withBeat } from '../../static/js/lesson/drafting.js';
import { judged, takers } from '../../static/js/lesson/places.js';
import { all, forget, keep, of } from '../../static/js/lesson/progress.js';
import { veiled } from '../../static/js/lesson/stage.js';
import { doable, newcomer } from '../../static/js/lesson/taking-over.js';

/** What a browser keeps. */
class Store {
  #kept = new Map();

  getItem(key) {
    return this.#kept.get(key) ?? null;
  }

  setItem(key, value) {
    this.#kept.set(key, value);
  }
}

const option = (key, right) => ({ key, says: [], right, why: [{ kind: 'text', text: `why ${key}` }] });
const several = { many: true, options: [option('foo-0', false), option('foo-1', true), option('foo-2', true)] };
const single = { many: false, options: [option('1', false), option('2', true), option('3', false)] };

test('an answer is right when all that is right was chosen, and nothing else', () => {
  assert.equal(isRight(several, ['foo-1', 'foo-2']), true);
  assert.equal(isRight(several, ['foo-2', 'foo-1']), true);
  assert.equal(isRight(several, ['foo-1']), false);
  assert.equal(isRight(several, ['foo-0', 'foo-1', 'foo-2']), false);
  assert.equal(isRight({ many: true, options: [option('foo-0', false)] }, []), true, 'nothing can be the answer');
});

test('told is what was chosen wrongly, then what is missing; of answers that exclude each other the chosen one alone', () => {
  assert.deepEqual(
    mistakes(several, ['foo-0', 'foo-1']).map(({ key }) => key),
    ['foo-0', 'foo-2'],
  );
  assert.deepEqual(
    mistakes(single, ['3']).map(({ key }) => key),
    ['3'],
  );
});

test('two tabs add up: answers of both stay, the farthest beat and that it is done stay', () => {
  const store = new Store();
  keep('a', { beat: 2, reached: 2, answers: { 1: ['x'] } }, store);
  keep('a', { beat: 1, reached: 1, answers: { 0: ['y'] }, done: true }, store);
  assert.deepEqual(of('a', store), { beat: 1, reached: 2, done: true, answers: { 0: ['y'], 1: ['x'] } });
  keep('a', { beat: 0, done: false }, store);
  assert.equal(of('a', store).done, true);
  keep('b', { beat: 3 }, store);
  forget('a', store);
  assert.deepEqual(Object.keys(all(store)), ['b']);
  assert.deepEqual(of('a', store), { beat: 0, reached: 0, done: false, answers: {} });
});

test('whatever a browser has kept under the name is read or passed over', () => {
  for (const text of ['', '{', '[]', 'null', '7', '{"a": 3}', '{"a": {"beat": -1, "reached": "x", "answers": null}}']) {
    const store = new Store();
    store.setItem('lessons', text);
    assert.deepEqual(of('a', store), { beat: 0, reached: 0, done: false, answers: {} });
    keep('a', { beat: 1 }, store);
    assert.equal(of('a', store).beat, 1);
  }
});

test('a browser that keeps nothing plays on', () => {
  const full = {
    getItem: () => null,
    setItem: () => {
      throw new Error('QuotaExceededError');
    },
  };
  assert.equal(keep('a', { beat: 1 }, full).beat, 1);
  forget('a', full);
});

test('lessons that are kept have a bound, and the latest stay', () => {
  const store = new Store();
  for (let number = 0; number < 520; number += 1) keep(`lesson-${number}`, { beat: 1 }, store);
  const names = Object.keys(all(store));
  assert.equal(names.length, 501);
  assert.equal(names.at(-1), 'lesson-519');
});

const hands = {
  members: [
    { name: 'A', topics: ['orders'], joins: false, leaves: false },
    { name: 'B', topics: ['orders', 'payments'], joins: false, leaves: true },
    { name: 'C', topics: ['orders', 'payments'], joins: true, leaves: false },
  ],
  partitions: ['orders-0', 'orders-1', 'payments-0'],
  before: ['A', 'B', null],
  answers: [],
};

test('a partition may go to who subscribes to its topic and does not leave', () => {
  assert.deepEqual(takers(hands, 'orders-1'), ['A', 'C']);
  assert.deepEqual(takers(hands, 'payments-0'), ['C']);
});

test('a placement is judged by what is open, how even it is, and what moves', () => {
  assert.deepEqual(
    judged(
      hands,
      new Map([
        ['orders-0', 'A'],
        ['orders-1', null],
        ['payments-0', 'C'],
      ]),
    ),
    { open: ['orders-1'], least: 1, most: 1, moved: 1 },
  );
  assert.deepEqual(
    judged(
      hands,
      new Map([
        ['orders-0', 'C'],
        ['orders-1', 'C'],
        ['payments-0', 'C'],
      ]),
    ),
    { open: [], least: 0, most: 3, moved: 2 },
  );
});

test('a newcomer has the first letter that nobody has, and a second life takes none', () => {
  assert.equal(newcomer(['A', 'B', 'A~2']), 'C');
  assert.equal(newcomer(['A', 'C']), 'B');
  assert.equal(newcomer([...'ABCDEFGHIJKLMNOPQRSTUVWXYZ']), 'new-27');
});

test('what can be done with a member follows from how it is', () => {
  const frame = { members: { A: {}, B: {}, C: {} }, clients: { A: {}, B: { killed: true }, C: { paused: true } } };
  assert.deepEqual(
    doable(frame, 'A').map((one) => one.do),
    ['leave', 'kill', 'pause'],
  );
  assert.deepEqual(
    doable(frame, 'B').map((one) => one.do),
    ['join'],
  );
  assert.deepEqual(
    doable(frame, 'C').map((one) => one.do),
    ['resume'],
  );
});

const moment = (sequence, shape, actor, more = {}) => ({
  sequence,
  first: sequence,
  at_ms: sequence * 1000,
  shape,
  actor,
  says: '',
  epoch: 3,
  cause: null,
  step: null,
  ...more,
});

test('a moment is named by its row, else as the nth of its shape and member', () => {
  const moments = [
    moment(1, 'state', 'coordinator'),
    moment(2, 'gain', 'id-c'),
    moment(3, 'gain', 'id-a'),
    moment(4, 'gain', 'id-c'),
    moment(5, 'gap', 'coordinator'),
    moment(6, 'join', 'id-a', { step: 4 }),
  ];
  const name = (id) => ({ 'id-a': 'A', 'id-c': 'C' })[id] ?? id;
  assert.deepEqual(
    moments.map((one) => placeOf(moments, one, name)),
    ['{state: coordinator}', '{gain: C}', '{gain: A}', '{gain: C, nth: 2}', '{gap: coordinator}', '4'],
  );
  const text = withBeat('beats:\n  - at: start\n\n', beatAt(moments, moments[3], name));
  assert.equal(
    text,
    'beats:\n  - at: start\n  - at: {gain: C, nth: 2}\n    title: What happens here\n    text: "{happens}."\n    facts: {group.epoch: 3}\n',
  );
  assert.match(beatAt(moments, { ...moments[1], epoch: null }, name), /facts: \{time: 1\.0 s\}/);
});

test('a beat that is added stands before those that come later in the run', () => {
  const text = 'title: x\nmarks: {a: start}\nbeats:\n  - at: start\n    title: One\n  - at: end\n    title: Two\n';
  const beat = '  - at: 7\n    title: Between\n';
  assert.equal(
    withBeat(text, beat, 40, [1, 90]),
    'title: x\nmarks: {a: start}\nbeats:\n  - at: start\n    title: One\n  - at: 7\n    title: Between\n  - at: end\n    title: Two\n',
  );
  assert.equal(withBeat(text, beat, 95, [1, 90]).endsWith(`    title: Two\n${beat}`), true);
  // A text that was changed since it was played: the end is the only place that is known.
  assert.equal(withBeat(text, beat, 40, [1, 50, 90]).endsWith(beat), true);
});

test('a question is asked a moment before, and of what that moment changes', () => {
  const asked = (shape, actor, members) => {
    const moments = [
      { sequence: 1, shape: 'join', actor: 'b', step: null, epoch: 1, at_ms: 0, says: '' },
      { sequence: 9, shape, actor, step: null, epoch: 1, at_ms: 5, says: '' },
    ];
    return questionAt(moments, moments[1], (id) => id.toUpperCase(), members);
  };
  const gain = asked('gain', 'a', ['A', 'B']);
  assert.match(gain, /- at: \{join: B\}/);
  assert.match(
    gain,
    /question: "What does \{A\} own after that\?"\n {6}at: \{gain: A\}\n {6}of: A\.owned\n {6}expect: "\?"/,
  );
  assert.match(asked('remove', 'a', ['B']), /of: group\.unassigned/);
  assert.match(asked('target', 'coordinator', ['A']), /of: group\.state/);
});

test('who is a member after each moment is read from the changes', () => {
  const chunk = {
    first: 1,
    last: 9,
    frame: { members: { a: {} } },
    changes: [
      { sequence: 3, path: ['members', 'b'], new: {} },
      { sequence: 3, path: ['members', 'b', 'epoch'], new: 1 },
      { sequence: 6, path: ['members', 'a'], old: {} },
    ],
    moments: [],
  };
  assert.deepEqual(membersAfter(chunk, [{ sequence: 1 }, { sequence: 3 }, { sequence: 9 }]), [
    ['a'],
    ['a', 'b'],
    ['b'],
  ]);
});

test('what an author left to the run is filled in where it stands', () => {
  const text = 'facts: {A.count: "?", group.state: Stable}\nask:\n  of: A.owned\n  expect: "?"\n';
  const problems = [
    { line: 1, message: 'the run says that A.count is 3, not ?' },
    { line: 2, message: 'the run answers foo-0 and foo-1, not ?' },
  ];
  assert.equal(
    filledIn(text, problems),
    'facts: {A.count: "3", group.state: Stable}\nask:\n  of: A.owned\n  expect: "foo-0 and foo-1"\n',
  );
  assert.equal(filledIn(text, [{ line: 1, message: 'the run says that A.count is 3, not 4' }]), text);
  assert.equal(filledIn('x: 1', problems), 'x: 1');
  const price = [{ line: 1, message: 'the run says that happens is "$& and $1", not ?' }];
  assert.equal(filledIn('facts: {happens: "?"}', price), 'facts: {happens: "\\"$& and $1\\""}');
});

test('the board of a question about an incident hides what only the simulator knows', () => {
  const frame = /** @type {any} */ ({ members: {}, clients: { A: { killed: true, owned: {} }, B: { paused: true } } });
  assert.deepEqual(veiled(frame).clients, {
    A: { killed: false, paused: false, owned: {} },
    B: { killed: false, paused: false },
  });
  assert.ok(frame.clients.A.killed, 'the run itself stays');
});
