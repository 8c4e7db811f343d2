/**
 * All that the board of a crowd is made of. It is imported for a crowd alone, so that the page of a small group stays light.
 *
 * @typedef {ConstructorParameters<typeof import('./crowd.js').CrowdStage>[0]} Parts
 */

import { part } from '../shared/dom.js';
import { BoardMap } from '../map/map.js';
import { CrowdStage } from './crowd.js';

export { Ownership } from '../frame/ownership.js';

/** @param {Omit<Parts, 'draws'> & {picked: () => string | null, start_ms: () => number}} parts */
export function crowdStage({ picked, start_ms, ...shared }) {
  return new CrowdStage({
    ...shared,
    draws: ({ root, source, onPins }) =>
      new BoardMap(root, {
        source,
        cast: shared.cast,
        labels: shared.labels,
        verdict: () => `${part('headline').textContent} ${part('verdict').textContent}`,
        start_ms,
        onSeek: shared.onSeek,
        onPins,
        onPick: (key) => shared.onPick(key === picked() ? null : key),
      }),
  });
}
