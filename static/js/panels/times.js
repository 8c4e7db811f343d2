/**
 * Why an import or a run took so long: what each stage took, its slowest parts, memory, and what was done again.
 *
 * @typedef {object} StageTime
 * @property {string} stage
 * @property {number} seconds
 * @property {number} rows
 * @property {string} unit
 * @property {{name: string, seconds: number}[]} [slowest] partitions of `decode`, groups of `fold`; of a run kinds of entries
 * @property {number} [memory_bytes] the most that one task had
 * @property {number} [tried_again] tasks that Spark tried again within their stage
 *
 * @typedef {{times: StageTime[], begun_again: number, finished_before?: number, log: string[], engine?: {executors_lost?: number} | null}} Work
 */

import { h, part } from '../shared/dom.js';
import { duration } from '../frame/words.js';
import { orToast } from '../shared/toast.js';
import { bytes, counted, grouped } from '../shared/numbers.js';

/** @param {Work} work */
export function times({ times: stages, begun_again, finished_before, engine }) {
  part('times').hidden = part('times-says').hidden = !stages.length;
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
    begun_again ? `begun again ${counted(begun_again, 'time')}, since its worker ended` : '',
    finished_before ? `${counted(finished_before, 'group')} finished before` : '',
  ]
    .filter(Boolean)
    .join('; ');
}

/** The last lines of what failed; null where there are none. @param {Work} work */
export const lastLines = ({ log }) =>
  log.length ? h('details', h('summary', 'Last lines of its log'), h('pre', log.join('\n'))) : null;

/** A run's, whenever its panel is opened. @param {HTMLDetailsElement} panel @param {() => Promise<import('../types').Meta>} fetchMeta */
export async function showRun(panel, fetchMeta) {
  const show = () =>
    orToast('The times of the run could not be fetched.', async () => {
      const { work, status } = await fetchMeta();
      const none = status === 'running' ? 'known once it has ended' : 'not kept of this run';
      part('times-for').textContent = work ? 'what each stage took' : none;
      if (!work) return;
      times(work);
      part('times-log').replaceChildren(lastLines(work) ?? '');
    });
  panel.addEventListener('toggle', () => panel.open && show());
  await show();
}
