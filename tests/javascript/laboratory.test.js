import assert from 'node:assert/strict';
import { test } from 'node:test';

import { columnAt, layoutOf, partitionAt, pillOf, runsOf } from '../../static/js/laboratory/layout.js';
import { hueOf, labelOf } from '../../static/js/laboratory/people.js';

/** A group of so many members and topics, of which the last member takes the first partition. */
function group(members, sizes) {
  const total = sizes.reduce((sum, size) => sum + size, 0);
  const before = Array.from({ length: total }, (_, column) => column % members);
  const after = before.with(0, members - 1);
  const counts = (owners) =>
    Array.from({ length: members }, (_, place) => owners.filter((owner) => owner === place).length);
  const sheet = {
    members: Array.from({ length: members }, (_, place) => ({
      name: `m${place}`,
      rack: null,
      topics: [],
      joins: false,
      leaves: false,
    })),
    topics: sizes.map((partitions, place) => ({ name: `topic-${place}`, partitions, added: 0 })),
  };
  return {
    sheet,
    answer: { before, after, counts: { before: counts(before), after: counts(after) }, changed: [0, members - 1] },
  };
}

test('to 12 members and 30 partitions a board has numbers, beyond it blocks', () => {
  for (const [members, sizes, mode] of [
    [12, [20, 10], 'chips'],
    [13, [30], 'blocks'],
    [12, [31], 'blocks'],
  ]) {
    const { sheet, answer } = group(members, sizes);
    assert.equal(layoutOf(sheet, answer, 500).mode, mode);
  }
});

test('rows lie one below the other, with numbers high enough to be read, and who changes stands out among blocks', () => {
  for (const [members, sizes, heights] of [
    [12, [20, 10], Array(12).fill(18)],
    [13, [30], [17, ...Array(11).fill(11), 17]],
  ]) {
    const { sheet, answer } = group(members, sizes);
    const { rows, top, height } = layoutOf(sheet, answer, 500);
    assert.deepEqual(
      rows.map((row) => row.height),
      heights,
    );
    rows.forEach((row, index) => {
      assert.equal(row.y, top + heights.slice(0, index).reduce((sum, one) => sum + one, 0));
      assert.ok(row.cell < row.height);
    });
    assert.equal(height, top + heights.reduce((sum, one) => sum + one) + 2);
  }
});

test('beyond 60 members only those that change have a row, and the others are counted', () => {
  const { sheet, answer } = group(61, [200]);
  const layout = layoutOf(sheet, answer, 500);
  assert.deepEqual(
    layout.rows.map((row) => row.member),
    [0, 60],
  );
  assert.deepEqual([layout.hidden, layout.kept], [0, 59]);
  const everybody = { ...answer, changed: sheet.members.map((_, place) => place) };
  const cut = layoutOf(sheet, everybody, 500);
  assert.deepEqual([cut.rows.length + cut.hidden, cut.kept], [61, 0]);
});

test('columns fill the width whatever their number, topics apart, and never share a place across topics', () => {
  for (const sizes of [[3], [12, 6, 3], [250, 250], Array.from({ length: 100 }, () => 100)]) {
    const { sheet, answer } = group(20, sizes);
    const { x, column } = layoutOf(sheet, answer, 460);
    assert.equal(x.length, answer.before.length);
    assert.ok(x.at(-1) + column <= 460 - 30);
    let at = 0;
    for (const size of sizes.slice(0, -1)) {
      at += size;
      assert.ok(x[at] > x[at - 1], 'the next topic begins a column of its own');
    }
  }
});

test('a column is found under the pointer, and named', () => {
  const { sheet, answer } = group(20, [20, 20]);
  const layout = layoutOf(sheet, answer, 500);
  assert.equal(columnAt(layout, answer, layout.x[0] + 1), 0);
  assert.equal(columnAt(layout, answer, layout.x[5] + 1), null, 'nothing moves there');
  assert.equal(partitionAt(sheet, 21).name, 'topic-1-1');
  assert.deepEqual(runsOf([18, 19, 20, 22], sheet), [
    [18, 19],
    [20, 20],
    [22, 22],
  ]);
});

test('six lanes have a hue, and a name is told in full where it is short', () => {
  assert.deepEqual([hueOf(5), hueOf(6)], ['5', 'x']);
  assert.deepEqual([labelOf('m042'), labelOf('consumer-orders-7')], ['m042', '7']);
  assert.ok(pillOf('m042') > pillOf('A'));
});
