import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Hues, namedIn } from '../../static/js/frame/hues.js';
import { ofLanes, ofTopics } from '../../static/js/map/entities.js';
import {
  ABSENT,
  BEHIND,
  LOST,
  ofFlags,
  ofPartition,
  REVOKING,
  SETTLED,
  STALLED,
  TWICE,
  UNASSIGNED,
  WAITING,
} from '../../static/js/map/modes.js';
import { characters, isolated, parted } from '../../static/js/frame/names.js';
import { PINS_MOST, Roster } from '../../static/js/map/roster.js';
import { found, haystack, linesOf } from '../../static/js/map/rows.js';
import { Cast } from '../../static/js/frame/cast.js';
import { Labels } from '../../static/js/frame/labels.js';
import * as flags from '../../static/js/source/flags.js';
import { StorySource } from './fixtures/map-source.js';
import { nameOf, story } from './fixtures/map-story.js';

const lanes = (count, name = nameOf) => new StorySource(story({ members: count, each: 1, epochs: 0, name })).lanes();
const names = (entities, indices) => indices.map((index) => entities[index].name);
const search = (entities, query) => names(entities, found(entities.map(haystack), query));

test('member 873 of 1,000 is found by its name, its host, its client and a part of it', () => {
  const entities = ofLanes(lanes(1000));
  assert.deepEqual(search(entities, 'consumer-8-73'), ['consumer-8-73']);
  assert.deepEqual(search(entities, 'client:orders-873'), ['consumer-8-73']);
  assert.equal(search(entities, 'host:10.1.21.7').length, 40);
  assert.deepEqual(search(entities, 'host:10.1.21.7 8-73'), ['consumer-8-73']);
  assert.deepEqual(search(entities, 'CONSUMER-8-73'), ['consumer-8-73']);
  assert.deepEqual(search(entities, ' '), []);
  assert.deepEqual(search(entities, 'nobody'), []);
});

test('whose name is what was typed stands before those that only hold it', () => {
  const entities = ofLanes(
    lanes(30, (index) => (index === 20 ? 'c-2' : `c-${index}`)).filter(({ order }) => order !== 2),
  );
  assert.equal(search(entities, 'c-2')[0], 'c-2');
  assert.ok(search(entities, 'c-2').length > 5);
});

test('whose name begins with what was typed stands before those that hold it elsewhere, and these before the others', () => {
  const entities = ofLanes(lanes(4, (index) => ['x-orders', 'z', 'orders-x', 'orders'][index]));
  assert.deepEqual(search(entities, 'orders'), ['orders', 'orders-x', 'x-orders', 'z']);
});

test('a word with a colon that names no field is looked for as it is', () => {
  const entities = ofLanes(lanes(3, (index) => `urn:team:${index}`));
  assert.deepEqual(search(entities, 'urn:team:1'), ['urn:team:1']);
});

test('names of 249 characters, from right to left and of emoji are found, parted between characters, and stay whole otherwise', () => {
  const long = `${'ж'.repeat(240)}-ending-9`.slice(0, 249);
  const family = '👩‍👩‍👧‍👦'.repeat(20);
  const entities = ofLanes(lanes(3, (index) => [long, 'צרכן-אחד', family][index]));
  assert.deepEqual(search(entities, 'אחד'), ['צרכן-אחד']);
  assert.deepEqual(search(entities, 'ending-9'), [long]);
  for (const name of [long, 'צרכן-אחד', family, 'a', 'consumer-7-02']) {
    const { head, tail } = parted(name);
    assert.equal(head + tail, name);
  }
  assert.deepEqual(characters(parted(family).tail), Array(7).fill('👩‍👩‍👧‍👦'));
  assert.equal(parted('consumer-7-02').tail, 'r-7-02');
  assert.equal(isolated('plain'), 'plain');
  assert.equal(isolated('צרכן'), '\u2068צרכן\u2069');
});

test('rows stand under their hosts, in the order of names, and a closed host keeps its head with all its rows', () => {
  const entities = ofLanes(lanes(100));
  const open = linesOf(entities, { grouping: 'host', closed: () => false, keep: null });
  assert.equal(open.length, 103);
  assert.deepEqual(
    open.filter(({ type }) => type === 'group').map(({ name, indices }) => [name, indices.length]),
    [
      ['10.1.0.7', 40],
      ['10.1.1.7', 40],
      ['10.1.2.7', 20],
    ],
  );
  const closed = linesOf(entities, { grouping: 'host', closed: (group) => group === 'host\n10.1.0.7', keep: null });
  assert.equal(closed.length, 63);
  assert.equal(closed[0].indices.length, 40);
  const unknown = linesOf(
    entities.map((entity) => ({ ...entity, rack: null })),
    { grouping: 'rack', closed: () => false, keep: null },
  );
  assert.equal(unknown[0].name, 'rack not known');
});

test('each row is in the list exactly once, however it is grouped and filtered', () => {
  const entities = ofLanes(lanes(257));
  for (const grouping of ['none', 'host', 'rack']) {
    for (const keep of [null, (index) => index % 3 === 0, () => false]) {
      const lines = linesOf(entities, { grouping, closed: () => false, keep });
      const rows = lines
        .filter(({ type }) => type === 'row')
        .map(({ index }) => index)
        .sort((a, b) => a - b);
      assert.deepEqual(
        rows,
        [...entities.keys()].filter((index) => !keep || keep(index)),
      );
    }
  }
});

