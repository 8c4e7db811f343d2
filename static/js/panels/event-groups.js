/**
 * The list of events of a crowd: like events are one line, "995 members move to epoch 12 (0.4 s)", which opens into its
 * list. Only the lines that can be seen exist.
 *
 * @import {EventGroup, Moment} from '../types'
 * @typedef {{group: EventGroup, moment: Moment | null, more: boolean}} Line
 */

import { h } from '../shared/dom.js';
import { rem } from '../shared/text-size.js';
import { VirtualList } from '../shared/virtual-list.js';
import { countWhile } from '../shared/sorted.js';
import { grouped } from '../shared/numbers.js';
import { duration, shortened, when } from '../frame/words.js';

const LINE = 44;
const BEYOND = 8;
/** How wide a digit of a time is. */
const LETTER = 6.7;

/** A group's text, with how long it took. @param {EventGroup} group */
function groupWords({ says: text, count, from_ms, to_ms }) {
  return count > 1 && to_ms > from_ms ? `${text} (${duration(to_ms - from_ms)})` : text;
}

export class EventGroups {
  /** @type {EventGroup[]} */
  #groups = [];
  /** @type {Line[]} */
  #lines = [];
  /** Lists that are open, by the first moment of their group. @type {Map<number, Moment[]>} */
  #open = new Map();
  #sequence = -1;
  #start = 0;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {HTMLElement} parts.note shows what the list leaves out
   * @param {import('../frame/cast.js').Cast} parts.cast
   * @param {(group: EventGroup, after?: number) => Promise<Moment[]>} parts.eventsOf
   * @param {(sequence: number) => void} parts.onSeek
   */
  constructor(parts) {
    this.parts = parts;
    const { root } = parts;
    this.inner = h('div.lines.groups', { role: 'list' });
    root.append(this.inner);
    this.lines = new VirtualList({
      root,
      inner: this.inner,
      line: LINE,
      beyond: BEYOND,
      key: 'at',
      draw: (from, to) => this.#draw(from, to),
    });
    this.inner.addEventListener('click', (event) => this.#click(event));
  }

  /** @param {EventGroup[]} groups in the order of their first moments @param {number} more @param {number} start_ms */
  load(groups, more, start_ms) {
    this.#groups = groups;
    this.#start = start_ms;
    this.parts.note.textContent = more
      ? `${grouped(more)} earlier events are not in this list; the map shows them.`
      : '';
    this.parts.note.hidden = !more;
    const longest = groups.reduce((most, group) => Math.max(most, when(group.from_ms, start_ms).length), 0);
    this.inner.style.setProperty('--number', rem(44));
    this.inner.style.setProperty('--when', rem(Math.max(44, longest * LETTER)));
    this.inner.style.setProperty('--who', '0px');
    this.#lay();
  }

  /** @param {number} sequence where the playhead is */
  move(sequence) {
    this.#sequence = sequence;
    this.lines.reveal(this.#current());
    this.lines.draw();
  }

  /** The line in which the playhead is: the last one that began. */
  #current() {
    return countWhile(this.#lines, ({ moment, group }) => (moment?.sequence ?? group.first) <= this.#sequence) - 1;
  }

  #lay() {
    this.#lines = this.#groups.flatMap((group) => {
      const moments = this.#open.get(group.first);
      const head = { group, moment: null, more: false };
      if (!moments) return [head];
      const rest = moments.length < group.count ? [{ group, moment: null, more: true }] : [];
      return [head, ...moments.map((moment) => ({ group, moment, more: false })), ...rest];
    });
    this.lines.count = this.#lines.length;
  }

  /** @param {MouseEvent} event */
  async #click(event) {
    const target = /** @type {Element} */ (event.target);
    const node = /** @type {HTMLElement | null} */ (target.closest('.ev'));
    const line = node && this.#lines[Number(node.dataset.line)];
    if (!line) return;
    if (line.more || target.closest('.opens')) await this.#toggle(line);
    else this.parts.onSeek(line.moment?.sequence ?? line.group.first);
  }

  /** @param {Line} line */
  async #toggle({ group, more }) {
    const here = this.#open.get(group.first);
    if (here && !more) this.#open.delete(group.first);
    else {
      const found = await this.parts.eventsOf(group, here?.[here.length - 1]?.sequence);
      this.#open.set(group.first, [...(here ?? []), ...found]);
    }
    this.#lay();
  }

  /** @param {number} from @param {number} to */
  #draw(from, to) {
    const current = this.#current();
    const nodes = [];
    for (let index = from; index < to; index += 1) nodes.push(this.#line(index, current));
    return nodes;
  }

  /** @param {number} index @param {number} current */
  #line(index, current) {
    const { group, moment, more } = this.#lines[index];
    const open = this.#open.has(group.first);
    const text = more
      ? `${grouped(group.count - (this.#open.get(group.first)?.length ?? 0))} more`
      : moment
        ? moment.says
        : groupWords(group);
    const at_ms = moment?.at_ms ?? group.from_ms;
    const name = ['ev', index > current && 'future', group.problem && !moment && 'bad', moment && 'inside'];
    const counted = !moment && !more && group.count > 1;
    const node = h(
      'div',
      { class: name, role: 'listitem', 'data-line': index },
      h(
        'span',
        counted
          ? h(
              'button.opens',
              {
                'aria-expanded': String(open),
                'data-at': `open-${group.first}`,
                title: open ? 'Close the list' : 'Open the list',
                'aria-label': `${open ? 'Close' : 'Open'} the list: ${text}`,
              },
              open ? '▾' : '▸',
            )
          : null,
      ),
      h('span.num', counted ? `×${grouped(group.count)}` : ''),
      h('span.num', more ? '' : when(at_ms, this.#start)),
      h('span'),
      h(
        'button.tx',
        { 'data-at': `${more ? 'more' : 'go'}-${moment?.sequence ?? group.first}`, title: text },
        more ? null : h('span.sr', `${when(at_ms, this.#start)}: `),
        shortened(text),
      ),
    );
    if (index === current) node.setAttribute('aria-current', 'step');
    node.style.top = rem(index * LINE);
    return node;
  }
}
