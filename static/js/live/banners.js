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

  /** @param {string} name @param {'' | 'warn' | 'bad'} kind @param {...import('../shared/dom.js').Child} children */
  show(name, kind, ...children) {
    const node = h(
      'div',
      { class: `banner ${kind}`, role: kind === 'bad' ? 'alert' : 'status', 'data-banner': name },
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

  /**
   * The state of the run or import behind the timeline.
   *
   * @param {Meta} meta
   * @param {number} entries
   * @param {() => void} onCancel
   */
  status(meta, entries, onCancel) {
    const why = meta.problem ? ` ${meta.problem}` : '';
    const what = meta.source === 'import' ? 'import' : 'run';
    if (meta.status === 'running' && meta.source === 'live') return;
    if (meta.status === 'running' && meta.waits) {
      this.show(
        'status',
        'warn',
        h('b', 'Waiting.'),
        h('span', meta.waits),
        h('span.grow'),
        h('button.btn.sm', { onclick: onCancel }, 'Cancel'),
      );
    } else if (meta.status === 'running') {
      const sentence = `${counted(entries, 'entry', 'entries')} so far; what is here can be played.`;
      // The count grows several times a second: a button that is made again each time swallows clicks.
      const count = this.#shown.get('status')?.querySelector('[data-count]');
      if (count) {
        count.textContent = sentence;
        return;
      }
      this.show(
        'status',
        '',
        h('b', meta.source === 'import' ? 'Reading' : 'Running'),
        h('span', { 'data-count': '' }, sentence),
        h('span.grow'),
        h('button.btn.sm', { onclick: onCancel }, 'Cancel'),
      );
    } else if (meta.status === 'failed') {
      this.show(
        'status',
        'bad',
        h('b', `This ${what} failed.`),
        `${why} ${entries ? 'Everything before it is here.' : ''}`.trim(),
      );
    } else if (meta.status === 'interrupted') {
      this.show(
        'status',
        'warn',
        h('b', `This ${what} was interrupted.`),
        `${why} Everything before that is here.`.trim(),
      );
    } else if (meta.status === 'cancelled') {
      this.show('status', 'warn', h('b', `This ${what} was cancelled.`), 'Everything before that is here.');
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
    if (text && shown?.querySelector('b')?.textContent === title) {
      // Its ages grow each second: a banner that is made again is read out again.
      text.textContent = words;
      return;
    }
    this.show('status', kind, h('b', title), h('span', { 'data-source': '', 'aria-live': 'off' }, words));
  }

  /** @param {Meta} meta */
  gaps(meta) {
    const gaps = meta.summary.gaps ?? [];
    if (!gaps.length) {
      this.hide('gaps');
      return;
    }
    const first = gaps[0];
    const at = typeof first.sequence === 'number' ? first.sequence : null;
    this.show(
      'gaps',
      'warn',
      h('b', `${counted(gaps.length, 'gap')} in this log.`),
      typeof first.says === 'string' ? `${first.says}.` : 'What happened there is not known.',
      at === null ? null : h('a', { href: `?at=${at}`, 'data-at': at }, 'Go there'),
    );
  }

  /** What no healthy group does: a sentence, and the way to it. @param {Violation[]} violations */
  violations(violations) {
    const [first] = violations;
    if (!first) {
      this.hide('violations');
      return;
    }
    const sentence =
      violations.length > 1
        ? `This run breaks rules of the protocol ${violations.length} times.`
        : 'This run breaks a rule of the protocol.';
    this.show(
      'violations',
      'bad',
      h('b', sentence),
      h(
        'a',
        { href: `?at=${first.sequence}`, 'data-at': first.sequence },
        violations.length > 1 ? 'Go to the first' : 'Go there',
      ),
      first.proof.length
        ? h('a', { href: `?at=${first.proof[0]}`, 'data-at': first.proof[0] }, 'Where it begins')
        : null,
    );
  }

  /** Where a broker and the simulated coordinator part. @param {Partial<import('../types').Summary>} summary */
  differences(summary) {
    const found = (summary.findings ?? []).filter(({ kind }) => kind === 'difference');
    if (!found.length) {
      this.hide('differences');
      return;
    }
    const count = Number(found[0].count);
    const at = found[0].sequences[0];
    this.show(
      'differences',
      'warn',
      h('b', `The simulated coordinator differs ${count > 1 ? `${count} times` : 'once'}.`),
      'The board shows what the broker recorded; Details show both.',
      h('a', { href: `?at=${at}`, 'data-at': at }, count > 1 ? 'Go to the first' : 'Go there'),
    );
  }

  /** A page with an incident in it is not what was written. @param {string[]} parts */
  changed(parts) {
    const named =
      parts.length > PARTS_NAMED
        ? `${parts.slice(0, PARTS_NAMED).join(', ')} and ${parts.length - PARTS_NAMED} more`
        : parts.join(', ');
    this.show(
      'changed',
      'bad',
      h('b', 'This file was changed after it was written.'),
      `What changed: ${named}. Do not rely on what it shows.`,
    );
  }

  /** @param {Link} link @param {() => void} onRetry */
  link(link, onRetry) {
    if (link === 'lost') {
      this.show(
        'link',
        'warn',
        h('b', 'The connection was lost.'),
        'New entries will come when it is back; all that is here can be played. After a new start of the server, open the address that it prints.',
        h('button.btn.sm', { onclick: onRetry }, 'Connect now'),
      );
    } else if (link !== 'connecting') {
      this.hide('link');
    }
  }
}
