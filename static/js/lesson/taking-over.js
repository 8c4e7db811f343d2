/**
 * Taking over: the script is left, and what the reader does is played on from this moment.
 *
 * @import {Run} from './types'
 * @import {Frame} from '../types'
 * @typedef {{at_ms: number, do: string, who: string, to?: number}} Act
 */

import { submit } from '../shared/api.js';
import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

const NEWCOMERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** The first letter that nobody has. @param {Iterable<string>} taken */
export function newcomer(taken) {
  const names = new Set([...taken].map((name) => name.replace(/~\d+$/, '')));
  return [...NEWCOMERS].find((letter) => !names.has(letter)) ?? `new-${names.size + 1}`;
}

/**
 * What can be done with each member at this moment.
 *
 * @param {Frame} frame
 * @param {string} id
 * @returns {{do: string, says: string}[]}
 */
export function doable(frame, id) {
  const client = frame.clients?.[id];
  if (client?.killed) return [{ do: 'join', says: 'Start again' }];
  if (client?.paused) return [{ do: 'resume', says: 'Resume' }];
  return [
    { do: 'leave', says: 'Leave' },
    { do: 'kill', says: 'Kill' },
    { do: 'pause', says: 'Pause' },
  ];
}

export class TakingOver {
  /** @type {Act[]} */
  acts = [];
  scenario = '';
  #asked = 0;

  /**
   * @param {HTMLElement} root
   * @param {object} options
   * @param {{lesson?: string, text?: string}} options.of
   * @param {() => {frame: Frame, at_ms: number, names: (id: string) => string, atEnd: boolean}} options.now
   * @param {(run: Run, at_ms: number, acted: boolean) => void} options.onRun with `acted`, what comes first from then on is shown
   * @param {() => void} options.onStep
   * @param {() => void} options.onLeave
   */
  constructor(root, { of, now, onRun, onStep, onLeave }) {
    this.root = root;
    this.of = of;
    this.now = now;
    this.onRun = onRun;
    this.onStep = onStep;
    this.onLeave = onLeave;
    this.says = h('p.said', { role: 'status' });
  }

  /** From this moment on. */
  async begin() {
    this.acts = [];
    this.from_ms = this.now().at_ms;
    this.says.textContent = 'The script is played up to this moment, and ends there.';
    this.root.replaceChildren(h('h2', { id: 'question' }, 'Taking over…'), this.says);
    await this.#play(this.from_ms);
    this.render();
  }

  render() {
    const { frame, names } = this.now();
    const members = Object.keys(frame.members).map((id) =>
      h(
        'div.does',
        { role: 'group', 'aria-label': names(id) },
        h('b', names(id)),
        doable(frame, id).map((one) =>
          h('button.btn.sm', { onclick: () => this.act({ do: one.do, who: names(id) }) }, one.says),
        ),
      ),
    );
    // A member that left or was removed can come back; its process may be there still, or be killed.
    const gone = Object.keys(frame.clients ?? {}).filter((id) => !frame.members[id] && frame.clients?.[id]?.killed);
    const topics = Object.entries(frame.topics ?? {}).filter(([, topic]) => topic.partitions);
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset?.does;
    this.root.replaceChildren(
      h('h2', { id: 'question' }, 'You have taken over'),
      h(
        'p.quiet',
        `The script ended at ${((this.from_ms ?? 0) / 1000).toFixed(1)} s. What you do now happens at the moment on the board.`,
      ),
      h(
        'div.doing',
        members,
        h(
          'div.does',
          { role: 'group', 'aria-label': 'The group' },
          h(
            'button.btn.sm',
            {
              'data-does': 'add',
              onclick: () =>
                this.act({
                  do: 'join',
                  who: newcomer([...Object.keys(frame.members), ...Object.keys(frame.clients ?? {})].map(names)),
                }),
            },
            'Add a member',
          ),
          gone.map((id) =>
            h(
              'button.btn.sm',
              { onclick: () => this.act({ do: 'join', who: names(id).replace(/~\d+$/, '') }) },
              `Start ${names(id)} again`,
            ),
          ),
          topics.map(([topic, about]) =>
            h(
              'button.btn.sm',
              { onclick: () => this.act({ do: 'add_partitions', who: topic, to: (about.partitions ?? 0) + 1 }) },
              `One more partition of ${topic}`,
            ),
          ),
        ),
      ),
      h(
        'div.acts',
        h('button.btn.go', { id: 'on', onclick: () => this.onStep() }, 'Next moment'),
        h('button.btn', { 'data-needs': 'run', onclick: () => this.#open() }, 'Open on the board'),
        h('button.btn.bare', { id: 'give-back', onclick: () => this.onLeave() }, 'Back to the lesson'),
      ),
      this.says,
    );
    if (focused) /** @type {HTMLElement | null} */ (this.root.querySelector(`[data-does="${focused}"]`))?.focus();
  }

  /** @param {{do: string, who: string, to?: number}} what */
  async act(what) {
    const { at_ms } = this.now();
    // What was done later than this moment has not happened any more.
    const before = this.acts;
    this.acts = [
      ...before.filter((act) => act.at_ms <= at_ms),
      { ...what, who: what.do === 'join' ? what.who.replace(/~\d+$/, '') : what.who, at_ms: at_ms + 1 },
    ];
    if (!(await this.#play(at_ms + 1))) this.acts = before;
    this.render();
  }

  /** @param {number} at_ms */
  async #play(at_ms) {
    this.#asked += 1;
    const asked = this.#asked;
    // Until the answer is here, the board shows another run than the one that is meant.
    for (const button of this.root.querySelectorAll('button')) button.disabled = true;
    try {
      const answer = await submit('/api/lessons/runs', 'POST', { ...this.of, at_ms: this.from_ms, acts: this.acts });
      if (asked !== this.#asked) return true;
      this.scenario = answer.scenario;
      this.says.textContent = '';
      this.onRun(answer.run, at_ms, this.acts.length > 0);
      return true;
    } catch (error) {
      this.says.textContent = messageOf(error, 'This could not be played.');
      return false;
    } finally {
      for (const button of this.root.querySelectorAll('button')) button.disabled = false;
    }
  }

  async #open() {
    try {
      const { url } = await submit('/api/runs', 'POST', { scenario: this.scenario });
      location.href = url;
    } catch (error) {
      this.says.textContent = messageOf(error, 'The run could not be started.');
    }
  }
}
