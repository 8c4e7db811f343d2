/** Choosing a timeline and a moment of it, to take its group from. */

import { ask } from '../shared/api.js';
import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { counted } from '../shared/numbers.js';

/** While the slider moves, nothing is asked for. */
const PAUSE_MS = 180;

export class Moments {
  #pause = /** @type {any} */ (null);
  #asked = 0;
  #first = true;
  /** @type {any[]} */
  #timelines = [];

  /** @param {{dialog: HTMLDialogElement, timeline: HTMLSelectElement, moment: HTMLInputElement, at: HTMLElement, says: HTMLElement, use: HTMLButtonElement, onUse: (query: string) => void}} parts */
  constructor(parts) {
    this.parts = parts;
    const { timeline, moment, use, dialog, onUse } = parts;
    timeline.addEventListener('change', () => this.#chosen());
    moment.addEventListener('input', () => this.#moved());
    use.addEventListener('click', () => {
      dialog.close();
      onUse(`timeline=${encodeURIComponent(timeline.value)}&at=${moment.value}`);
    });
  }

  async open() {
    const { dialog, timeline, says: text, use } = this.parts;
    dialog.showModal();
    use.disabled = true;
    text.textContent = 'Reading the list of timelines…';
    try {
      this.#timelines = (await ask('/api/timelines')).filter((/** @type {any} */ each) => each.last > 0);
    } catch (error) {
      text.textContent = messageOf(error, 'The list could not be read.');
      return;
    }
    timeline.replaceChildren(
      ...this.#timelines.map(({ id, title, group }) =>
        h('option', { value: id }, group && group !== title ? `${title} (${group})` : title),
      ),
    );
    if (!this.#timelines.length) {
      text.textContent =
        'No timeline is stored yet. Run a scenario or import a log, and its groups can be taken from here.';
      return;
    }
    this.#chosen();
  }

  #chosen() {
    const found = this.#timelines.find(({ id }) => id === this.parts.timeline.value);
    if (!found) return;
    this.#first = true;
    this.parts.moment.max = String(found.last);
    this.parts.moment.value = String(found.last);
    this.#moved();
  }

  #moved() {
    const { moment, at, use, says: sentence } = this.parts;
    at.textContent = `entry ${moment.value} of ${moment.max}`;
    use.disabled = true;
    sentence.textContent = '…';
    clearTimeout(this.#pause);
    this.#pause = setTimeout(() => this.#look(), PAUSE_MS);
  }

  async #look() {
    const { timeline, moment, says: words, use } = this.parts;
    this.#asked += 1;
    const asked = this.#asked;
    try {
      /** @type {import('../types').Frame} */
      const frame = await ask(`/api/timelines/${encodeURIComponent(timeline.value)}/frame?at=${moment.value}`);
      if (asked !== this.#asked) return;
      const members = Object.keys(frame.members).length;
      if (!members && this.#first) {
        // Groups of examples often end empty: a moment before them shows more.
        this.#first = false;
        moment.value = String(Math.round((Number(moment.max) * 2) / 3));
        this.#moved();
        return;
      }
      const compared = frame.protocol === 'consumer' || frame.protocol === 'classic';
      use.disabled = !members || !compared;
      words.textContent = !compared
        ? `A ${frame.protocol ?? 'yet unknown'} group: the laboratory compares consumer and classic groups.`
        : members
          ? `${frame.state}, ${counted(members, 'member')}, topics ${Object.keys(frame.topics ?? {}).join(', ') || 'not known yet'}.`
          : 'Nobody is in the group at this moment; choose one with members.';
    } catch (error) {
      if (asked === this.#asked) words.textContent = messageOf(error, 'This moment could not be read.');
    }
  }
}
