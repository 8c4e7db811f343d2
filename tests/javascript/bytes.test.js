import assert from 'node:assert/strict';
import { test } from 'node:test';

import { copyText } from '../../static/js/bytes/copying.js';
import {
  changedBytes,
  edited,
  fromBase64,
  History,
  isEditable,
  textOf,
  toBase64,
  toHex,
} from '../../static/js/bytes/edits.js';
import { fragmentOf, LINK_BYTES_MOST, linkedIn } from '../../static/js/bytes/link.js';
import { blobsOf, marking } from '../../static/js/bytes/marks.js';
import { othersNamed } from '../../static/js/bytes/paste.js';
import { noneBefore } from '../../static/js/bytes/record.js';
import { FieldTree, jsonOf } from '../../static/js/bytes/tree.js';
import { ITEMS_MOST, placeText, sinceText, titleOf, valueText } from '../../static/js/bytes/words.js';

const leaf = (name, type, offset, length, value, more = {}) => ({ name, type, offset, length, value, ...more });

/** A record with a blob that was opened in place; the bytes are a count from 0 on. */
const RECORD = [
  leaf('version', 'int16', 0, 2, 3),
  {
    name: 'members',
    type: 'array',
    offset: 2,
    length: 38,
    prefix: 4,
    fields: [
      {
        name: '0',
        type: 'struct',
        offset: 6,
        length: 34,
        fields: [
          leaf('clientId', 'string', 6, 7, 'c-117', { prefix: 2 }),
          {
            name: 'subscription',
            type: 'bytes',
            offset: 13,
            length: 27,
            prefix: 4,
            kind: 'subscription',
            value: '',
            fields: [
              leaf('version', 'int16', 17, 2, 3),
              leaf('partitions', 'array int32', 19, 16, [0, 1, 2], { prefix: 4, since: 1 }),
              leaf('rackId', 'string?', 35, 5, 'abc', { prefix: 2, since: 3 }),
            ],
          },
        ],
      },
    ],
  },
];
const BYTES = Uint8Array.from({ length: 40 }, (_, at) => at);
const ALL = new Set(['members', 'members.0', 'members.0.subscription']);

test('rows are the fields in sight, and a byte is of the innermost of them', () => {
  const tree = new FieldTree(RECORD);
  assert.deepEqual(
    tree.rows(new Set()).map(({ path }) => path),
    ['version', 'members'],
  );
  assert.equal(tree.rows(ALL).length, 8);
  assert.equal(tree.at(24, ALL)?.path, 'members.0.subscription.partitions');
  assert.equal(tree.at(24, new Set(['members']))?.path, 'members.0');
  assert.equal(tree.at(14, ALL)?.path, 'members.0.subscription');
  assert.equal(tree.at(40, ALL), null);
});

test('with many fields long arrays begin folded, with few all is open but the like of what is seen', () => {
  const entry = (name, count) => ({
    name,
    type: 'struct',
    offset: 0,
    length: 0,
    fields: Array.from({ length: count }, (_, at) => leaf(`f${at}`, 'int8', 0, 0, 0)),
  });
  const list = (length, count) =>
    new FieldTree([
      {
        name: 'list',
        type: 'array',
        offset: 0,
        length: 0,
        fields: Array.from({ length }, (_, at) => entry(String(at), count)),
      },
    ]);
  assert.deepEqual([...list(3, 2).opening()].sort(), ['list', 'list.0', 'list.1', 'list.2']);
  assert.deepEqual([...list(3, 9).opening()].sort(), ['list', 'list.0']);
  assert.equal(list(21, 12).opening().has('list'), false);
  assert.equal(list(20, 12).opening().has('list'), true);
});

test('the field is ink, its length dark, its parent light, an opened blob sunk, the unread struck out', () => {
  const tree = new FieldTree(RECORD);
  const shown = {
    selected: tree.byPath.get('members.0.subscription.partitions'),
    item: null,
    blobs: blobsOf(tree),
    unread: [35, 40],
    changed: new Set([36]),
  };
  const mark = marking(shown);
  assert.equal(mark(0), 'by');
  assert.equal(mark(19), 'by blob lit pre');
  assert.equal(mark(24), 'by blob lit');
  assert.equal(mark(14), 'by pa');
  assert.equal(mark(35), 'by blob pa un');
  assert.equal(mark(36), 'by blob pa ch');
  assert.equal(marking({ ...shown, item: 1 })(23), 'by blob pa');
  assert.equal(marking({ ...shown, item: 1 })(27), 'by blob lit');
});

