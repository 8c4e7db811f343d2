import assert from 'node:assert/strict';
import test from 'node:test';

import { proposedAs, rowsOf, shown, titled } from '../../static/js/figures/metrics-panel.js';

test('whole numbers have their thousands apart, others two digits, and what was not measured is NaN', () => {
  assert.equal(shown(12345), '12,345');
  assert.equal(shown(0), '0');
  assert.equal(shown(0.2345), '0.23');
  assert.equal(shown(0.0012), '0.001');
  assert.equal(shown(null), 'NaN');
});

test('a metric is titled as JMX writes it, with its tags', () => {
  const metric = { name: 'consumer-group-count', tags: { state: 'stable' }, unit: 'groups', about: '', value: 1 };
  assert.equal(titled(metric), 'consumer-group-count, state=stable');
  assert.equal(titled({ ...metric, tags: undefined }), 'consumer-group-count');
});

test('consumers of two protocols share their rows, and what one has no metric of stays empty', () => {
  const of = (/** @type {Record<string, number>} */ values) => ({
    metrics: Object.entries(values).map(([name, value]) => ({ name, unit: '', about: '', value })),
  });
  const rows = rowsOf([
    of({ 'rebalance-total': 1, 'commit-total': 5 }),
    of({ 'rebalance-total': 2, 'join-total': 3, 'commit-total': 6 }),
  ]);
  assert.deepEqual(
    rows.map(({ metric, values }) => [metric.name, ...values]),
    [
      ['rebalance-total', 1, 2],
      ['join-total', undefined, 3],
      ['commit-total', 5, 6],
    ],
  );
});

test('the name that the proposal has stands beside where it is another one', () => {
  const metric = { name: 'partition-lost-latency-avg', unit: 'ms', about: 'How long.', value: 1 };
  assert.equal(
    proposedAs({ ...metric, kip_429: 'partitions-lost-latency-avg' }),
    'How long. KIP-429: partitions-lost-latency-avg',
  );
  assert.equal(proposedAs({ ...metric, kip_429: metric.name }), 'How long.');
});
