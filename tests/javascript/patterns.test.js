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
  look_at: kind === 'joined' ? [] : ['a log'],
});
const kinds = (summary) => patternsOf(summary).found.map((alike) => alike.map(({ kind }) => kind));

test('patterns stand as the verdict ranks them, what is harmless last, and findings without advice are none', () => {
  const findings = [
    finding('session_expiry', 150, 'warning'),
    finding('stale_owned', 20, 'harmless'),
    finding('joined', 0, '', false),
    finding('zombie', 100, 'critical'),
  ];
  assert.deepEqual(kinds({ findings }), [['zombie'], ['session_expiry'], ['stale_owned']]);
});

test('a finding that is no pattern has its advice, too: what holds somebody up now first, those of one kind as one', () => {
  const findings = [
    finding('offset_back', undefined, 'warning', false),
    finding('zombie', 100, 'critical'),
    finding('offset_back', undefined, 'warning', false),
    finding('open_transaction', undefined, 'critical', false),
  ];
  assert.deepEqual(kinds({ findings }), [['open_transaction'], ['zombie'], ['offset_back', 'offset_back']]);
});

test('a pattern that another one explains has its place behind it, without advice of its own', () => {
  const storm = { ...finding('storm', 145, 'critical'), look_at: [], explained_by: 'Rebalance timeout too short' };
  const findings = [storm, finding('short_rebalance_timeout', 45, 'critical')];
  assert.deepEqual(kinds({ findings }), [['short_rebalance_timeout'], ['storm']]);
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
