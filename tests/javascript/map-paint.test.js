import assert from 'node:assert/strict';
import { test } from 'node:test';

import { MODES, ofFlags, SETTLED } from '../../static/js/map/modes.js';
import { paint, trace } from '../../static/js/map/paint.js';
import { Plot } from '../../static/js/map/plot.js';
import { clamped, LEAST, panned, revealing, Scale, zoomed } from '../../static/js/map/scale.js';
import { Windows } from '../../static/js/map/windows.js';
import { StorySource } from './fixtures/map-source.js';
import { random, stateAt, story } from './fixtures/map-story.js';

/** Each mode has a colour of its own, without textures in thin rows. */
const PALETTE = {
  ground: 1,
  absent: 2,
  settled: 3,
  behind: 4,
  waiting: 5,
  revoking: 6,
  stalled: 7,
  lost: 8,
  unassigned: 9,
  unassignedGround: 10,
  ink: 11,
  hues: [20, 21, 22, 23, 24, 25, 26],
};
const told = story({ members: 120, each: 3, epochs: 3, seed: 7 });

async function asked(window, columns, axis) {
  const source = new StorySource(told);
  const [members, group] = await Promise.all([
    source.members({ ...window, columns }),
    source.group({ ...window, columns }),
  ]);
  return { members, scale: new Scale(axis, group.columns, window) };
}

function painted({ track, count, width, height, rowHeight, top = 0, first = 0, ratio = 1 }) {
  const words = new Uint32Array(width * height).fill(99);
  for (const _ of paint({
    words,
    width,
    height,
    ratio,
    top,
    rowHeight,
    first,
    count,
    rowsOf: (line) => [line],
    track,
    palette: PALETTE,
  }));
  return words;
}

test('any window and zoom paints in each pixel the worst that any whole frame in it says', async () => {
  const draw = random(11);
  for (let round = 0; round < 40; round += 1) {
    const from = Math.floor(draw() * told.last);
    const window = { from, to: Math.min(told.last, from + 10 + Math.floor(draw() * told.last)) };
    const width = 20 + Math.floor(draw() * 200);
    const { members, scale } = await asked(window, 2 + Math.floor(draw() * 300), 'events');
    const places = scale.edges(members.columns, width);
    const track = {
      offsets: members.offsets,
      start: members.start,
      codeOf: (run) => ofFlags(members.flags[run]) << 3,
      places,
    };
    const line = new Uint8Array(width);
    const row = Math.floor(draw() * told.members);
    trace(line, track, row);
    for (let probe = 0; probe < 30; probe += 1) {
      // Any moment of the window, looked at as a whole frame: its pixel says no less.
      const inside = told.moments.filter(({ sequence }) => sequence > window.from && sequence <= window.to);
      if (!inside.length) break;
      const moment = inside[Math.floor(draw() * inside.length)];
      const mode = ofFlags(stateAt(told, moment.sequence).flags[row]);
      const column = members.columns.last.findIndex((last) => last >= moment.sequence);
      const pixel = Math.min(width - 1, Math.max(0, Math.floor(places[column])));
      assert.ok(line[pixel] >> 3 >= mode, `row ${row} at ${moment.sequence}`);
    }
  }
});

test('where each moment has columns to itself, each pixel says exactly what the frame there says', async () => {
  const window = { from: told.last - 400, to: told.last };
  const { members, scale } = await asked(window, 10_000, 'events');
  assert.equal(members.exact, true);
  const width = members.columns.first.length * 4;
  const places = scale.edges(members.columns, width);
  const track = {
    offsets: members.offsets,
    start: members.start,
    codeOf: (run) => ofFlags(members.flags[run]) << 3,
    places,
  };
  for (let row = 0; row < told.members; row += 7) {
    const line = new Uint8Array(width);
    trace(line, track, row);
    for (const [column, sequence] of members.columns.last.entries()) {
      const middle = Math.floor((places[column] + places[column + 1]) / 2);
      if (places[column + 1] - places[column] < 3) continue;
      assert.equal(line[middle] >> 3, ofFlags(stateAt(told, sequence).flags[row]), `row ${row}, column ${column}`);
    }
  }
});

const track = (modes) => ({
  offsets: [...modes.keys(), modes.length],
  start: modes.map(() => 0),
  codeOf: (run) => (modes[run] << 3) | 7,
  places: [0, 40],
});
const COLOURS = [1, 3, 4, 5, 6, 7, 8, 9, 9];

test('rows merged into a pixel show the worst of them, for each of the modes', () => {
  for (let worst = SETTLED; worst < MODES; worst += 1) {
    const modes = Array.from({ length: 50 }, (_, row) => (row === 23 ? worst : SETTLED));
    const words = painted({ track: track(modes), count: 50, width: 40, height: 10, rowHeight: 0.2 });
    assert.equal(words[4 * 40 + 5], COLOURS[worst], `mode ${worst}`);
    assert.equal(words[0], COLOURS[SETTLED]);
  }
});

test('every row is in the picture at every height, and every pixel is painted', () => {
  for (const [count, height] of [
    [1, 500],
    [7, 500],
    [200, 500],
    [499, 500],
    [500, 500],
    [501, 500],
    [1000, 480],
    [1000, 333],
    [10_000, 520],
  ]) {
    for (const row of new Set([0, Math.min(1, count - 1), Math.floor(count / 2), count - 1])) {
      const modes = Array.from({ length: count }, (_, index) => (index === row ? 6 : SETTLED));
      const words = painted({ track: track(modes), count, width: 40, height, rowHeight: Math.min(20, height / count) });
      assert.ok(words.includes(PALETTE.lost), `row ${row} of ${count} in ${height}`);
      assert.equal(words.includes(99), false, `${count} rows in ${height}`);
    }
  }
});