test('10,000 topics of one partition, and one topic of 10,000, have a row for each partition', () => {
  const many = Array.from({ length: 10_000 }, (_, row) => ({ topic: `t${row}`, first_row: row, partitions: 1 }));
  const entities = ofTopics(many, (key) => key);
  assert.equal(entities.length, 10_000);
  assert.deepEqual(search(entities, 't9999'), ['t9999-0']);
  assert.equal(linesOf(entities, { grouping: 'topic', closed: () => false, keep: null }).length, 20_000);
  const one = ofTopics([{ topic: 'orders', first_row: 0, partitions: 10_000 }], (key) => key);
  assert.deepEqual(search(one, 'orders-873')[0], 'orders-873');
});

test('what a column says of a member is the worst that any of its flags says', () => {
  assert.deepEqual([0, 1, 3, 5, 9, 17, 11].map(ofFlags), [ABSENT, SETTLED, BEHIND, BEHIND, WAITING, REVOKING, WAITING]);
  assert.equal(ofFlags(flags.MEMBER | flags.PAUSED | flags.REVOKING), STALLED);
  assert.equal(ofFlags(flags.MEMBER | flags.KILLED | flags.CUT), LOST);
  assert.equal(ofFlags(flags.OUTSIDE), LOST);
  assert.equal(ofFlags(flags.MEMBER | flags.TWICE | flags.FENCED), TWICE);
  assert.deepEqual([0, 1, 2, 3, 4, 5].map(ofPartition), [ABSENT, SETTLED, BEHIND, REVOKING, UNASSIGNED, TWICE]);
  for (let a = 0; a < 4096; a += 37)
    for (let b = 0; b < 4096; b += 41) assert.equal(ofFlags(a | b), Math.max(ofFlags(a), ofFlags(b)));
});

test('a hue belongs to whom the verdict names and to whom is pinned, six at once, and is kept', () => {
  const hues = new Hues();
  hues.give(['a', 'b']);
  assert.deepEqual(
    ['a', 'b', 'c'].map((key) => hues.of(key)),
    ['0', '1', 'x'],
  );
  hues.give(['c', 'b', 'd', 'e', 'f', 'g', 'h']);
  assert.equal(hues.of('b'), '1');
  assert.equal(hues.of('h'), 'x');
  assert.equal(new Set(['c', 'b', 'd', 'e', 'f', 'g'].map((key) => hues.of(key))).size, 6);
});

test('a verdict names whom it names, whole', () => {
  const all = lanes(1000);
  assert.deepEqual(namedIn('consumer-1-17 left; consumer-0-42’s session expired, because of consumer-1-17.', all), [
    'consumer-1-17',
    'consumer-0-42',
  ]);
  assert.deepEqual(namedIn('consumer-1-170 is nobody', all), []);
});

const roster = (count, verdict = '') => {
  const all = lanes(count);
  const cast = new Cast(all.map(({ key }) => ({ id: key, name: key })));
  const made = new Roster({ cast, labels: new Labels(), verdict: () => verdict });
  made.meet(all, undefined);
  return { made, cast };
};
const EVERYTHING = { changing: () => true, troubled: new Set() };

test('a pinned row stands above the others, has a hue, and no more than a dozen are pinned', () => {
  const { made, cast } = roster(100, 'consumer-0-07 left');
  assert.equal(cast.lane('consumer-0-00').hue, 'x');
  assert.equal(cast.lane('consumer-0-07').hue, '0');
  assert.equal(made.pin('consumer-0-73'), 'pinned');
  assert.notEqual(cast.lane('consumer-0-73').hue, 'x');
  assert.deepEqual(
    made.lines(EVERYTHING).pins.map(({ key }) => key),
    ['consumer-0-73'],
  );
  assert.equal(made.lines(EVERYTHING).lines.length, 100);
  for (let index = 0; index < PINS_MOST - 1; index += 1) assert.equal(made.pin(nameOf(index)), 'pinned');
  assert.equal(made.pin('consumer-0-99'), 'full');
  assert.equal(made.pin('consumer-0-73'), 'unpinned');
});

test('to a row that is hidden one goes by taking away what hides it, and nothing else', () => {
  const { made } = roster(100);
  made.shown = { only: 'trouble', grouping: 'host', query: 'nobody' };
  assert.equal(made.lines(EVERYTHING).count, 0);
  made.uncover('consumer-0-50');
  const { lines } = made.lines(EVERYTHING);
  assert.ok(lines.some(({ key }) => key === 'consumer-0-50'));
  assert.equal(made.shown.grouping, 'host');
});

test('groups begin closed, and a search opens those that hold what it finds', () => {
  const { made } = roster(100);
  made.shown = { only: 'all', grouping: 'host', query: '' };
  assert.equal(made.lines(EVERYTHING).lines.length, 3);
  assert.equal(made.lines(EVERYTHING).count, 100);
  made.fold('host\n10.1.1.7');
  assert.equal(made.lines(EVERYTHING).lines.length, 43);
  made.shown = { ...made.shown, query: '0-99' };
  assert.deepEqual(
    made.lines(EVERYTHING).lines.map(({ name }) => name),
    ['10.1.2.7', 'consumer-0-99'],
  );
});

test('a group that grows from nobody to a thousand and back has its rows', () => {
  const { made } = roster(0);
  assert.deepEqual(made.lines(EVERYTHING), { lines: [], pins: [], count: 0, all: 0 });
  assert.equal(made.meet(lanes(1000), undefined), true);
  assert.equal(made.meet(lanes(1000), undefined), false);
  assert.equal(made.lines(EVERYTHING).count, 1000);
});
