/**
 * Why an import took so long: what each stage took, its slowest partitions and groups, memory, and what was done again.
 *
 * @import {Detail} from './types'
 */

import { h, part } from '../shared/dom.js';
import { duration } from '../frame/words.js';
import { counted, grouped } from '../shared/numbers.js';
import { bytes } from './rows.js';

/** @param {Detail} detail */
export function times({ times: stages, engine }) {
  part('times').hidden = !stages.length;
  part('times-rows').replaceChildren(
    ...stages.map((each) =>
      h(
        'tr',
        h('td', each.stage),
        h('td.r.num', duration(each.seconds * 1000)),
        h('td.r.num', `${grouped(each.rows)} ${each.unit}`),
        h('td', (each.slowest ?? []).map(({ name, seconds }) => `${name} ${duration(seconds * 1000)}`).join(', ')),
        h('td.r.num', each.memory_bytes ? bytes(each.memory_bytes) : ''),
      ),
    ),
  );
  const again = stages.reduce((sum, each) => sum + (each.tried_again ?? 0), 0);
  part('times-says').textContent = [
    'Seconds of all tasks together',
    again ? `${counted(again, 'task')} tried again within a stage` : '',
    engine?.executors_lost ? `${counted(engine.executors_lost, 'executor')} lost` : '',
  ]
    .filter(Boolean)
    .join('; ');
}
