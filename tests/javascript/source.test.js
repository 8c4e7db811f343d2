/** The source of a map: members become lanes, answers are asked once and given at once, and grown ends are asked again. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';
import { membersOf } from '../../static/js/source/answers.js';
import { WindowSource } from '../../static/js/source/source.js';
import { stretchesOf } from '../../static/js/source/stretches.js';
import { random } from './fixtures/random-log.js';

const columns = (count) => ({
  first: Array.from({ length: count }, (_, at) => at * 2),
  last: Array.from({ length: count }, (_, at) => at * 2 + 1),
  from_ms: Array.from({ length: count }, (_, at) => at * 100),
  to_ms: Array.from({ length: count }, (_, at) => at * 100 + 50),
  moments: Array.from({ length: count }, () => 1),
  unknown: Array.from({ length: count }, () => 0),
});

/** Members with runs of anything. */
function answerOf(seed, ids, count) {
  const draw = random(seed);
  const answer = {
    from: 0,
    to: count * 2,
    exact: true,
    columns: columns(count),
    ids,
    facts: ids.map(() => null),
    offsets: [0],
    start: [],
    flags: [],
    owned: [],
    revoking: [],
    wanted: [],
  };
  for (const _ of ids) {
    for (let column = 0; column < count; column += 1) {
      if (draw(3)) continue;
      answer.start.push(column);
      for (const name of ['flags', 'owned', 'revoking', 'wanted']) answer[name].push(draw(16));
    }
    answer.offsets.push(answer.start.length);
  }
  return answer;
}

const at = (runs, row, column, name) => {
  let found = 0;
  for (let run = runs.offsets[row]; run < runs.offsets[row + 1] && runs.start[run] <= column; run += 1)
    found = runs[name][run];
  return found;
};

test('a lane says in each column what all of its members say together', () => {
  const ids = ['A', 'B', 'A~2', 'C', 'A~3', 'B~2'];
  for (let seed = 1; seed <= 50; seed += 1) {
    const cast = new Cast(ids.map((id) => ({ id, name: id })));
    const answer = answerOf(seed, ids, 12);
    const window = membersOf(answer, (id) => cast.lane(id));
    for (const [row, key] of window.rows.entries()) {
      const members = ids.flatMap((id, index) => (cast.lane(id).key === key ? [index] : []));
      for (let column = 0; column < 12; column += 1) {
        const each = (name) => members.map((member) => at(answer, member, column, name));
        assert.equal(
          at(window, row, column, 'flags'),
          each('flags').reduce((all, one) => all | one, 0),
        );
        for (const name of ['owned', 'revoking', 'wanted'])
          assert.equal(
            at(window, row, column, name),
            each(name).reduce((all, one) => all + one, 0),
          );
      }
    }
    assert.deepEqual(window.rows, ['A', 'B', 'C']);
  }
});

function sourceOf(timeline) {
  const asked = [];
  const source = new WindowSource({
    timeline,
    cast: new Cast(),
    fetchDigest: async (of, ask) => {
      asked.push([of, ask.from, ask.to]);
      return { ...answerOf(1, ['A', 'B'], 10), from: ask.from, to: ask.to };
    },
  });
  return { source, asked };
}

test('what was answered exactly answers every window within it, at once and without a question', async () => {
  const { source, asked } = sourceOf({ origin: 0, last: 20 });
  assert.equal(source.now('members', { from: 0, to: 20, columns: 10 }), null);
  const [whole, again] = await Promise.all([
    source.members({ from: 0, to: 20, columns: 10 }),
    source.members({ from: 0, to: 20, columns: 10 }),
  ]);
  assert.equal(whole, again);
  assert.equal(await source.members({ from: 4, to: 9, columns: 3 }), whole);
  assert.equal(source.now('members', { from: 4, to: 9, columns: 3 }), whole);
  assert.deepEqual(asked, [['members', 0, 20]]);
  assert.deepEqual(
    source.lanes().map(({ key, members }) => [key, members]),
    [
      ['A', ['A']],
      ['B', ['B']],
    ],
  );
});

test('a window that what is here covers in part has no answer yet, wherever the rest of it lies', async () => {
  const { source } = sourceOf({ origin: 0, last: 20 });
  await source.members({ from: 4, to: 12, columns: 10 });
  const within = (from, to) => source.now('members', { from, to, columns: 10 }) !== null;
  assert.deepEqual([within(4, 12), within(3, 12), within(4, 13), within(3, 13)], [true, false, false, false]);
  await source.members({ from: 4, to: 99, columns: 10 });
  assert.equal(within(5, 99), true, 'what reaches to the last entry covers whatever lies behind it');
});

test('what reached to the end is asked again when entries were added, and listeners are told', async () => {
  const timeline = { origin: 0, last: 20 };
  const { source, asked } = sourceOf(timeline);
  let grown = 0;
  const off = source.onGrow(() => {
    grown += 1;
  });
  await source.members({ from: 0, to: 8, columns: 10 });
  await source.members({ from: 0, to: 20, columns: 10 });
  timeline.last = 30;
  source.grown(21);
  assert.equal(grown, 1);
  off();
  source.grown(31);
  assert.equal(grown, 1);
  await source.members({ from: 0, to: 8, columns: 10 });
  await source.members({ from: 0, to: 99, columns: 10 });
  assert.deepEqual(asked, [
    ['members', 0, 8],
    ['members', 0, 20],
    ['members', 0, 30],
  ]);
});

test('the owners of a partition follow each other without holes, those of nobody among them', () => {
  const window = {
    columns: columns(8),
    topics: [{ topic: 'foo-x', first_row: 0, partitions: 2 }],
    lanes: ['A', 'B'],
    offsets: [0, 0, 6],
    start: [1, 2, 3, 4, 5, 6],
    owner: [-1, 0, 0, 0, -1, 1],
    mode: [4, 1, 2, 3, 4, 1],
  };
  const { spans, bare } = stretchesOf(window, 'foo-x-1');
  assert.deepEqual(
    spans.map(({ lane, mode, from, to }) => [lane, mode, from, to]),
    [
      ['A', 'own', 4, 8],
      ['A', 'revoking', 8, 10],
      ['B', 'own', 12, null],
    ],
  );
  assert.deepEqual(
    bare.map(({ from, to, from_ms, to_ms }) => [from, to, from_ms, to_ms]),
    [
      [2, 4, 100, 200],
      [10, 12, 500, 600],
    ],
  );
  assert.deepEqual(stretchesOf(window, 'foo-x-0'), { spans: [], bare: [] });
  assert.deepEqual(stretchesOf(window, 'bar-0'), { spans: [], bare: [] });
});
