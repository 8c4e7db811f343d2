import assert from 'node:assert/strict';
import test from 'node:test';

import { shown, titled } from '../../static/js/metrics-panel.js';

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
