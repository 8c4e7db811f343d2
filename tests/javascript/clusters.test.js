import assert from 'node:assert/strict';
import test from 'node:test';

import {
  FIELDS,
  aboutWords,
  deliveryWords,
  holding,
  ruleOf,
  silenceOf,
  silenceWords,
} from '../../static/js/clusters/alerts.js';
import { listed, rebalancing, stateWords, taken, watchedWords } from '../../static/js/live/groups.js';
import { propertiesOf } from '../../static/js/clusters/properties.js';

const filled = {
  servers: ' kafka-1:9092 ',
  protocol: 'PLAINTEXT',
  mechanism: 'PLAIN',
  user: 'u',
  password: 'p',
  ca: '',
  chain: '',
  key: '',
  properties: '',
};

const group = (name, more = {}) => ({
  group: name,
  condition: 'seen',
  state: 'Stable',
  rebalancing: false,
  rebalanced_ms: [],
  ...more,
});

test('a form gives what its protocol uses and nothing else', () => {
  assert.deepEqual(propertiesOf(filled), { 'bootstrap.servers': 'kafka-1:9092', 'security.protocol': 'PLAINTEXT' });
  assert.deepEqual(propertiesOf({ ...filled, protocol: 'SASL_SSL', ca: 'PEM' }), {
    'bootstrap.servers': 'kafka-1:9092',
    'security.protocol': 'SASL_SSL',
    'ssl.truststore.certificates': 'PEM',
    'sasl.mechanism': 'PLAIN',
    'sasl.username': 'u',
    'sasl.password': 'p',
  });
});

test('pasted properties count alone', () => {
  assert.equal(propertiesOf({ ...filled, properties: 'bootstrap.servers=x' }), 'bootstrap.servers=x');
});

test('rows that are pushed replace those of before, and a deleted group leaves', () => {
  const groups = taken(new Map(), [group('b'), group('a'), group('c')]);
  taken(groups, [group('b', { rebalancing: true }), group('c', { condition: 'deleted' })]);
  assert.deepEqual(
    listed(groups.values()).map((each) => each.group),
    ['a', 'b'],
  );
  assert.deepEqual(
    rebalancing(groups.values()).map((each) => each.group),
    ['b'],
  );
});

test('a condition that hides the state is said in its place', () => {
  assert.equal(stateWords(group('a')), 'Stable');
  assert.match(stateWords(group('a', { condition: 'unreadable' })), /^Unreadable now/);
});

test('a rule has the fields of its kind and no others', () => {
  const form = {
    kind: 'storm',
    group: ' orders ',
    webhook: '',
    for_s: '30',
    count: ' 7 ',
    within_s: '60',
    finding: 'x',
  };
  assert.deepEqual(ruleOf(form), { kind: 'storm', group: 'orders', webhook: '', count: 7, within_s: 60 });
  assert.equal(ruleOf({ ...form, kind: 'finding' }).finding, 'x');
});

test('a rule on the cluster itself is about no group', () => {
  assert.deepEqual(ruleOf({ kind: 'unreachable', group: 'orders', for_s: '5' }), {
    kind: 'unreachable',
    group: '',
    webhook: '',
    for_s: 5,
  });
  assert.equal(aboutWords({ kind: 'unreachable', group: '' }), 'the cluster itself');
  assert.equal(aboutWords({ kind: 'stuck', group: '' }), 'in all groups');
  assert.equal(aboutWords({ kind: 'stuck', group: 'orders' }), 'in orders');
});

test('what is no number is handed on as it was written, for the server to refuse', () => {
  assert.equal(ruleOf({ kind: 'stuck', for_s: '1e3' }).for_s, '1e3');
  assert.equal(ruleOf({ kind: 'stuck', for_s: '' }).for_s, '');
  assert.ok(Object.keys(FIELDS).includes('stuck'));
});

test('alerts hold until they are over', () => {
  assert.deepEqual(
    holding([
      { id: 'a', ended_ms: null },
      { id: 'b', ended_ms: 5 },
    ]).map((each) => each.id),
    ['a'],
  );
});

test('a delivery says what it came to, and when it is tried again', () => {
  const delivery = (more) => ({ state: 'waiting', tries: 0, answer: '', next_try_ms: 0, ...more });
  assert.equal(deliveryWords(delivery({}), 0), 'Waiting');
  assert.equal(
    deliveryWords(delivery({ tries: 1, answer: '503 Busy', next_try_ms: 7_400 }), 1_000),
    '1 try, 503 Busy; next in 6 s',
  );
  assert.equal(deliveryWords(delivery({ state: 'delivered', tries: 2, answer: '200 OK' }), 0), 'Delivered: 200 OK');
  assert.equal(
    deliveryWords(delivery({ state: 'failed', tries: 8, answer: '500 Oh' }), 0),
    'Given up after 8 tries: 500 Oh',
  );
  assert.equal(deliveryWords(delivery({ state: 'dropped', answer: 'full' }), 0), 'Dropped: full');
});

test('how a cluster is watched is said: followed and how far behind, or polled and how often', () => {
  const follow = { mode: 'following', partitions: 50, behind: 0 };
  assert.equal(
    watchedWords({ every_s: 2, took_ms: 9, follow }),
    'following __consumer_offsets (50 partitions), checked every 2 s',
  );
  assert.equal(
    watchedWords({ every_s: 2, took_ms: 9, follow: { ...follow, partitions: 1, behind: 12345 } }),
    'following __consumer_offsets (1 partition), 12,345 records behind, checked every 2 s',
  );
  assert.equal(watchedWords({ every_s: 0.5, took_ms: 9 }), 'polled every 0.5 s (a round took 9 ms)');
});

test('a silence lasts some hours from now, and hours that are none are left to the server', () => {
  const fields = { hours: '1.5', group: 'orders-*', kind: '', why: 'deploy', who: '' };
  assert.deepEqual(silenceOf(fields, 1_000), { group: 'orders-*', kind: '', why: 'deploy', who: '', until: 5_401_000 });
  assert.equal(silenceOf({ ...fields, hours: 'two' }, 1_000).until, 'two');
  assert.equal(silenceWords({ group: '', kind: 'lag' }), 'all groups, lag');
});