test('what lies in unpacked bytes lights up the field that holds them', () => {
  const tree = new FieldTree([
    {
      name: 'records',
      type: 'bytes',
      offset: 4,
      length: 8,
      in: 'records',
      kind: 'records',
      fields: [leaf('key', 'int16', 0, 2, 1)],
    },
  ]);
  const place = tree.byPath.get('records.key');
  assert.equal(place.lies, false);
  const mark = marking({ selected: place, item: null, blobs: [], unread: null, changed: new Set() });
  assert.equal(mark(0), 'by');
  assert.equal(mark(4), 'by lit');
});

test('an edit changes its own bytes and the lengths around it, not what only moved', () => {
  const longer = structuredClone(RECORD);
  const subscription = longer[1].fields[0].fields[1];
  const [, partitions, rack] = subscription.fields;
  partitions.value = [0, 1, 2, 9];
  partitions.length += 4;
  rack.offset += 4;
  for (const around of [longer[1], longer[1].fields[0], subscription]) around.length += 4;
  const after = Uint8Array.from([...BYTES.slice(0, 35), 0, 0, 0, 9, ...BYTES.slice(35)]);
  after[16] += 4;
  after[22] += 1;
  const changed = changedBytes(new FieldTree(RECORD), BYTES, new FieldTree(longer), after);
  assert.deepEqual(
    [...changed].sort((a, b) => a - b),
    [16, 22, 35, 36, 37, 38],
  );
});

test('what was typed becomes a value of its field, or says what is wrong', () => {
  const field = (type, value) => ({ name: 'x', type, offset: 0, length: 0, value });
  assert.deepEqual(edited(field('int32', 1), ' -7 '), { value: -7 });
  assert.match(edited(field('int16', 1), '40000').wrong, /40000 is no int16/);
  assert.deepEqual(edited(field('int64', 1), '9223372036854775807'), { value: '9223372036854775807' });
  assert.match(edited(field('int64', 1), '9223372036854775808').wrong, /no int64/);
  assert.deepEqual(edited(field('array int32', [1]), '0, 1 5'), { value: [0, 1, 5] });
  assert.deepEqual(edited(field('array int32', [1]), ''), { value: [] });
  assert.match(edited(field('array int32', [1]), '0 x').wrong, /x is no int32/);
  assert.deepEqual(edited(field('string?', null), ''), { value: '' });
  assert.deepEqual(edited(field('bytes', 'AA=='), '00 ff'), { value: 'AP8=' });
  assert.match(edited(field('bytes', 'AA=='), '0').wrong, /pairs of hex/);
  assert.equal(textOf(field('bytes', 'AP8=')), '00 ff');
  assert.equal(textOf({ ...field('int64', 2 ** 60), text: '1152921504606846977' }), '1152921504606846977');
  assert.equal(isEditable(RECORD[1]), false);
  assert.equal(isEditable(RECORD[0]), true);
});

test('edits can be taken back, the oldest being forgotten first', () => {
  const history = new History();
  for (let at = 0; at < 60; at += 1) history.push(at);
  assert.equal(history.length, 50);
  assert.equal(history.pop(), 59);
});

test('a field says where it lies and what its bytes are', () => {
  const tree = new FieldTree(RECORD);
  const said = (path) => placeText(tree.byPath.get(path).node);
  assert.equal(said('members.0.subscription.partitions'), 'at 19, 16 bytes: 4 of length (a count), 12 of content');
  assert.equal(said('version'), 'at 0, 2 bytes');
  assert.equal(placeText(leaf('x', 'string?', 7, 2, null, { prefix: 2 })), 'at 7, 2 bytes: the mark of null');
  assert.equal(titleOf(tree.byPath.get('members.0')), 'members[0]');
  assert.deepEqual(valueText(RECORD[1].fields[0], true), { text: 'c-117', said: false });
  assert.deepEqual(valueText(RECORD[1].fields[0].fields[1]), { text: 'v3, 23 bytes', said: true });
  assert.deepEqual(valueText(leaf('x', 'string', 0, 2, '')), { text: 'empty', said: true });
  assert.equal(sinceText(leaf('x', 'int8', 0, 1, 0, { since: 1, until: 1 })), 'v1');
});

