/**
 * The rows in which a group is built: members, topics, presets, the event. It only passes on what was clicked; the server
 * knows what that makes of the group.
 *
 * @import {Change, Sheet} from './types'
 */

import { h, redrawn, seg } from '../shared/dom.js';
import { counted, grouped } from '../shared/numbers.js';
import { hueOf, labelOf, markIcon } from './people.js';

/** Members and topics that stand there one by one; the others are counted. */
const CHIPS_MOST = 16;
const TOPICS_MOST = 6;

/** @type {{what: string, label: string, choices: [string, string][]}[]} */
const AXES = [
  {
    what: 'sizes',
    label: 'Sizes',
    choices: [
      ['equal', 'Equal'],
      ['skewed', 'Skewed'],
    ],
  },
  {
    what: 'subscriptions',
    label: 'Subscriptions',
    choices: [
      ['same', 'Homogeneous'],
      ['disjoint', 'Disjoint'],
      ['nested', 'Nested'],
    ],
  },
  {
    what: 'racks',
    label: 'Racks',
    choices: [
      ['none', 'None'],
      ['three', 'Three'],
    ],
  },
];

/** @type {typeof AXES} */
const HAPPENS = [
  {
    what: 'before',
    label: 'Previous assignment',
    choices: [
      ['range', 'by range'],
      ['own', 'by each assignor'],
    ],
  },
  {
    what: 'event',
    label: 'Event',
    choices: [
      ['full', 'Full'],
      ['stable', 'Stable'],
      ['join', 'Join'],
      ['leave', 'Leave'],
      ['grow', 'Grow'],
    ],
  },
];

/** @type {{[event: string]: string}} */
const COUNTED = { join: 'members who join', leave: 'members who leave', grow: 'partitions that are added' };

export class Setup {
  /** @param {{group: HTMLElement, presets: HTMLElement, happens: HTMLElement, shape: HTMLSelectElement, own: HTMLElement, link: HTMLElement, onChange: (change: Change) => void, onMember: (place: number) => void}} parts */
  constructor(parts) {
    this.parts = parts;
    const { shape, onChange } = parts;
    shape.addEventListener('change', () => {
      const [members, topics, partitions] = shape.value.split(',').map(Number);
      if (topics) onChange({ what: 'shape', members, topics, partitions });
    });
  }

