/**
 * What can be changed of one member: its rack, what it reads, whether it leaves, whether it is there at all.
 *
 * @import {Change, Sheet} from './types'
 */

import { h, seg } from '../shared/dom.js';
import { hueOf, labelOf, markIcon } from './people.js';

/** Topics with a box each; of more the first ones. */
const TOPICS_MOST = 24;

export class MemberCard {
  #place = -1;

  /** @param {{dialog: HTMLDialogElement, onChange: (change: Change) => void}} parts */
  constructor({ dialog, onChange }) {
    this.dialog = dialog;
    this.onChange = onChange;
  }

  /** @param {Sheet} sheet @param {number} place */
  open(sheet, place) {
    this.#place = place;
    this.show(sheet);
    this.dialog.showModal();
  }

  /** After a change. @param {Sheet} sheet */
  show(sheet) {
    const member = sheet.members[this.#place];
    if (!member) {
      if (this.dialog.open) this.dialog.close();
      return;
    }
    const place = this.#place;
    const held = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
    const there = sheet.members.filter((each) => !each.joins).length;
    const racks = ['None', 'a', 'b', 'c'].map((rack) => /** @type {const} */ ([rack, rack]));
    const { topics } = sheet;
    this.dialog.replaceChildren(
      h(
        'h2',
        { id: 'member-title' },
        h('span.who', { 'data-hue': hueOf(place) }, labelOf(member.name)),
        ` Member ${member.name}${member.joins ? ', joins' : ''}`,
      ),
      h(
        'div.asked',
        h('span', 'Rack'),
        seg(
          'Rack',
          racks,
          member.rack ?? 'None',
          (rack) => this.onChange({ what: 'rack', member: place, to: rack === 'None' ? null : rack }),
          'rack',
        ),
      ),
      h(
        'fieldset.reads',
        h('legend', 'Reads'),
        ...topics.slice(0, TOPICS_MOST).map(({ name }, topic) =>
          this.#box(`reads-${topic}`, [markIcon(topic), name], member.topics.includes(topic), (to) => ({
            what: 'subscribe',
            member: place,
            topic,
            to,
          })),
        ),
        topics.length > TOPICS_MOST
          ? h(
              'p.quiet',
              `and ${member.topics.filter((topic) => topic >= TOPICS_MOST).length} of ${topics.length - TOPICS_MOST} more topics`,
            )
          : null,
      ),
      member.joins
        ? ''
        : this.#box('leaves', ['Leaves in this event'], member.leaves, (to) => ({ what: 'leaves', member: place, to })),
      h(
        'div.acts',
        h(
          'button.btn',
          {
            disabled: !member.joins && there <= 1,
            onclick: () => {
              this.dialog.close();
              this.onChange({ what: 'remove', member: place });
            },
          },
          'Remove it',
        ),
        h('button.btn.go', { onclick: () => this.dialog.close() }, 'Done'),
      ),
    );
    if (held)
      /** @type {HTMLElement | null} */ (this.dialog.querySelector(`[data-key="${CSS.escape(held)}"]`))?.focus();
  }

  /** @param {string} key @param {(Node | string)[]} label @param {boolean} checked @param {(to: boolean) => Change} change */
  #box(key, label, checked, change) {
    return h(
      'label.box',
      h('input', {
        type: 'checkbox',
        'data-key': key,
        checked,
        onchange: (/** @type {any} */ event) => this.onChange(change(event.target.checked)),
      }),
      ...label,
    );
  }
}
