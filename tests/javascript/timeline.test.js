import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countUpTo, Timeline } from '../../static/js/timeline/timeline.js';
import { EMPTY, FRAMES, MOMENTS, chunks, delta } from './fixtures/basic.js';

/** A timeline whose chunks are fetched from the fixture; `asked` tells which. */
function open(rows = 16, options = {}) {
  const all = chunks(rows);
  const asked = [];
  const timeline = new Timeline({
    chunks: all.map(({ first, last }) => ({ first, last })),
    load: async (first) => {
      asked.push(first);
      return structuredClone(all.find((chunk) => chunk.first === first));
    },
    ...options,
  });
  return { timeline, asked, all };
}

const frameOf = (step) => (step ? FRAMES[step - 1] : EMPTY);

test('countUpTo counts the items up to a sequence', () => {
  const items = [{ sequence: 3 }, { sequence: 6 }, { sequence: 6 }, { sequence: 9 }];
  assert.deepEqual(
    [0, 3, 5, 6, 9, 10].map((at) => countUpTo(items, at)),
    [0, 1, 1, 3, 4, 4],
  );
});

test('a seek to any moment gives the frame after it, in any order and over any cut into chunks', async () => {
  for (const rows of [1, 3, 5, 16]) {
    const { timeline } = open(rows);
    // A fixed walk that goes far and near, forwards and back.
    const walk = [16, 0, 8, 7, 9, 1, 15, 14, 2, 16, 3, 12, 0, 5];
    for (const step of walk) {
      const rest = await timeline.seek(step ? MOMENTS[step - 1].sequence : 0);
      assert.deepEqual(rest.frame, frameOf(step), `step ${step} in chunks of ${rows}`);
      assert.equal(rest.moment, step ? timeline.moments.find((moment) => moment.step === step) : null);
    }
  }
});

test('an entry inside of a moment leads to the moment that holds it', async () => {
  const { timeline } = open();
  assert.equal((await timeline.seek(4)).moment.step, 2);
  assert.equal((await timeline.seek(6)).moment.step, 2);
});

test('steps forwards and backwards visit every moment, over the borders of chunks', async () => {
  const { timeline } = open(5);
  await timeline.seek(0);
  const seen = [];
  for (let rest = await timeline.step(1); rest; rest = await timeline.step(1)) {
    seen.push(rest.moment.step);
    assert.deepEqual(rest.frame, frameOf(rest.moment.step));
  }
  assert.deepEqual(
    seen,
    MOMENTS.map((moment) => moment.step),
  );
  assert.equal(timeline.atEnd, true);
  for (let step = 15; step >= 0; step -= 1) assert.deepEqual((await timeline.step(-1)).frame, frameOf(step));
  assert.equal(await timeline.step(-1), null);
  assert.equal(timeline.position, 0);
});

test('an epoch forwards is the start of the next one; backwards the start of this one, then of the one before', async () => {
  const { timeline } = open(5);
  const epochs = [{ sequence: 3 }, { sequence: 12 }, { sequence: 30 }];
  await timeline.seek(0);
  const forwards = [];
  for (let i = 0; i < 4; i += 1) forwards.push((await timeline.stepEpoch(1, epochs)).moment.step);
  assert.deepEqual(forwards, [1, 4, 10, 16]);
  const backwards = [];
  for (let i = 0; i < 4; i += 1) backwards.push((await timeline.stepEpoch(-1, epochs)).moment?.step ?? 0);
  assert.deepEqual(backwards, [10, 4, 1, 0]);
});

test('a seek costs one chunk', async () => {
  const { timeline, asked } = open(4);
  await timeline.seek(45);
  assert.deepEqual(asked, [37]);
  assert.equal(timeline.whole, false);
});

test('the later of two seeks wins, whichever chunk comes first', async () => {
  const all = chunks(8);
  const open_ = [];
  const timeline = new Timeline({
    chunks: all,
    load: (first) =>
      new Promise((resolve) => {
        open_.push({ first, resolve });
      }),
  });
  const early = timeline.seek(48);
  const late = timeline.seek(3);
  for (const { first, resolve } of open_.reverse()) resolve(all.find((chunk) => chunk.first === first));
  assert.equal(await early, null);
  assert.deepEqual((await late).frame, frameOf(1));
  assert.deepEqual(timeline.rest.frame, frameOf(1));
});

test('a chunk that could not be fetched can be asked for again', async () => {
  const all = chunks(16);
  let broken = true;
  const timeline = new Timeline({
    chunks: all,
    load: async () => {
      if (broken) throw new Error('no network');
      return all[0];
    },
  });
  await assert.rejects(timeline.seek(3), /no network/);
  broken = false;
  assert.deepEqual((await timeline.seek(3)).frame, frameOf(1));
});

test('what is appended can be played, and equals what a chunk would have given', async () => {
  const all = chunks(4);
  const timeline = new Timeline({ chunks: [all[0]], load: async () => structuredClone(all[0]) });
  await timeline.seek(12);
  for (let row = 5; row <= 16; row += 1) assert.equal(timeline.append(delta(row, row)), true);
  assert.equal(timeline.steps.length, 16);
  for (const step of [16, 4, 9, 0, 13]) {
    assert.deepEqual((await timeline.seek(step * 3)).frame, frameOf(step));
  }
});

