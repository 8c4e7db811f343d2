/** Any seek, in any order: what is kept change by change is what the whole frame says. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Ownership } from '../../static/js/frame/ownership.js';
import { Timeline } from '../../static/js/timeline/timeline.js';
import { columnsOf, distance, partitionsOf, unowned, waitsOf, widen } from '../../static/js/frame/view.js';
import { chunksOf, random, randomLog } from './fixtures/random-log.js';

const SEEDS = Array.from({ length: 40 }, (_, seed) => seed + 1);

function assertSays(ownership, frame, counts, where) {
  const views = partitionsOf(frame);
  const columns = columnsOf(counts);
  const free = unowned(frame, columns, views);
  assert.deepEqual([...ownership.free].sort(), [...free].sort(), where);
  for (const view of views.values()) assert.deepEqual(ownership.of(view.key), view, where);
  assert.equal(ownership.size, views.size, where);
  for (const { key } of columns) if (!views.has(key) && !free.has(key)) assert.equal(ownership.of(key), null, where);
  const far = distance(frame, views);
  assert.deepEqual(
    ownership.distance(),
    far && { of: far.length, off: far.filter((reached) => !reached).length },
    where,
  );
  for (const member of Object.keys(frame.members)) {
    const sorted = ({ blocks, waitsFor, free: mine }) => [
      [...blocks].map(([who, keys]) => [who, keys.sort()]).sort(),
      [...waitsFor].map(([who, keys]) => [who, keys.sort()]).sort(),
      mine.sort(),
    ];
    assert.deepEqual(sorted(waitsOf(frame, ownership, member)), sorted(waitsOf(frame, views, member)), where);
  }
}

test('wherever one seeks and steps, ownership that follows the changes is that of the whole frame', async () => {
  for (const seed of SEEDS) {
    const log = randomLog(seed, 60);
    const chunks = chunksOf(log, 26);
    const ownership = new Ownership();
    const timeline = new Timeline({
      chunks: chunks.map(({ first, last, moments }) => ({ first, last, moments: moments.length })),
      load: async (first) => chunks.find((chunk) => chunk.first === first),
      follower: ownership,
      keep: 2,
    });
    const draw = random(seed);
    const counts = new Map();
    for (let turn = 0; turn < 80; turn += 1) {
      const how = draw(3);
      const rest = how === 0 ? await timeline.seek(draw(log.frames.length)) : await timeline.step(how === 1 ? 1 : -1);
      if (!rest) continue;
      assert.deepEqual(rest.frame, log.frames[rest.sequence], `seed ${seed}, turn ${turn}`);
      assert.equal(timeline.position, rest.sequence / 2);
      assert.deepEqual(timeline.count, 60);
      // Topics that passed by between two rests were never met: those of all frames up to here may be.
      widen(rest.frame, counts);
      if (how !== 0 || turn === 0) continue;
      const fresh = new Ownership();
      fresh.start(rest.frame);
      const own = new Map();
      widen(rest.frame, own);
      assertSays(fresh, rest.frame, own, `seed ${seed}, turn ${turn}`);
      for (const view of partitionsOf(rest.frame).values())
        assert.deepEqual(ownership.of(view.key), view, `seed ${seed}, turn ${turn}`);
    }
  }
});

test('a frame that is left and come back to says the same, however many chunks were forgotten in between', async () => {
  const log = randomLog(7, 90);
  const chunks = chunksOf(log, 12);
  let loads = 0;
  const timeline = new Timeline({
    chunks: chunks.map(({ first, last, moments }) => ({ first, last, moments: moments.length })),
    keep: 3,
    load: async (first) => {
      loads += 1;
      return chunks.find((chunk) => chunk.first === first);
    },
  });
  for (const sequence of [180, 2, 90, 60, 120, 4, 180]) {
    const rest = await timeline.seek(sequence);
    assert.deepEqual(rest?.frame, log.frames[sequence]);
    assert.equal(timeline.position, sequence / 2);
    assert.ok(timeline.chunks.filter((chunk) => chunk.loaded).length <= 4);
  }
  assert.ok(loads >= 6);
  assert.deepEqual(await timeline.frameAt(101), log.frames[101]);
});

test('topics have no free partitions while their group is a streams group, whose tasks are what has owners', () => {
  const topics = { foo: { id: null, partitions: 2 } };
  const member = { epoch: 1, subscribed: ['foo'], assigned: {}, pending_revocation: {} };
  const ownership = new Ownership();
  const free = (/** @type {string} */ protocol) => {
    ownership.start({ protocol, group_epoch: 1, assignment_epoch: 1, members: { A: member }, target: {}, topics });
    return [...ownership.free];
  };
  assert.deepEqual(free('consumer'), ['foo-0', 'foo-1']);
  assert.deepEqual(free('streams'), []);
  assert.deepEqual(free('consumer'), ['foo-0', 'foo-1']);
});
