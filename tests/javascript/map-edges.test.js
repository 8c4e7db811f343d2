/** The map's edges: one entry in sight, the last row, who holds what it waits for itself, which rows a filter leaves. */
import assert from 'node:assert/strict';
import { test } from 'node:test';

import { walk } from '../../static/js/board/grid-keys.js';
import { Cast } from '../../static/js/frame/cast.js';
import { Labels } from '../../static/js/frame/labels.js';
import { ABSENT, ofFlags, SETTLED } from '../../static/js/map/modes.js';
import { NO_HUE } from '../../static/js/map/paint.js';
import { Plot } from '../../static/js/map/plot.js';
import { Roster } from '../../static/js/map/roster.js';
import { holdUps } from '../../static/js/map/say.js';
import { Scale } from '../../static/js/map/scale.js';
import * as flags from '../../static/js/source/flags.js';
import { Timeline } from '../../static/js/timeline/timeline.js';
import { StorySource } from './fixtures/map-source.js';
import { story } from './fixtures/map-story.js';

const DAY_MS = 86_400_000;
const MINUTES = [0.5, 1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440];
const told = story({ members: 30, each: 3, epochs: 2, seed: 3 });

test('each flag is a bit of its own, the worse the higher', () => {
  const bits = [
    flags.MEMBER,
    flags.BEHIND,
    flags.LEAVING,
    flags.WAITS,
    flags.REVOKING,
    flags.TWICE,
    flags.CUT,
    flags.PAUSED,
    flags.KILLED,
    flags.FENCED,
    flags.OUTSIDE,
    flags.BROKEN,
  ];
  assert.deepEqual(
    bits,
    bits.map((_, place) => 2 ** place),
  );
});

const columns = (rows) => ({
  first: rows.map(([first]) => first),
  last: rows.map(([, last]) => last),
  from_ms: rows.map(([, , from_ms]) => from_ms),
  to_ms: rows.map(([, , , to_ms]) => to_ms),
  moments: rows.map(() => 1),
});

test('within one column of entries a window is as wide as its share of it', () => {
  const scale = new Scale('events', columns([[1, 100, 0, 1000]]), { from: 20, to: 39 });
  assert.equal(scale.of(20), 0);
  assert.ok(Math.abs(scale.of(30) / scale.of(40) - 0.5) < 1e-9);
  assert.ok(scale.of(40) > 0.9 && scale.of(40) <= 1);
  assert.equal(scale.at(scale.of(30)), 30);
});

test('an entry without a time of its own stands by its share of its column, on both axes', () => {
  const two = columns([
    [1, 10, 0, 500],
    [11, 20, 1000, 2000],
  ]);
  for (const axis of ['time', 'events']) {
    const scale = new Scale(axis, two, { from: 1, to: 20 });
    const places = Array.from({ length: 20 }, (_, index) => scale.of(index + 1));
    for (let index = 1; index < places.length; index += 1) assert.ok(places[index] >= places[index - 1], axis);
    assert.equal(places[0], 0);
    for (const sequence of [1, 5, 11, 15, 20]) assert.equal(scale.at(scale.of(sequence)), sequence, axis);
  }
  const time = new Scale('time', two, { from: 1, to: 20 });
  assert.ok(Math.abs(time.timeAt(time.of(11, 1000)) - 1000) < 1e-6);
});

test('ticks stand at round times, from milliseconds to weeks', () => {
  for (const [span_ms, step_ms] of [
    [7 * 60_000, 60_000],
    [13 * 60_000, 120_000],
    [7 * 3_600_000, 3_600_000],
    [13 * 3_600_000, 7_200_000],
    [20 * 3_600_000, 10_800_000],
    [3 * DAY_MS, 43_200_000],
    [7 * DAY_MS, DAY_MS],
    [20 * DAY_MS, 3 * DAY_MS],
    [60 * DAY_MS, 9 * DAY_MS],
  ]) {
    const scale = new Scale('time', columns([[1, 100, 0, span_ms]]), { from: 1, to: 100 });
    for (const width of [300, 600, 900, 1200]) {
      const at = scale.ticks(width).map((tick) => tick.at);
      const steps = new Set(at.slice(1).map((one, index) => one - at[index]));
      assert.ok(steps.size <= 1);
      for (const one of at) assert.ok(one >= 0 && one <= scale.timeAt(1));
      const [step] = steps;
      if (step > DAY_MS) assert.equal(step % DAY_MS, 0, `${span_ms}`);
      else if (step) assert.ok(MINUTES.includes(step / 60_000), `${step}`);
      if (step) assert.ok(at.length <= width / 40 && at.length * step >= span_ms * 0.5);
    }
    const [first, second] = scale.ticks(1e-9 + (90 * span_ms) / step_ms).map((tick) => tick.at);
    assert.ok(second - first >= step_ms / 3 && second - first <= step_ms * 3);
  }
});

const arrived = async (kind) => {
  const source = new StorySource(told);
  const plot = await new Promise((resolve) => {
    const made = new Plot(source, {
      onAnswer: () => {
        if (made.windows.answers[kind] && made.windows.answers.group) resolve(made);
      },
      onFail: assert.fail,
    });
    made.kind = kind;
    made.ask(640);
  });
  return { plot, source };
};

