/**
 * The inspector: what went over the wire and into the log at this moment, under Kafka's own field names.
 *
 * @import {Entry, Frame, Moment} from '../types'
 * @import {Rest} from '../timeline/timeline.js'
 * @import {Cast} from '../frame/cast.js'
 * @typedef {'exchange' | 'records' | 'state'} View
 */

import { bytesInPlace } from '../bytes/in-place.js';
import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { counted, grouped } from '../shared/numbers.js';
import { fieldsOf, recordName } from './fields.js';
import { stateView } from './state-view.js';
import { placeWords } from '../timeline/playhead-words.js';
import { duration } from '../frame/words.js';

/** Entries of moments that were looked at; an old one is dropped for a new one. */
const KEPT = 50;
/** What went over the wire first, then what it left in the log, then what it moved. @type {{[kind: string]: number}} */
const RANK = {
  request: 0,
  response: 1,
  callback: 2,
  fault: 2,
  record: 3,
  commits: 3,
  observation: 3,
  note: 4,
  timer: 5,
};
/** While somebody scrubs, nothing is asked for. */
const PAUSE_MS = 120;

/** A new target of a thousand members is a thousand records: so many entries of a moment are shown, and as many more when asked. */
const SHOWN_MOST = 40;
/** Of a moment of more, its last entries are shown, too: the answer is among them. */
const LAST_SHOWN = 5;

export class Inspector {
  /** @type {Map<number, Entry[]>} */
  #kept = new Map();
  #timer = /** @type {any} */ (null);
  /** @type {Rest | null} */
  #rest = null;
  /** What is drawn: the same is not drawn again, so that a record that was opened stays open. */
  #drawn = '';

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {HTMLElement} parts.range shows which entries are shown
   * @param {Cast} parts.cast
   * @param {string} parts.timeline its id
   * @param {(from: number, to: number) => Promise<Entry[]>} parts.fetchEntries
   * @param {((sequence: number) => Promise<import('../bytes/types').RecordBytes>) | null} parts.fetchBytes of a record; null where they are not kept
   * @param {boolean} parts.inspects whether there is an inspector that bytes can be opened in
   * @param {(sequence: number) => Moment | null} parts.momentAt
   * @param {(moment: Moment) => import('../types').Change[]} parts.changesOf
   * @param {(moment: Moment) => number | null} parts.causeOf
   * @param {(moment: Moment) => number | null} parts.numberOf of a step
   */
  constructor(parts) {
    this.parts = parts;
    /** @type {View} */
    this.view = 'exchange';
  }