  /** @param {Sheet} sheet */
  show(sheet) {
    redrawn(() => {
      this.parts.group.replaceChildren(this.#members(sheet), this.#topics(sheet));
      this.parts.presets.replaceChildren(...AXES.map((axis) => this.#axis(sheet, axis)));
      this.parts.happens.replaceChildren(...HAPPENS.map((axis) => this.#axis(sheet, axis)));
    });
    this.#shape(sheet);
    this.parts.link.textContent = `/laboratory?${sheet.query}`;
  }

  /** @param {Sheet} sheet */
  #members(sheet) {
    const { members } = sheet;
    const few = members.length <= CHIPS_MOST;
    // Who comes or goes is always among those that are shown.
    const first = members.map((_, place) => place).filter((place) => few || place < CHIPS_MOST - 4);
    const acting = members
      .map((_, place) => place)
      .filter((place) => !few && place >= CHIPS_MOST - 4 && (members[place].joins || members[place].leaves))
      .slice(0, 4);
    const left = members.length - first.length - acting.length;
    const there = members.filter((member) => !member.joins).length;
    return h(
      'div.grp',
      ...first.map((place) => this.#chip(sheet, place)),
      left ? h('span.quiet.nowrap', `${grouped(left)} more`) : null,
      ...acting.map((place) => this.#chip(sheet, place)),
      this.#press('member-off', '−', 'One member less', there <= 1, () =>
        this.parts.onChange({ what: 'members', by: -1 }),
      ),
      this.#press('member-on', '+', 'One member more', false, () => this.parts.onChange({ what: 'members', by: 1 })),
    );
  }

  /** @param {Sheet} sheet @param {number} place */
  #chip(sheet, place) {
    const { name, rack, joins, leaves } = sheet.members[place];
    return h(
      'button',
      {
        class: `mem${joins ? ' new' : ''}${leaves ? ' gone' : ''}`,
        'data-key': `member-${place}`,
        title: `${name}: rack, topics, leave, remove`,
        onclick: () => this.parts.onMember(place),
      },
      h('span.who', { 'data-hue': hueOf(place), 'aria-hidden': 'true' }, labelOf(name)),
      // Read out as one sentence; what is seen is short.
      h('span.sr', `Member ${name}${rack ? `, rack ${rack}` : ''}${joins ? ', joins' : ''}${leaves ? ', leaves' : ''}`),
      ...[rack, joins && 'joins', leaves && 'leaves'].map((one) =>
        one ? h('span', { 'aria-hidden': 'true' }, one) : null,
      ),
    );
  }

  /** @param {Sheet} sheet */
  #topics(sheet) {
    const { topics } = sheet;
    const grown = sheet.case.grown;
    const shown = topics.slice(0, topics.length <= TOPICS_MOST + 1 ? topics.length : TOPICS_MOST);
    return h(
      'div.grp',
      ...shown.map(({ name, partitions, added }, place) =>
        h(
          'span.stepper',
          h('span', { title: name }, markIcon(place), name.length > 18 ? `${name.slice(0, 17)}…` : name),
          h('b.num', partitions - added, added ? h('i', `+${added}`) : null),
          this.#step(`topic-${place}-off`, '−', `${name}: one partition less`, partitions - added <= 1, {
            what: 'partitions',
            topic: place,
            by: -1,
          }),
          this.#step(`topic-${place}-on`, '+', `${name}: one partition more`, false, {
            what: 'partitions',
            topic: place,
            by: 1,
          }),
        ),
      ),
      topics.length > shown.length ? h('span.quiet.nowrap', `${topics.length - shown.length} more topics`) : null,
      this.#press(
        'topics-off',
        '−',
        `One topic less${grown && grown.topic === topics.length - 1 ? '; it is the one that grows' : ''}`,
        topics.length <= 1,
        () => this.parts.onChange({ what: 'topics', by: -1 }),
      ),
      this.#press('topics-on', '+', 'One topic more', false, () => this.parts.onChange({ what: 'topics', by: 1 })),
    );
  }

  /** @param {Sheet} sheet @param {{what: string, label: string, choices: [string, string][]}} axis */
  #axis(sheet, { what, label, choices }) {
    const selected = sheet.axes[/** @type {keyof Sheet['axes']} */ (what)];
    /** @type {[string, string][]} */
    const offered = what === 'before' && sheet.case.given ? [...choices, ['given', 'as recorded']] : choices;
    return h(
      'div.grp',
      h('span.lb', label),
      seg(label, offered, selected, (to) => this.parts.onChange({ what, to }), what),
      what === 'event' ? this.#count(sheet) : null,
      what === 'before' && sheet.case.before === 'own' ? this.#seed(sheet) : null,
    );
  }

  /** How many join, leave, or are added. @param {Sheet} sheet */
  #count(sheet) {
    const { event, joining, leaving, grown, members } = sheet.case;
    if (!(event in COUNTED)) return null;
    const count = event === 'join' ? joining.length : event === 'leave' ? leaving.length : (grown?.by ?? 0);
    const most = event === 'leave' ? members.length - 1 : Infinity;
    const set = (/** @type {number} */ to) => ({ what: 'event', to: event, count: to });
    return h(
      'span.stepper',
      h('b.num', { title: COUNTED[event] }, grouped(count), h('span.sr', ` ${COUNTED[event]}`)),
      this.#step('count-off', '−', `One less of ${COUNTED[event]}`, count <= 1, set(count - 1)),
      this.#step('count-on', '+', `One more of ${COUNTED[event]}`, count >= most, set(count + 1)),
    );
  }

  /** @param {Sheet} sheet */
  #seed(sheet) {
    const { seed } = sheet.case;
    const set = (/** @type {number} */ to) => ({ what: 'before', to: 'own', seed: to });
    return h(
      'span.stepper',
      { title: 'Who came and went before the event is drawn from it' },
      h('span', 'seed'),
      h('b.num', seed),
      this.#step('seed-off', '−', 'The seed before', seed <= 0, set(seed - 1)),
      this.#step('seed-on', '+', 'The next seed', false, set(seed + 1)),
    );
  }

  /** @param {Sheet} sheet */
  #shape(sheet) {
    const members = sheet.members.filter((member) => !member.joins).length;
    const partitions = sheet.topics.reduce((sum, topic) => sum + topic.partitions - topic.added, 0);
    const value = `${members},${sheet.topics.length},${partitions}`;
    const known = [...this.parts.shape.options].some((option) => option.value === value);
    const topics = sheet.topics.length;
    this.parts.own.textContent = [
      counted(members, 'member'),
      counted(topics, 'topic'),
      counted(partitions, 'partition'),
    ].join(', ');
    this.parts.own.hidden = known;
    this.parts.shape.value = known ? value : '';
  }

  /** @param {string} key @param {string} sign @param {string} label @param {boolean} disabled @param {Change} change */
  #step(key, sign, label, disabled, change) {
    return h(
      'button',
      { 'data-key': key, 'aria-label': label, title: label, disabled, onclick: () => this.parts.onChange(change) },
      sign,
    );
  }

  /** @param {string} key @param {string} sign @param {string} label @param {boolean} disabled @param {() => void} onclick */
  #press(key, sign, label, disabled, onclick) {
    return h('button.btn.sm.sq', { 'data-key': key, 'aria-label': label, title: label, disabled, onclick }, sign);
  }
}