test('each partition has its row of the answer up to the last one, and what is beyond has none', async () => {
  const { plot } = await arrived('partitions');
  const rows = plot.windows.answers.partitions.offsets.length - 1;
  assert.equal(rows, told.members * 3);
  const rowOf = plot.rowOf([]);
  assert.deepEqual([rowOf(0), rowOf(rows - 1), rowOf(rows)], [0, rows - 1, -1]);
  const entities = Array.from({ length: rows + 1 }, (_, index) => ({ key: `orders-${index}` }));
  assert.equal(plot.modeAt(entities, rows - 1, 1), SETTLED);
  assert.equal(plot.modeAt(entities, rows, 1), ABSENT);
  assert.equal(plot.changing(entities)(rows), false);
});

test('a member has its row of the answer by its key, and who is not in the answer has none', async () => {
  const { plot } = await arrived('members');
  const { rows } = plot.windows.answers.members;
  const rowOf = plot.rowOf([{ key: rows[2] }, { key: 'nobody' }, { key: rows[0] }]);
  assert.deepEqual([rowOf(0), rowOf(1), rowOf(2)], [2, -1, 0]);
});

test('a run of a member is painted as what the worst of its flags says, without a hue', async () => {
  const { plot } = await arrived('members');
  const { flags: told_, offsets } = plot.windows.answers.members;
  const track = plot.track(640, () => 'x');
  const runs = Array.from({ length: offsets[offsets.length - 1] }, (_, run) => run);
  assert.ok(new Set(runs.map((run) => told_[run])).size > 2);
  for (const run of runs)
    assert.deepEqual([track.codeOf(run) >> 3, track.codeOf(run) & 7], [ofFlags(told_[run]), NO_HUE]);
});

test('partitions that have no row are counted where partitions are shown alone', async () => {
  const { plot } = await arrived('partitions');
  plot.windows.answers.partitions.left_out = 7;
  assert.equal(plot.leftOut, 7);
  plot.kind = 'members';
  assert.equal(plot.leftOut, 0);
});

test('a window goes where its middle is put, keeps its width, and is none when it is all', async () => {
  const { plot } = await arrived('members');
  await plot.whole();
  const { from, to } = plot.extent;
  const width = Math.floor((to - from) / 3);
  plot.show({ from, to: from + width });
  assert.equal(plot.zoomed, true);
  plot.centre(plot.far.of(from + 2 * width));
  assert.ok(Math.abs((plot.window.from + plot.window.to) / 2 - (from + 2 * width)) <= 2);
  assert.ok(Math.abs(plot.window.to - plot.window.from - width) <= 1);
  for (const window of [
    { from, to: to - 5 },
    { from: from + 5, to },
  ]) {
    plot.show(window);
    assert.equal(plot.zoomed, true);
    assert.deepEqual(plot.window, window);
  }
  plot.show({ from, to });
  assert.equal(plot.zoomed, false);
});

const held = (places, { revoking = [], wanted = [] }) => ({
  of: (key) => places[key] ?? null,
  member: () => ({ owned: [], revoking, wanted }),
});
const TARGETED = { protocol: 'consumer', group_epoch: 3, assignment_epoch: 3, members: {} };

test('who waits for itself waits for nobody', () => {
  const ownership = held(
    {
      'a-0': { wants: 'other', holder: 'me' },
      'a-1': { wants: 'me', holder: 'me' },
      'b-0': { holder: 'me' },
      'b-1': { holder: 'other' },
    },
    { revoking: ['a-0', 'a-1'], wanted: ['b-0', 'b-1', 'b-2'] },
  );
  const { blocks, waits, free } = holdUps({ ownership, frame: TARGETED }, 'me');
  assert.deepEqual([...blocks], [['other', ['a-0']]]);
  assert.deepEqual([...waits], [['other', ['b-1']]]);
  assert.deepEqual(free, ['b-0', 'b-2']);
});

test('where no target is known, and in a share group, nobody is waited for', () => {
  const ownership = held({ 'a-0': { holder: 'other' } }, { wanted: ['a-0'] });
  for (const frame of [
    { ...TARGETED, protocol: 'share' },
    { ...TARGETED, assignment_epoch: 2 },
    { ...TARGETED, protocol: 'classic', group_epoch: undefined, generation: 3 },
  ]) {
    const { blocks, waits, free } = holdUps({ ownership, frame }, 'me');
    assert.deepEqual([blocks.size, waits.size, free], [0, 0, []], frame.protocol);
  }
});

const roster = (name = (/** @type {number} */ index) => `c-${index}`) => {
  const all = new StorySource(story({ members: 24, each: 1, epochs: 0, name })).lanes();
  const made = new Roster({
    cast: new Cast(all.map(({ key }) => ({ id: key, name: key }))),
    labels: new Labels(),
    verdict: () => '',
  });
  made.meet(all, undefined);
  return made;
};