test('scrolled rows lie where they lie in the whole, to the pixel', () => {
  const draw = random(3);
  const modes = Array.from({ length: 300 }, () => Math.floor(draw() * MODES));
  const whole = painted({ track: track(modes), count: 300, width: 40, height: 2400, rowHeight: 8 });
  for (const scrollTop of [0, 3, 8, 801, 1999]) {
    const first = Math.floor(scrollTop / 8);
    const part = painted({
      track: track(modes),
      count: 300,
      width: 40,
      height: 200,
      rowHeight: 8,
      first,
      top: first * 8 - scrollTop,
    });
    // Where the first row begins above the edge, its texture begins there, too.
    const from = scrollTop % 8 ? 8 - (scrollTop % 8) : 0;
    for (let y = from; y < 150; y += 8)
      assert.equal(part[(y + 3) * 40 + 20], whole[(scrollTop + y + 3) * 40 + 20], `${scrollTop} at ${y}`);
  }
});

test('a place on the axis and its entry lead to each other, on both axes', async () => {
  for (const axis of ['events', 'time']) {
    const window = { from: 0, to: told.last };
    const { scale } = await asked(window, 400, axis);
    let before = -1;
    for (let place = 0; place <= 1; place += 0.01) {
      const sequence = scale.at(place);
      assert.ok(sequence >= before);
      before = sequence;
      assert.ok(scale.of(sequence) <= place + 1e-6, `${axis} ${place}`);
      assert.ok(scale.of(sequence + 1) >= place - 1e-6 || sequence >= told.last, `${axis} ${place}`);
    }
    assert.equal(scale.of(window.from) <= 0.001, true);
    assert.ok(scale.of(window.to) <= 1);
    const ticks = scale.ticks(900);
    assert.ok(ticks.length >= 3 && ticks.length <= 20);
    assert.ok(ticks.every(({ place }) => place > -0.01 && place < 1.01));
  }
});

test('a clock that runs backwards does not turn the axis back', () => {
  const columns = {
    first: [0, 5, 9, 12],
    last: [0, 8, 11, 20],
    from_ms: [1000, 5000, 3000, 6000],
    to_ms: [1000, 5000, 3500, 8000],
    moments: [0, 3, 3, 3],
  };
  const scale = new Scale('time', columns, { from: 0, to: 20 });
  const edges = scale.edges(columns, 100);
  for (let index = 1; index < edges.length; index += 1) assert.ok(edges[index] >= edges[index - 1]);
});

test('a window is held within what there is, zooms around its place, and goes back to all', async () => {
  const extent = { from: 0, to: told.last };
  const { scale: far } = await asked(extent, 600, 'time');
  assert.deepEqual(clamped({ from: -50, to: told.last * 3 }, extent), extent);
  const tiny = clamped({ from: 30, to: 30 }, extent);
  assert.ok(tiny.to - tiny.from >= LEAST);
  let window = extent;
  for (let turn = 0; turn < 12; turn += 1) {
    const { scale } = await asked(window, 600, 'time');
    window = zoomed(window, 0.6, 0.5, scale, far, extent);
    assert.ok(window.from >= extent.from && window.to <= extent.to && window.to > window.from);
  }
  const narrow = window.to - window.from;
  assert.ok(narrow < told.last / 20);
  assert.ok(panned(window, 1, extent).from > window.from);
  for (let turn = 0; turn < 40; turn += 1) {
    const { scale } = await asked(window, 600, 'time');
    window = zoomed(window, 1 / 0.6, 0.5, scale, far, extent);
  }
  assert.deepEqual(window, extent);
  const seen = revealing({ from: 10, to: 60 }, 400, extent);
  assert.ok(seen.from <= 400 && seen.to >= 400);
  assert.deepEqual(clamped({ from: 0, to: 0 }, { from: 0, to: 0 }), { from: 0, to: LEAST });
});

test('the source is asked for what is in sight at the width of the screen, and again only when that changes', async () => {
  const source = new StorySource(told);
  const failures = [];
  await new Promise((resolve) => {
    const plot = new Plot(source, { onAnswer: () => resolve(plot), onFail: (says) => failures.push(says) });
    plot.ask(640);
    plot.ask(641);
    plot.ask(640);
  });
  assert.deepEqual(
    source.asked.map(({ columns }) => columns),
    [640],
  );
  assert.deepEqual(failures, []);
});

test('the whole timeline is kept, whatever comes while it is asked for', async () => {
  const source = new StorySource(told);
  const kept = await new Promise((resolve) => {
    const plot = new Plot(source, {
      onAnswer: () => {
        if (plot.windows.answers.members && plot.windows.answers.whole) resolve(plot);
      },
      onFail: () => {},
    });
    const group = source.group.bind(source);
    // The whole comes last: after an answer for the window has taken its place.
    source.group = async (ask) => {
      await new Promise((done) => {
        setTimeout(done, ask.columns === 640 ? 0 : 150);
      });
      return group(ask);
    };
    plot.whole();
    plot.ask(640);
  });
  assert.ok(kept.far);
});

test('what cannot be had is told in one line, and what is here stays', async () => {
  const source = new StorySource(told);
  source.members = () => Promise.reject(new Error('The server could not be reached.'));
  const says = await new Promise((resolve) => {
    const windows = new Windows(source, { arrived: () => {}, failed: resolve });
    windows.want(['members'], { from: 0, to: 10 }, 100);
  });
  assert.equal(says, 'The server could not be reached.');
});
