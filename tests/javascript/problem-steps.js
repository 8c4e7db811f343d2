/**
 * Reads a log a line from standard input (`first`, `last`, `frame`, `changes`, `moments`, `troubles`) and writes, a line for each, where N
 * leads from the start on: with each moment as a step, and with commits passed over, as the board does both.
 */

import { createInterface } from 'node:readline';

import { isMereCommit } from '../../static/js/shared/key-steps.js';
import { beginsIn, ProblemSteps } from '../../static/js/panels/problems.js';
import { Timeline } from '../../static/js/timeline/timeline.js';

/** @param {any} log @param {(moment: import('../../static/js/types').Moment) => boolean} rests */
async function visited({ troubles, ...chunk }, rests) {
  const timeline = new Timeline({ chunks: [chunk], load: async () => structuredClone(chunk), rests });
  await timeline.seek(timeline.origin);
  const steps = new ProblemSteps(troubles);
  const found = [];
  for (let count = 0; count <= troubles.length; count += 1) {
    const { moment, sequence } = /** @type {import('../../static/js/timeline/timeline.js').Rest} */ (timeline.rest);
    const index = steps.next({ first: moment?.first ?? sequence, last: sequence }, 1);
    if (index < 0) break;
    const rest = await timeline.seek(troubles[index].sequence);
    steps.reach(index, { last: rest?.sequence ?? 0 });
    found.push([index, rest?.moment?.first, rest?.sequence]);
  }
  return found;
}

for await (const line of createInterface({ input: process.stdin })) {
  const log = JSON.parse(line);
  const troubled = beginsIn(log.troubles);
  const ways = [() => true, (/** @type {any} */ moment) => !isMereCommit(moment) || troubled(moment)];
  const found = await Promise.all(ways.map((rests) => visited(log, rests)));
  process.stdout.write(`${JSON.stringify(found)}\n`);
}