test('of what changes, and of what is in trouble, those rows alone are left', () => {
  const made = roster();
  const [third, troubled] = [(index) => index === 3, new Set([made.entities[5].key])];
  const shown = (only) => {
    made.shown = { only, grouping: 'none', query: '' };
    return made.lines({ changing: third, troubled }).lines.map(({ index }) => index);
  };
  assert.deepEqual(shown('changing'), [3]);
  assert.deepEqual(shown('trouble'), [5]);
  assert.equal(shown('all').length, 24);
  made.shown = { only: 'changing', grouping: 'none', query: 'c-5' };
  assert.deepEqual(made.lines({ changing: third, troubled }).lines, []);
});

test('the best that was found stands first, unless rows stand under heads', () => {
  const made = roster((index) => `c-${23 - index}`);
  const everything = { changing: () => true, troubled: new Set() };
  const rank = (grouping) => {
    made.shown = { only: 'all', grouping, query: 'c-2' };
    return made.lines(everything).lines;
  };
  assert.equal(rank('none')[0].name, 'c-2');
  const heads = rank('rack').map(({ type }) => type);
  assert.equal(heads[0], 'group');
  const places = heads.flatMap((type, place) => (type === 'group' ? [place] : []));
  assert.equal(places.length, new Set(rank('rack').flatMap(({ type, key }) => (type === 'group' ? [key] : []))).size);
  for (const place of places) assert.equal(heads[place + 1], 'row', 'each head has its rows below it');
});

test('a timeline whose beginning was cut off begins where its first chunk does', () => {
  const load = async () => assert.fail();
  const cut = new Timeline({
    chunks: [
      { first: 41, last: 60, moments: 3 },
      { first: 61, last: 75, moments: 2 },
    ],
    load,
  });
  assert.deepEqual([cut.origin, cut.last, cut.empty], [40, 75, false]);
  const none = new Timeline({ chunks: [], load });
  assert.deepEqual([none.origin, none.last, none.empty], [0, 0, true]);
});

/** A grid without a page: rows of cells, of which one may hold a button. */
function grid() {
  const focused = [];
  const cell = (name, { lane, button } = {}) => {
    const attributes = new Map();
    const made = {
      name,
      focus: () => focused.push(name),
      hasAttribute: (key) => attributes.has(key),
      setAttribute: (key, value) => attributes.set(key, value),
      attributes,
      querySelector: () => (button ? { focus: () => focused.push(button) } : null),
    };
    made.closest = (selector) =>
      selector === '[role="grid"]' ? table : selector === '[data-lane]' ? (lane ? { dataset: { lane } } : null) : made;
    return made;
  };
  const cells = [
    [cell('head A', { lane: 'A' }), cell('a0', { button: 'orders-0' }), cell('a1')],
    [cell('head B', { lane: 'B' }), cell('b0')],
  ];
  const rows = cells.map((list) => ({ querySelectorAll: () => list }));
  const table = { querySelectorAll: () => [{ querySelectorAll: () => [] }, ...rows] };
  const heard = {};
  const picked = [];
  walk({ addEventListener: (type, hear) => (heard[type] = hear) }, (lane) => picked.push(lane));
  const press = (target, key, more = {}) => {
    let prevented = false;
    heard.keydown({ key, target, preventDefault: () => (prevented = true), ...more });
    return prevented;
  };
  return { cells, focused, picked, press, click: (target) => heard.click({ target }) };
}

test('arrows lead from cell to cell, to the button that is in one, and each cell can then have the focus', () => {
  const { cells, focused, press } = grid();
  assert.equal(press(cells[0][0], 'ArrowRight'), true);
  assert.equal(press(cells[0][1], 'ArrowRight'), true);
  assert.equal(press(cells[0][2], 'ArrowDown'), true);
  assert.deepEqual(focused, ['orders-0', 'a1', 'b0']);
  assert.equal(cells[0][2].attributes.get('tabindex'), '-1');
  assert.equal(cells[0][1].attributes.has('tabindex'), false, 'its button has the focus');
  cells[1][1].attributes.set('tabindex', '0');
  press(cells[0][1], 'ArrowDown');
  assert.equal(cells[1][1].attributes.get('tabindex'), '0');
});

test('Enter and Space pick the member of a row at its head; other keys, and keys with another held, do nothing', () => {
  const { cells, picked, focused, press } = grid();
  assert.equal(press(cells[0][0], 'Enter'), true);
  assert.equal(press(cells[1][0], ' '), true);
  assert.deepEqual(picked, ['A', 'B']);
  assert.equal(press(cells[0][2], 'Enter'), false, 'no member there');
  assert.equal(press(cells[0][0], 'x'), false);
  for (const key of ['ctrlKey', 'metaKey', 'altKey', 'shiftKey']) {
    assert.equal(press(cells[0][0], 'Enter', { [key]: true }), false);
    assert.equal(press(cells[0][0], 'ArrowRight', { [key]: true }), false);
  }
  assert.deepEqual([picked.length, focused], [2, []]);
});

test('a click on a head picks its member, and a click elsewhere nobody', () => {
  const { picked, click } = grid();
  const head = { closest: () => ({ closest: () => ({ dataset: { lane: 'A' } }) }) };
  click(head);
  click({ closest: () => null });
  assert.deepEqual(picked, ['A']);
});