  /** @param {View} view */
  show(view) {
    this.view = view;
    if (this.#rest) this.render(this.#rest);
  }

  /** @param {Rest} rest */
  render(rest) {
    this.#rest = rest;
    clearTimeout(this.#timer);
    const { moment } = rest;
    if (!moment) {
      this.parts.range.textContent = '';
      this.#drawn = '';
      this.parts.root.replaceChildren(
        h('p.why', 'Nothing has happened yet. Press ', h('kbd', '→'), ' for the first event.'),
      );
      return;
    }
    this.parts.range.textContent =
      moment.first === moment.sequence ? `entry ${moment.first}` : `entries ${moment.first}–${moment.sequence}`;
    if (this.view === 'state') {
      this.#drawn = '';
      const { root, cast, changesOf } = this.parts;
      const name = (/** @type {string} */ id) => (cast.knows(id) ? cast.name(id) : id);
      root.replaceChildren(...stateView(rest.frame, changesOf(moment), name, table));
      return;
    }
    const kept = this.#kept.get(moment.sequence);
    this.#head = SHOWN_MOST;
    if (kept) {
      this.#draw(rest, moment, kept);
      return;
    }
    this.#timer = setTimeout(() => this.#fetch(rest, moment), PAUSE_MS);
  }

  /** @param {Rest} rest @param {Moment} moment */
  async #fetch(rest, moment) {
    try {
      const entries = await this.#shown(moment);
      this.#kept.set(moment.sequence, entries);
      if (this.#kept.size > KEPT) this.#kept.delete(/** @type {number} */ (this.#kept.keys().next().value));
      if (this.#awaits(rest)) this.#draw(rest, moment, entries);
    } catch (error) {
      if (!this.#awaits(rest)) return;
      this.#drawn = '';
      this.parts.root.replaceChildren(
        h(
          'p.why',
          `These entries could not be fetched. ${messageOf(error, '')} `,
          h('button', { onclick: () => this.#fetch(rest, moment) }, 'Try again'),
        ),
      );
    }
  }

  /** Whether entries that were fetched are still wanted: the state may have been chosen meanwhile. @param {Rest} rest */
  #awaits(rest) {
    return this.#rest === rest && this.view !== 'state';
  }

  /** How many of a moment's first entries are shown. */
  #head = SHOWN_MOST;

  /** @param {Moment} moment @returns {Promise<Entry[]>} */
  async #shown({ first, sequence }) {
    const cut = first + this.#head - 1;
    if (sequence - cut <= LAST_SHOWN) return this.parts.fetchEntries(first, sequence);
    const [head, tail] = await Promise.all([
      this.parts.fetchEntries(first, cut),
      this.parts.fetchEntries(sequence - LAST_SHOWN + 1, sequence),
    ]);
    return [...head, ...tail];
  }

  /** @param {Rest} rest @param {Moment} moment @param {Entry[]} entries */
  #draw(rest, moment, entries) {
    const nodes = [];
    const sequence = this.parts.causeOf(moment);
    const drawn = `${moment.sequence} ${this.view} ${sequence} ${entries.length}`;
    if (drawn === this.#drawn) return;
    this.#drawn = drawn;
    const cause = sequence === null ? null : this.parts.momentAt(sequence);
    if (cause && cause.sequence < moment.first) {
      nodes.push(
        h(
          'p.why',
          `Because of ${placeWords(this.parts.numberOf(cause), cause.sequence)}: `,
          h('a', { href: `?at=${cause.sequence}`, 'data-at': cause.sequence }, cause.says),
        ),
      );
    }
    const shown =
      this.view === 'records' ? entries.filter(({ kind }) => kind === 'record' || kind === 'commits') : entries;
    const ranked = [...shown].sort((a, b) => (RANK[a.kind] ?? 2) - (RANK[b.kind] ?? 2));
    for (const entry of ranked) nodes.push(...this.#entry(entry, rest.frame));
    const left = moment.sequence - moment.first + 1 - entries.length;
    if (left > 0) {
      nodes.push(
        h(
          'p.why',
          `${grouped(left)} more entries between the first and the last ones. `,
          h(
            'button.btn.sm',
            {
              onclick: () => {
                this.#head += SHOWN_MOST;
                this.#fetch(rest, moment);
              },
            },
            `Show ${Math.min(left, SHOWN_MOST)} more`,
          ),
        ),
      );
    }
    if (!shown.length) {
      nodes.push(
        h(
          'p.why',
          this.view === 'records' ? 'No record of the log belongs to this moment.' : 'This moment has no entries.',
        ),
      );
    }
    this.parts.root.replaceChildren(...nodes);
    this.parts.root.scrollTop = 0;
  }

  /** @param {Entry} entry @param {Frame} frame */
  #entry(entry, frame) {
    const { payload } = entry;
    const { fetchBytes } = this.parts;
    const who = this.parts.cast.knows(entry.actor) ? this.parts.cast.name(entry.actor) : entry.actor;
    if (entry.kind === 'request' || entry.kind === 'response') {
      const response = entry.kind === 'response';
      const to =
        response && payload.to
          ? this.parts.cast.knows(payload.to)
            ? this.parts.cast.name(payload.to)
            : payload.to
          : '';
      const title = response ? `${payload.api ?? ''} response` : `${payload.api ?? ''} request`;
      return [
        heading(title.trim(), response ? `coordinator → ${to}` : `${who} → coordinator`),
        table(fieldsOf(payload.body ?? payload, frame, entry.kind)),
      ];
    }
    if (entry.kind === 'record') {
      const tombstone = payload.value === null || payload.value_bytes === null;
      const where = [
        `type ${payload.type}`,
        entry.partition != null && entry.offset != null ? `offset ${entry.offset}` : null,
      ]
        .filter(Boolean)
        .join(', ');
      const inferred = entry.provenance === 'inferred' ? ' (inferred)' : '';
      const fields = table(fieldsOf({ ...keyOf(payload), ...(payload.value ?? {}) }, frame, 'record'));
      return [
        heading(`${recordName(payload.type)}${tombstone ? ', tombstone' : ''}${inferred}`, where),
        ...(fetchBytes
          ? [
              bytesInPlace({
                timeline: this.parts.timeline,
                sequence: entry.sequence,
                name: recordName(payload.type),
                instead: fields,
                fetchBytes: () => fetchBytes(entry.sequence),
                inspects: this.parts.inspects,
              }),
            ]
          : []),
        fields,
      ];
    }
    if (entry.kind === 'commits') return commits(payload);
    if (entry.kind === 'observation') return [h('p.aside', observed(entry))];
    if (entry.kind === 'fault' && payload.fault === 'difference') return difference(payload, frame);
    return [
      h(
        'p.aside',
        ...sentence(entry, who, (member) => (this.parts.cast.knows(member) ? this.parts.cast.name(member) : member)),
      ),
    ];
  }
}

/** @param {{[key: string]: any}} payload */
function keyOf(payload) {
  if (payload.key) return payload.key;
  return { key_bytes: payload.key_bytes, value_bytes: payload.value_bytes, reason: payload.reason };
}

/** Partitions of one stretch of commits that are listed. */
const LINES_MOST = 40;

/** The commits of a followed group between two other entries, by partition. @param {{[key: string]: any}} payload */
function commits(payload) {
  /** @type {{topic: string, partition: number, offsets: number[], between?: number[]}[]} */
  const lines = payload.commits;
  const left = lines.length - LINES_MOST;
  const text = [
    payload.thinned
      ? `${counted(payload.thinned, 'commit')} of ${payload.records} were thinned: the first and the last of each partition are left.`
      : '',
    left > 0 ? `${counted(left, 'more partition')}.` : '',
  ].filter(Boolean);
  return [
    heading(
      `OffsetCommit, ${counted(payload.requests, 'request')}`,
      `offsets ${payload.from_offset} to ${payload.to_offset}`,
    ),
    table(
      lines.slice(0, LINES_MOST).map(({ topic, partition, offsets, between }) => {
        const many = (between ?? []).reduce((sum, each) => sum + each, offsets.length);
        const value = many > 1 ? `${offsets[0]} to ${offsets[offsets.length - 1]}` : String(offsets[0]);
        return {
          name: `${topic}-${partition}`,
          value,
          note: many > 1 ? counted(many, 'commit') : '',
          title: '',
          depth: 0,
        };
      }),
    ),
    ...(text.length ? [h('p.why', text.join(' '))] : []),
  ];
}

/** What a poll of a live group saw, and for how long nobody had looked. @param {Entry} entry */
function observed({ at_ms, payload }) {
  const text =
    payload.observation === 'deleted'
      ? 'The coordinator has no such group any more.'
      : `The coordinator described the group as ${payload.state}.`;
  const before =
    typeof payload.polled_before_ms === 'number'
      ? ` The poll before was ${duration(at_ms - payload.polled_before_ms)} earlier.`
      : ' It is the first poll.';
  return text + before;
}

/** @param {string} title @param {string} aside */
const heading = (title, aside) => h('h3.xh', title, h('span.num', aside));

/** @param {import('./fields.js').Field[]} fields */
function table(fields) {
  return h(
    'table.kv',
    h(
      'tbody',
      fields.map(({ name, value, note, title, depth }) =>
        h(
          'tr',
          { 'data-depth': depth || null },
          h('th', { scope: 'row' }, name),
          h('td', { title: title || null }, ...breakable(value), note ? h('span.hl', ` ${note}`) : null),
        ),
      ),
    ),
  );
}

/** Kafka's long names may go on in the next line after an underscore, and nowhere else. @param {string} text */
const breakable = (text) => text.split(/(?<=_)/).flatMap((part, at) => (at ? [h('wbr'), part] : [part]));

/**
 * What a broker did, compared with what the simulated coordinator would have done.
 *
 * @param {{[key: string]: any}} payload
 * @param {Frame} frame
 */
function difference(payload, frame) {
  const side = (/** @type {string} */ title, /** @type {any} */ value) => {
    const body =
      value !== null && typeof value === 'object' && !Array.isArray(value)
        ? { ...value.key, ...value.value, ...(value.key || value.value ? {} : value) }
        : null;
    return [
      heading(title, typeof value?.type === 'number' ? recordName(value.type) : ''),
      body
        ? table(fieldsOf(body, frame, 'record'))
        : h('p.aside', value === null || value === undefined ? 'nothing' : h('code', JSON.stringify(value))),
    ];
  };
  return [
    h('p.why', `The simulated coordinator differs: ${payload.what}.`),
    ...side('Recorded', payload.recorded),
    ...side('Simulated', payload.simulated),
  ];
}

/** What befell a process or the coordinator, where no sentence needs more than its name. @type {{[fault: string]: string}} */
const FAULTS = {
  kill: 'is killed',
  pause: 'is paused',
  resume: 'is resumed',
  cut: 'is cut off',
  heal: 'can be reached again',
};

/** Callbacks, timers, faults and notes, as a sentence. @param {Entry} entry @param {string} who @param {(member: string) => string} name */
function sentence(entry, who, name) {
  const { payload } = entry;
  const partitions = Object.entries(payload.partitions ?? {})
    .flatMap(([topic, numbers]) => /** @type {number[]} */ (numbers).map((number) => `${topic}-${number}`))
    .join(', ');
  if (entry.kind === 'callback')
    return [
      h('code', `${payload.callback}(${partitions})`),
      payload.phase === 'end' ? ` ended in ${who}.` : ` begins in ${who}.`,
    ];
  if (entry.kind === 'timer') {
    const of = payload.member ? ` of ${name(payload.member)}` : '';
    const until =
      typeof payload.deadline_ms === 'number' && payload.event === 'started'
        ? `, ends in ${duration(payload.deadline_ms - entry.at_ms)}`
        : '';
    return [`The ${payload.timer} timer${of} ${payload.event === 'fired' ? 'fired' : `was ${payload.event}`}${until}.`];
  }
  if (entry.kind === 'fault' && payload.fault === 'invariant') {
    return [
      `${payload.says} The invariant ${payload.invariant} does not hold; entries ${(payload.sequences ?? []).join(', ')} prove it.`,
    ];
  }
  if (entry.kind === 'fault' && payload.fault === 'fail_over') {
    return [
      `${payload.coordinator ?? 'Another broker'} is the coordinator now${payload.loading_ms ? `; it reads the log for ${duration(payload.loading_ms)}` : ''}.`,
    ];
  }
  if (entry.kind === 'fault' && FAULTS[payload.fault] && payload.member) {
    const peer = payload.peer ? ` ${payload.fault === 'heal' ? 'by' : 'from'} ${name(payload.peer)}` : '';
    return [`${name(payload.member)} ${FAULTS[payload.fault]}${peer}.`];
  }
  if (entry.kind === 'fault') return [`Fault: ${payload.fault}${payload.member ? `, ${payload.member}` : ''}.`];
  if (entry.kind === 'note') {
    if (payload.note === 'step') return [`Narration, step ${payload.step}: ${payload.says}`];
    if (payload.note === 'topics') {
      const known = Object.entries(payload.topics ?? {}).map(([topic, is]) =>
        is ? `${topic} with ${is.partitions ?? 'an unknown number of'} partitions` : `${topic} is deleted`,
      );
      return [`Topics: ${known.join(', ')}${payload.source ? `, from ${payload.source}` : ''}.`];
    }
    if (payload.note === 'transaction')
      return [
        `Producer ${payload.producer} holds ${partitions} in an open transaction, from offset ${payload.from_offset} on: its commits are not in force.`,
      ];
    if (payload.note === 'transaction_ended') {
      const ends = payload.committed === null ? 'has ended' : payload.committed ? 'is committed' : 'is aborted';
      return [`The transaction of producer ${payload.producer} ${ends}.`];
    }
    if (payload.note === 'aborted')
      return [`Producer ${payload.producer} aborted its transaction: its commits of ${partitions} are not in force.`];
    if (payload.note === 'coordinator')
      return [`Another broker is the coordinator from here on (leader epoch ${payload.leader_epoch}).`];
    if (payload.note === 'config' || payload.note === 'settings')
      return [
        `Settings of the group: ${Object.entries(payload.config ?? payload.settings ?? {})
          .map(([setting, value]) => `${setting} ${value}`)
          .join(', ')}.`,
      ];
    return [`${payload.note}: ${payload.reason ?? payload.says ?? payload.exception ?? ''}`];
  }
  return [JSON.stringify(payload)];
}
