/**
 * The banner of a live board's source, which ages while nothing comes.
 *
 * @import {LiveSource, Meta} from '../types'
 */

import { ServerClock, sourceWords } from './live-source.js';

/** How often its age is written. */
const EVERY_MS = 1000;

export class SourceBanner {
  #clock = new ServerClock();

  /** @param {Meta} meta @param {import('./banners.js').Banners} banners */
  constructor(meta, banners) {
    this.meta = meta;
    this.banners = banners;
    this.#clock.hear(meta.live?.now_ms);
  }

  /** @param {LiveSource | null} live */
  hear(live) {
    this.meta.live = live;
    this.#clock.hear(live?.now_ms);
    this.show();
  }

  /** Nothing of a timeline that is over, or that is not live. */
  show() {
    const { meta } = this;
    if (meta.source === 'live' && meta.status === 'running') this.banners.source(sourceWords(meta, this.#clock.now()));
  }

  /** From now on its age grows. */
  watch() {
    if (this.meta.source === 'live') setInterval(() => this.show(), EVERY_MS);
  }
}