test('what leaves a hole is not taken, and what overlaps is taken once', async () => {
  const all = chunks(4);
  const timeline = new Timeline({ chunks: [all[0]], load: async () => structuredClone(all[0]) });
  await timeline.seek(12);
  assert.equal(timeline.append(delta(6, 7)), false);
  assert.equal(timeline.last, 12);
  assert.equal(timeline.append(delta(3, 6)), true);
  assert.equal(timeline.append(delta(3, 6)), true);
  assert.equal(timeline.steps.length, 6);
  assert.deepEqual((await timeline.seek(18)).frame, frameOf(6));
});

test('what is appended while the tail chunk is under way is not lost', async () => {
  const all = chunks(4);
  let arrive;
  const timeline = new Timeline({
    chunks: [all[0]],
    load: () =>
      new Promise((resolve) => {
        arrive = resolve;
      }),
  });
  const seeking = timeline.seek(12);
  assert.equal(timeline.append(delta(5, 6)), true);
  arrive(structuredClone(all[0]));
  await seeking;
  assert.deepEqual((await timeline.seek(18)).frame, frameOf(6));
});

test('a timeline that begins empty fills from its first delta on', async () => {
  const all = chunks(16);
  const timeline = new Timeline({ chunks: [], load: async () => structuredClone(all[0]) });
  assert.equal(timeline.empty, true);
  assert.equal(await timeline.seek(0), null);
  assert.equal(timeline.append(delta(1, 16)), true);
  assert.deepEqual((await timeline.seek(48)).frame, frameOf(16));
});

test('a chunk that was closed before what is appended leaves no hole', async () => {
  const closed = chunks(4)[0];
  const timeline = new Timeline({ chunks: [], load: async () => structuredClone(closed) });
  timeline.append(delta(1, 6));
  timeline.append(delta(7, 10));
  assert.deepEqual((await timeline.seek(30)).frame, frameOf(10));
  assert.equal(timeline.append(delta(11, 16)), true);
  for (const step of [16, 5, 3, 11]) assert.deepEqual((await timeline.seek(step * 3)).frame, frameOf(step));
});

test('moments that the board does not stop at are passed by', async () => {
  const { timeline } = open(5, { rests: (moment) => moment.shape !== 'target' });
  await timeline.seek(0);
  const seen = [];
  for (let rest = await timeline.step(1); rest; rest = await timeline.step(1)) seen.push(rest.moment.step);
  assert.deepEqual(
    seen,
    MOMENTS.filter((moment) => moment.shape !== 'target').map((moment) => moment.step),
  );
});

test('a walk visits each moment once with its frame, and goes on where chunks were missing', async () => {
  const { timeline } = open(4);
  const seen = [];
  const walkOn = timeline.walk(
    (moment, frame) => {
      seen.push(moment.step);
      assert.deepEqual(frame, frameOf(moment.step));
    },
    (frame) => assert.deepEqual(frame, EMPTY),
  );
  await timeline.fetch(1);
  await timeline.fetch(13);
  await timeline.fetch(37);
  walkOn();
  assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8]);
  await timeline.fetch(25);
  walkOn();
  walkOn();
  assert.deepEqual(
    seen,
    MOMENTS.map((moment) => moment.step),
  );
});

test('a walk goes on over what is appended', async () => {
  const first = chunks(4)[0];
  const timeline = new Timeline({ chunks: [first], load: async () => structuredClone(first) });
  timeline.give(structuredClone(first));
  const seen = [];
  const walkOn = timeline.walk((moment, frame) => {
    seen.push(moment.step);
    assert.deepEqual(frame, frameOf(moment.step));
  });
  walkOn();
  for (const [from, to] of [
    [5, 5],
    [6, 9],
    [10, 16],
  ]) {
    timeline.append(delta(from, to));
    walkOn();
  }
  assert.deepEqual(
    seen,
    MOMENTS.map((moment) => moment.step),
  );
});

test('the number of a step is the same whatever is loaded and wherever the board stops; unknown, it is no number', async () => {
  const all = chunks(5);
  const counted = all.map(({ first, last, moments }) => ({ first, last, moments: moments.length }));
  const last = MOMENTS[15].sequence;
  const { timeline } = open(5, { chunks: counted });
  await timeline.seek(last);
  assert.deepEqual([timeline.number, timeline.count, timeline.whole], [16, 16, false]);
  timeline.restOn((moment) => moment.step % 2 === 0);
  assert.deepEqual([timeline.number, timeline.count], [16, 16]);
  for (const { first } of all) await timeline.fetch(first);
  assert.deepEqual([timeline.number, timeline.count, timeline.numberOf(MOMENTS[8].sequence)], [16, 16, 9]);

  const uncounted = open(5).timeline;
  await uncounted.seek(last);
  assert.deepEqual([uncounted.number, uncounted.count], [null, null]);
  await uncounted.seek(0);
  assert.deepEqual([uncounted.number, uncounted.count], [0, null]);
  for (const { first } of all) await uncounted.fetch(first);
  await uncounted.seek(last);
  assert.deepEqual([uncounted.number, uncounted.count], [16, 16]);
});
