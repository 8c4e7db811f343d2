import assert from 'node:assert/strict';
import { test } from 'node:test';

import { patternsOf } from '../../static/js/panels/patterns.js';

const finding = (kind, rank, severity, pattern = true) => ({
  kind,
  rank,
  severity,
  pattern,
  says: kind,
  sequences: [1],
});

test('patterns stand as the verdict ranks them, what is harmless last, and other findings are none', () => {
  const findings = [
    finding('session_expiry', 150, 'warning'),
    finding('stale_owned', 20, 'harmless'),
    finding('joined', 0, '', false),
    finding('zombie', 100, 'critical'),
  ];
  const { found } = patternsOf({ findings });
  assert.deepEqual(
    found.map(({ kind }) => kind),
    ['zombie', 'session_expiry', 'stale_owned'],
  );
});

test('what the log cannot tell stands by the sources that it lacks, in words', () => {
  const cannot_tell = [
    { kind: 'zombie', title: 'Zombie member', lacks: ['requests'] },
    { kind: 'sync_never_sent', title: 'SyncGroup never sent', lacks: ['requests', 'timers'] },
    { kind: 'fence_loop', title: 'Fence loop', lacks: ['requests'] },
  ];
  assert.deepEqual(patternsOf({ cannot_tell }).untold, [
    { lacks: 'the request log', titles: ['Zombie member', 'Fence loop'] },
    { lacks: 'the request log and the coordinator’s log', titles: ['SyncGroup never sent'] },
  ]);
});

test('of a timeline without a summary there is nothing', () => {
  assert.deepEqual(patternsOf({}), { found: [], untold: [] });
});
