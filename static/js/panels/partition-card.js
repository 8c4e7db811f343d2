/**
 * The partition that the reader chose: who owned it, when, and for how long nobody did.
 *
 * @typedef {Pick<import('../frame/spans.js').Spans, 'spans' | 'bare'>} Spans
 * @import {Cast} from '../frame/cast.js'
 * @import {Labels} from '../frame/labels.js'
 */

import { h } from '../shared/dom.js';
import { duration } from '../frame/words.js';

/** More stretches than this are the newest ones. */
const LINES_MOST = 60;

/**
 * The stretches of one partition in order, those without an owner among them.
 *
 * @param {Spans} spans
 * @param {string} key
 * @param {string} [own] what is said of who has it
 */
function historyOf(spans, key, own = 'owns it') {
  const owned = spans.spans
    .filter((span) => span.key === key && span.mode !== 'want')
    .map((span) => ({ ...span, says: span.mode === 'revoking' ? 'is revoking it' : own, bare: false }));
  const bare = spans.bare
    .filter((stretch) => stretch.key === key)
    .map((stretch) => ({ ...stretch, lane: '', says: 'nobody', bare: true }));
  return [...owned, ...bare].sort((a, b) => a.from - b.from);
}

/**
 * @param {HTMLElement} root
 * @param {object} what
 * @param {Spans} what.spans
 * @param {string | null} what.key
 * @param {Cast} what.cast
 * @param {Labels} what.labels
 * @param {boolean} [what.rounded] whether times are those of columns of several events
 * @param {() => void} what.onClose
 */
export function showPartition(root, { spans, key, cast, labels, rounded = false, onClose }) {
  root.hidden = key === null;
  if (key === null) {
    root.replaceChildren();
    return;
  }
  const lines = historyOf(spans, key, labels.having.says).slice(-LINES_MOST);
  root.replaceChildren(
    h(
      'div.xh',
      `${labels.having.who === 'owner' ? 'Owners' : 'Readers'} of ${labels.partition(key)}`,
      h('button.btn.sm.bare.num', { onclick: onClose, 'aria-label': 'Close' }, 'Esc'),
    ),
    h('p.why.num', { 'data-part': 'consumed', hidden: true }),
    h(
      'ul.owners',
      lines.map((line) => {
        const lane = line.bare ? null : cast.lanes.find((candidate) => candidate.key === line.lane);
        const length = line.to_ms === null ? 'until the end' : duration(line.to_ms - line.from_ms);
        return h(
          'li',
          h(
            'a',
            { href: `?at=${line.from}`, 'data-at': line.from, class: line.bare ? 'bare' : null },
            lane ? h('span.who', { 'data-hue': lane.hue }, lane.badge) : null,
            ` ${lane ? `${lane.name} ${line.says}` : labels.having.none}, ${length}`,
          ),
        );
      }),
    ),
    rounded ? h('p.why', 'Times are rounded: this timeline has more events than are looked at here.') : '',
  );
}
