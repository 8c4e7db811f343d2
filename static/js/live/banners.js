/**
 * What is missing or wrong, over the board and never in its place.
 *
 * @import {Meta} from '../types'
 * @import {Link} from './feed.js'
 * @import {Violation} from '../frame/hardships.js'
 */

import { h } from '../shared/dom.js';
import { counted } from '../shared/numbers.js';

/** Parts of a changed file that are named. */
const PARTS_NAMED = 3;

export class Banners {
  /** @type {Map<string, HTMLElement>} */
  #shown = new Map();

  /** @param {HTMLElement} root */
  constructor(root) {
    this.root = root;
  }

  /** @param {string} name @param {'' | 'warn' | 'bad'} kind @param {string} head in bold @param {...import('../shared/dom.js').Child} children */
  show(name, kind, head, ...children) {
    const node = h(
      'div',
      { class: `banner ${kind}`, role: kind === 'bad' ? 'alert' : 'status', 'data-banner': name },
      head ? h('b', head) : null,
      ...children,
    );
    const old = this.#shown.get(name);
    if (old) old.replaceWith(node);
    else this.root.append(node);
    this.#shown.set(name, node);
  }

  /** @param {string} name */
  hide(name) {
    this.#shown.get(name)?.remove();
    this.#shown.delete(name);
  }

  /** The state of the run or import behind the timeline. @param {Meta} meta @param {number} entries @param {() => void} onCancel */
  status(meta, entries, onCancel) {
    const why = meta.problem ?? '';
    const what = meta.source === 'import' ? 'import' : 'run';
    if (meta.status === 'running' && meta.source === 'live') return;
    const cancel = [h('span.grow'), h('button.btn.sm', { onclick: onCancel }, 'Cancel')];
    if (meta.status === 'running' && meta.waits) {
      this.show('status', 'warn', 'Waiting.', h('span', meta.waits), ...cancel);
    } else if (meta.status === 'running') {
      const sentence = `${counted(entries, 'entry', 'entries')} so far; what is here can be played.`;
      // The count grows several times a second: a button that is made again each time swallows clicks.
      const count = this.#shown.get('status')?.querySelector('[data-count]');
      if (count) count.textContent = sentence;
      else {
        const doing = meta.source === 'import' ? 'Reading' : 'Running';
        this.show('status', '', doing, h('span', { 'data-count': '' }, sentence), ...cancel);
      }
    } else if (meta.status === 'failed') {
      this.show(
        'status',
        'bad',
        `This ${what} failed.`,
        `${why} ${entries ? 'Everything before it is here.' : ''}`.trim(),
      );
    } else if (meta.status === 'interrupted') {
      this.show('status', 'warn', `This ${what} was interrupted.`, `${why} Everything before that is here.`.trim());
    } else if (meta.status === 'cancelled') {
      this.show('status', 'warn', `This ${what} was cancelled.`, 'Everything before that is here.');
    } else {
      this.hide('status');
    }
  }

  /**
   * How the source of a live group is. It goes on as long as its cluster is watched: there is nothing to cancel here.
   *
   * @param {import('./live-source.js').SourceSays} source
   */
  source({ kind, title, says: words }) {
    const shown = this.#shown.get('status');
    const text = shown?.querySelector('[data-source]');
    // Its ages grow each second: a banner that is made again is read out again.
    if (text && shown?.querySelector('b')?.textContent === title) text.textContent = words;
    else this.show('status', kind, title, h('span', { 'data-source': '', 'aria-live': 'off' }, words));
  }

  /** @param {Meta} meta */
  gaps(meta) {
    const gaps = meta.summary.gaps ?? [];
    const [first] = gaps;
    if (!first) return this.hide('gaps');
    this.show(
      'gaps',
      'warn',
      `${counted(gaps.length, 'gap')} in this log.`,
      typeof first.says === 'string' ? `${first.says}.` : 'What happened there is not known.',
      typeof first.sequence === 'number' ? wayTo(first.sequence, 'Go there') : null,
    );
  }

  /** What no healthy group does: a sentence, and the way to it. @param {Violation[]} violations */
  violations(violations) {
    const [first] = violations;
    if (!first) return this.hide('violations');
    const many = violations.length > 1;
    this.show(
      'violations',
      'bad',
      many
        ? `This run breaks rules of the protocol ${violations.length} times.`
        : 'This run breaks a rule of the protocol.',
      wayTo(first.sequence, many ? 'Go to the first' : 'Go there'),
      first.proof.length ? wayTo(first.proof[0], 'Where it begins') : null,
    );
  }

  /** Where a broker and the simulated coordinator part. @param {Partial<import('../types').Summary>} summary */
  differences(summary) {
    const [first] = (summary.findings ?? []).filter(({ kind }) => kind === 'difference');
    if (!first) return this.hide('differences');
    const count = Number(first.count);
    this.show(
      'differences',
      'warn',
      `The simulated coordinator differs ${count > 1 ? `${count} times` : 'once'}.`,
      'The board shows what the broker recorded; Details show both.',
      wayTo(first.sequences[0], count > 1 ? 'Go to the first' : 'Go there'),
    );
  }

  /** A page with an incident in it is not what was written. @param {string[]} parts */
  changed(parts) {
    const more = parts.length - PARTS_NAMED;
    const named = parts.slice(0, PARTS_NAMED).join(', ') + (more > 0 ? ` and ${more} more` : '');
    const sentence = `What changed: ${named}. Do not rely on what it shows.`;
    this.show('changed', 'bad', 'This file was changed after it was written.', sentence);
  }

  /** @param {Link} link @param {() => void} onRetry */
  link(link, onRetry) {
    if (link === 'lost') {
      this.show(
        'link',
        'warn',
        'The connection was lost.',
        'New entries will come when it is back; all that is here can be played. After a new start of the server, open the address that it prints.',
        h('button.btn.sm', { onclick: onRetry }, 'Connect now'),
      );
    } else if (link !== 'connecting') {
      this.hide('link');
    }
  }
}

/** A link to an entry of this timeline. @param {number} sequence @param {string} words */
const wayTo = (sequence, words) => h('a', { href: `?at=${sequence}`, 'data-at': sequence }, words);
