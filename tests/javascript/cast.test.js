import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Cast } from '../../static/js/frame/cast.js';

const frame = (members) => ({
  sequence: 1,
  at_ms: 0,
  group: 'g',
  protocol: 'consumer',
  state: 'Stable',
  members,
  topics: {},
});
const RAW = 'UXHgsYw0RAG2rXlEhK3c9A';

test('a newcomer has its client or instance id until a summary names it, and its raw id stays in no list', () => {
  const cast = new Cast([{ id: 'm1', name: 'anna' }]);
  cast.meetFrame(
    frame({ m1: { client_id: 'anna' }, [RAW]: { client_id: 'ben' }, m3: { client_id: 'c', instance_id: 'i-3' } }),
  );
  assert.deepEqual([cast.name(RAW), cast.name('m3')], ['ben', 'i-3']);
  const before = cast.lane(RAW);
  cast.meet([
    { id: 'm1', name: 'anna' },
    { id: RAW, name: 'ben' },
    { id: 'm3', name: 'i-3' },
  ]);
  assert.deepEqual(cast.lane(RAW), before);
  assert.deepEqual(
    cast.lanes.map(({ name }) => name),
    ['anna', 'ben', 'i-3'],
  );
});

test('of two members with one client id the newcomer has its own id, and then the name of the summary, in the same lane', () => {
  const cast = new Cast([{ id: 'm1', name: 'client' }]);
  cast.meetFrame(frame({ m1: { client_id: 'client' }, [RAW]: { client_id: 'client' } }));
  assert.equal(cast.name(RAW), RAW);
  const { hue, order } = cast.lane(RAW);
  cast.meet([{ id: RAW, name: 'client-2' }]);
  assert.deepEqual([cast.lane(RAW).hue, cast.lane(RAW).order, cast.lane(RAW).badge], [hue, order, '2']);
  assert.deepEqual(
    cast.lanes.map(({ name }) => name),
    ['client', 'client-2'],
  );
  cast.meet([{ id: 'm4', name: 'dora' }]);
  assert.deepEqual(
    cast.lanes.map((lane) => lane.order),
    [0, 1, 2],
  );
});
