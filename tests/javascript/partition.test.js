import assert from 'node:assert/strict';
import { test } from 'node:test';
import { commandFor, partitionOf } from '../../static/js/import/partition.js';

test('a group is in the partition in which a broker of four partitions has it', () => {
  // As a real coordinator logged them (tests/wire/fixtures/pasted).
  assert.equal(partitionOf('checkout', 4), 2);
  assert.equal(partitionOf('billing', 4), 1);
});

test('the hash wraps as in Java, and the least number counts as 0', () => {
  assert.equal(partitionOf('polygenelubricants', 50), 0);
  assert.equal(partitionOf('', 50), 0);
  assert.equal(partitionOf('groß-é-\u{1f600}', 50), partitionOf('groß-é-\ud83d\ude00', 50));
});

test('the command names the folder', () => {
  assert.match(commandFor('checkout', 4), /tar .* __consumer_offsets-2$/);
});