test('of a long list of plain values the first stand in its line, and how many there are in all', () => {
  const list = (count) =>
    leaf('x', 'array', 0, 4, null, {
      fields: Array.from({ length: count }, (_, index) => leaf(`${index}`, 'int32', index, 4, index)),
    });
  const { text, said } = valueText(list(ITEMS_MOST + 1));
  assert.equal(said, false);
  assert.match(text, new RegExp(`^0, 1, 2, .*, ${ITEMS_MOST - 1}, … ${ITEMS_MOST + 1} in all$`));
  assert.match(valueText(list(ITEMS_MOST)).text, new RegExp(`, ${ITEMS_MOST - 1}$`));
});

test('as JSON the fields have Kafka’s names, blobs opened, and nothing of the layout', () => {
  assert.deepEqual(jsonOf([...RECORD, leaf('_taggedFields', 'count', 40, 1, 0)]), {
    version: 3,
    members: [{ clientId: 'c-117', subscription: { version: 3, partitions: [0, 1, 2], rackId: 'abc' } }],
  });
});

test('bytes travel in an address up to a bound, and nothing else is taken for them', () => {
  const bytes = toBase64(Uint8Array.from([255, 254, 0]));
  const hash = fragmentOf([
    { kind: 'subscription', version: null, bytes },
    { kind: 'x-request', version: 9, bytes },
  ]);
  assert.equal(hash, '#kind=subscription&bytes=__4A&kind=x-request%409&bytes=__4A');
  assert.deepEqual(linkedIn(hash), [
    { kind: 'subscription', version: null, bytes },
    { kind: 'x-request', version: 9, bytes },
  ]);
  assert.equal(
    fragmentOf([{ kind: 'key', version: null, bytes: toBase64(new Uint8Array(LINK_BYTES_MOST + 3)) }]),
    null,
  );
  for (const bad of ['', '#', '#bytes=', '#bytes=a b', '#bytes=abcde', '#kind=x']) assert.deepEqual(linkedIn(bad), []);
  assert.equal(toHex(fromBase64(bytes)), 'ff fe 00');
});

test('a value is copied as it would be typed: numbers with spaces, bytes as hex, the rest as JSON', () => {
  const of = new FieldTree(RECORD).byPath;
  const copied = (path, item) => copyText(of.get(path).node, item);
  assert.equal(copied('members.0.clientId'), 'c-117');
  assert.equal(copied('members.0.subscription.partitions'), '0 1 2');
  assert.equal(copied('members.0.subscription.partitions', 2), '2');
  assert.equal(JSON.parse(copied('members'))[0].clientId, 'c-117');
  assert.equal(copyText(leaf('instance', 'string?', 0, 2, null)), 'null');
  assert.equal(copyText({ ...of.get('members.0.subscription').node, value: 'AQI=' }), '01 02');
});

test('the kinds that bytes could as well be are named, and beyond three counted', () => {
  const tried = (count) => Array.from({ length: count }, (_, at) => ({ kind: `k${at}`, title: `K${at}`, whole: true }));
  assert.equal(othersNamed(tried(1), 'k0'), '');
  assert.equal(othersNamed(tried(2), 'k0'), 'K1');
  assert.equal(othersNamed(tried(6), 'k0'), 'K1, K2, K3 or 2 more');
});

test('a key without an earlier record says how far was looked', () => {
  assert.equal(noneBefore({ before: 3, searched_from: 3, sequence: 9 }), '');
  assert.equal(
    noneBefore({ before: null, searched_from: 1, sequence: 9 }),
    'This key has no earlier record in this timeline.',
  );
  assert.equal(
    noneBefore({ before: null, searched_from: 101, sequence: 20101 }),
    'This key has no earlier record among the 20,000 entries before.',
  );
});
