/**
 * A scenario for who writes no YAML: its members, its topics, and what happens when, on an axis of time. The text is the truth: the
 * builder draws what it reads there, and each of its changes is an edit of the text.
 *
 * @import {Place} from './places.js'
 * @import {Event as Line, Path, Sketch} from './document.js'
 * @typedef {{kind: 'members' | 'topics' | 'script', key: string | number}} Selected
 */

import { parseDocument } from '../../vendor/editor.min.js';
import { Cast } from '../frame/cast.js';
import { disc } from '../frame/disc.js';
import { h, redrawn } from '../shared/dom.js';
import { onTextSize, pixels } from '../shared/text-size.js';
import {
  BEGINNING,
  duration,
  lineOf,
  listed,
  milliseconds,
  put,
  renamed,
  sketchOf,
  withEvent,
  withMember,
  withTopic,
} from './document.js';
import { namesIn } from './places.js';

/** More members or events than this are not drawn, nor is a text of more letters. */
const DRAWN_MOST = 200;
const LETTERS_MOST = 65_536;
const CLUSTER = 'Cluster';
/** How wide a mark may be, in rem, and in a narrow column; two that are closer are one above the other. */
const MARK = 7;
const MARK_NARROW = 4.5;
const NARROW = 32;
/** How wide a lane's name is, and the label of a second of the axis. */
const NAME = 5.5;
const TICK = 4;
const TICKS_S = [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21_600, 86_400];
/** What is asked of each; the other keys are under "More". */
const FIRST = ['subscribe', 'protocol', 'client', 'partitions', 'rate'];
const MOVES_S = /** @type {{[key: string]: number}} */ ({
  ArrowLeft: -1,
  ArrowDown: -1,
  ArrowRight: 1,
  ArrowUp: 1,
  PageDown: -10,
  PageUp: 10,
});

/** @param {string} text as typed: a number, a duration, a list of YAML @returns {unknown} */
function typed(text) {
  if (!text.trim()) return undefined;
  const document = parseDocument(text);
  return document.errors.length ? text : document.toJS();
}

/** @param {{names?: string[], values?: string[], keys?: object} | undefined} place @param {unknown} value */
const isTextOnly = (place, value) =>
  value !== null &&
  typeof value === 'object' &&
  !(Array.isArray(value)
    ? (place?.names ?? place?.values) && value.every((item) => typeof item !== 'object')
    : place?.keys);

export class Builder {
  #text = '';
  /** @type {Sketch | null} */
  #sketch = null;
  /** @type {Selected | null} */
  #selected = null;
  #verb = '';
  #at_s = 30;
  #mark_rem = MARK;
  /** While the pointer is down nothing is drawn again: what it pressed would be gone before the click. */
  #held = false;
  #late = false;

  /**
   * @param {HTMLElement} root
   * @param {object} more
   * @param {Place} more.vocabulary
   * @param {() => string} more.read the text as it is by now @param {(text: string) => void} more.write
   * @param {(line: number) => void} more.go to a line of the text
   */
  constructor(root, { vocabulary, read, write, go }) {
    this.root = root;
    this.vocabulary = vocabulary;
    this.write = write;
    this.go = go;
    this.verbs = vocabulary.keys?.script?.verbs ?? {};
    this.#verb = Object.keys(this.verbs)[0];
    // Who has just typed is here before the text was checked.
    root.addEventListener('focusin', () => (this.text = read()));
    root.addEventListener('pointerdown', () => {
      this.text = read();
      this.#held = true;
    });
    for (const end of ['pointerup', 'pointercancel'])
      addEventListener(end, () =>
        setTimeout(() => {
          this.#held = false;
          if (this.#late) this.#draw();
        }),
      );
    // Enter is for the field, not for the form around it, which would run.
    root.addEventListener('keydown', (event) => {
      const field = /** @type {HTMLElement} */ (event.target);
      if (event.key !== 'Enter' || !field.matches('input')) return;
      event.preventDefault();
      field.dispatchEvent(new Event('change'));
    });
    let wide = 0;
    new ResizeObserver(() => {
      if (root.clientWidth !== wide) this.#draw();
      wide = root.clientWidth;
    }).observe(root);
    onTextSize(() => this.#draw());
    root.hidden = false;
  }

  /** What the text is now. @param {string} text */
  set text(text) {
    if (text === this.#text && this.#sketch) return;
    this.#text = text;
    this.#sketch = text.length > LETTERS_MOST ? null : sketchOf(text, this.vocabulary);
    this.#draw();
  }

  /** @param {string} text @param {Selected | null} [selected] */
  #change(text, selected = this.#selected) {
    this.#selected = selected;
    this.text = text;
    this.write(text);
    this.#draw();
  }

  /** @param {Path} path @param {unknown} value */
  #put(path, value) {
    try {
      this.#change(put(this.#text, path, value));
    } catch {
      // An alias of YAML has no place of its own.
      this.go(lineOf(this.#text, path.slice(0, 1)));
    }
  }

  #draw() {
    this.#late = this.#held;
    if (this.#held) return;
    redrawn(() => this.root.replaceChildren(...this.#parts()), this.root);
  }

  /** @returns {Node[]} */
  #parts() {
    const sketch = this.#sketch;
    const begin = h(
      'button.btn.sm',
      { 'data-key': 'new', title: 'Two members, a topic and a join', onclick: () => this.#change(BEGINNING, null) },
      'New scenario',
    );
    const head = h('div.phead', h('h2', { id: 'builder-name' }, 'What happens'), h('span.grow'), begin);
    const only = (/** @type {string} */ words) => [head, h('p.quiet', { role: 'status' }, words)];
    if (this.#text.length > LETTERS_MOST || Number(sketch?.members.length) + Number(sketch?.events.length) > DRAWN_MOST)
      return only('More than can be drawn: the members and events are in the text.');
    if (!sketch) return only('The text is no YAML now. This drawing comes back when it is.');
    this.root.classList.toggle('narrow', this.#isNarrow());
    this.#mark_rem = this.#isNarrow() ? MARK_NARROW : MARK;
    this.root.style.setProperty('--mark', `${this.#mark_rem}rem`);
    head.append(
      this.#button('+ Topic', 'add-topic', () => {
        const { text, name } = withTopic(this.#text, sketch);
        this.#change(text, { kind: 'topics', key: name });
      }),
      this.#button('+ Member', 'add-member', () => {
        const { text, name } = withMember(this.#text, sketch);
        this.#change(text, { kind: 'members', key: name });
      }),
    );
    return [
      head,
      this.#topics(sketch),
      this.#axis(sketch),
      this.#adding(sketch),
      this.#panel(sketch),
      this.#inText(sketch),
    ];
  }

  /** @param {string} words @param {string} key @param {() => void} onclick @param {{[name: string]: string}} [more] */
  #button(words, key, onclick, more) {
    return h('button.btn.sm', { 'data-key': key, onclick, ...more }, words);
  }

  /** @param {Selected['kind']} kind @param {string | number} key */
  #isSelected(kind, key) {
    return this.#selected?.kind === kind && this.#selected.key === key;
  }

  /** @param {Selected | null} selected */
  #select(selected) {
    if (selected?.kind === this.#selected?.kind && selected?.key === this.#selected?.key) return;
    this.#selected = selected;
    this.#draw();
  }

  /** @param {Sketch} sketch */
  #topics({ topics }) {
    return h(
      'div.acts',
      { role: 'group', 'aria-label': 'Topics' },
      topics.map(({ name, keys }) =>
        h(
          'button.btn.sm',
          {
            'data-key': `topics-${name}`,
            'aria-pressed': String(this.#isSelected('topics', name)),
            onclick: () => this.#select({ kind: 'topics', key: name }),
          },
          h('span', h('span.sr', 'Topic '), name, h('span.quiet', ` ${keys.partitions ?? 'no'} partitions`)),
        ),
      ),
    );
  }

  /** The lanes, and the axis beneath. @param {Sketch} sketch */
  #axis(sketch) {
    const { members, events, until_ms } = sketch;
    const cast = new Cast();
    for (const { verb, who } of events) if (verb === 'join') who.forEach((name) => cast.lane(name));
    const isMember = (/** @type {string} */ name) => members.some((member) => member.name === name);
    const lanes = [...members.map(({ name }) => name), null].map((lane) => {
      const own = events.filter(({ who }) => (lane === null ? !who.some(isMember) : who.includes(lane)));
      return h(
        'div.happens',
        { role: 'group', 'aria-label': lane === null ? CLUSTER : `Member ${lane}` },
        lane === null
          ? h('span.quiet', CLUSTER)
          : h(
              'button.btn.bare.sm',
              {
                'data-key': `members-${lane}`,
                'aria-pressed': String(this.#isSelected('members', lane)),
                onclick: () => this.#select({ kind: 'members', key: lane }),
              },
              h('span', { 'aria-hidden': 'true' }, disc(cast, lane)),
              h('span.name', h('span.sr', 'Member '), lane),
            ),
        this.#track(lane, own, sketch),
      );
    });
    const ticksMost = Math.max(1, this.#room() / pixels(TICK));
    const step = TICKS_S.find((seconds) => until_ms / 1000 / seconds <= ticksMost) ?? until_ms / 1000;
    const ticks = h('div.track.ticks', { 'aria-hidden': 'true' });
    for (let at = 0; at * 1000 <= until_ms; at += step)
      ticks.append(this.#placed(h('span.num', `${at} s`), at * 1000, until_ms));
    return h('div.scene', ...lanes, h('div.happens', h('span'), ticks));
  }

  /** Names are above their lanes then. */
  #isNarrow() {
    return this.root.clientWidth < pixels(NARROW);
  }

  /** Pixels from the axis's beginning to its end, about. */
  #room() {
    return Math.max(1, this.root.clientWidth - pixels((this.#isNarrow() ? 2 : NAME + 2) + this.#mark_rem));
  }

  /** @template {HTMLElement} T @param {T} node @param {number} at_ms @param {number} until_ms */
  #placed(node, at_ms, until_ms) {
    node.style.left = `calc((100% - var(--mark)) * ${at_ms / until_ms})`;
    return node;
  }

  /** @param {string | null} lane @param {Line[]} events @param {Sketch} sketch */
  #track(lane, events, { until_ms }) {
    const track = h('div.track', {
      onclick: (/** @type {MouseEvent} */ event) => {
        if (event.target === track) this.#add(lane, this.#secondAt(track, event.clientX, until_ms) * 1000);
      },
    });
    const needed_ms = (pixels(this.#mark_rem) / this.#room()) * until_ms;
    /** @type {number[]} when the last mark of each row began */
    const rows = [];
    for (const event of [...events].sort((one, other) => one.at_ms - other.at_ms)) {
      const free = rows.findIndex((at_ms) => event.at_ms - at_ms >= needed_ms);
      const row = free < 0 ? rows.length : free;
      rows[row] = event.at_ms;
      const mark = this.#placed(this.#mark(event, lane, track, until_ms), event.at_ms, until_ms);
      mark.style.top = `${row * 1.75 + 0.25}rem`;
      track.append(mark);
    }
    track.style.height = `${Math.max(1, rows.length) * 1.75 + 0.25}rem`;
    return track;
  }

  /** @param {HTMLElement} track @param {number} x @param {number} until_ms */
  #secondAt(track, x, until_ms) {
    const { left, width } = track.getBoundingClientRect();
    const part = (x - left) / Math.max(1, width - pixels(this.#mark_rem));
    return Math.round((Math.min(1, Math.max(0, part)) * until_ms) / 1000);
  }

  /** @param {Line} event @param {string | null} lane @param {HTMLElement} track @param {number} until_ms */
  #mark(event, lane, track, until_ms) {
    const { place, verb, who, at_ms } = event;
    const selected = { kind: /** @type {const} */ ('script'), key: place };
    const when = h('span.num', `${at_ms / 1000} s`);
    let from = /** @type {number | null} */ (null);
    let at_s = at_ms / 1000;
    const mark = h(
      'div.mark',
      {
        role: 'slider',
        tabindex: '0',
        'data-key': `script-${place}-${lane ?? ''}`,
        'data-chosen': this.#isSelected('script', place),
        'aria-label': `${verb} ${who.join(', ')}`,
        'aria-valuemin': '0',
        'aria-valuemax': String(until_ms / 1000),
        'aria-valuenow': String(at_s),
        'aria-valuetext': `at ${at_s} s`,
        'aria-describedby': 'builder-keys',
        title: this.verbs[verb].sentence,
        onfocus: () => this.#select(selected),
        onkeydown: (/** @type {KeyboardEvent} */ pressed) => {
          if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return;
          const by_s = MOVES_S[pressed.key];
          if (by_s !== undefined) this.#move(place, at_s + by_s);
          else if (pressed.key === 'Delete' || pressed.key === 'Backspace') this.#remove(selected);
          else return;
          pressed.preventDefault();
        },
        onpointerdown: (/** @type {PointerEvent} */ pressed) => {
          from = pressed.clientX;
          mark.setPointerCapture(pressed.pointerId);
        },
        onpointermove: (/** @type {PointerEvent} */ moved) => {
          if (from === null) return;
          const left =
            track.getBoundingClientRect().left + (track.clientWidth - pixels(this.#mark_rem)) * (at_ms / until_ms);
          at_s = this.#secondAt(track, left + moved.clientX - from, until_ms);
          this.#placed(mark, at_s * 1000, until_ms);
          when.textContent = `${at_s} s`;
        },
        onpointerup: (/** @type {PointerEvent} */ left) => {
          if (from !== null && left.clientX !== from) this.#move(place, at_s);
          from = null;
        },
      },
      h('b', verb),
      when,
    );
    return mark;
  }

  /** @param {number} place @param {number} at_s */
  #move(place, at_s) {
    const ms = Math.max(0, Math.round(at_s * 1000));
    const line = this.#sketch?.events.find((event) => event.place === place);
    if (line && line.at_ms !== ms) this.#put(['script', place, 'at'], duration(ms));
  }

  /** @param {Selected} selected */
  #remove({ kind, key }) {
    if (kind === 'script') this.#change(put(this.#text, [kind, key], undefined), null);
    else this.#change(renamed(this.#text, kind, String(key), undefined, this.vocabulary), null);
    if (this.root.contains(document.activeElement)) return;
    const mark = /** @type {HTMLElement | null} */ (
      this.root.querySelector('.mark') ?? this.root.querySelector('.btn')
    );
    mark?.focus();
  }

  /** Adds the event that is chosen. @param {string | null} lane @param {number} at_ms */
  #add(lane, at_ms) {
    const { names = [], values = [], keys } = this.verbs[this.#verb].who;
    const [first = values[0] ?? 'new-topic'] = names.flatMap((of) => this.#names(of));
    const who = keys ? {} : names.includes('members') && lane !== null ? lane : first;
    const { text, place } = withEvent(this.#text, this.#verb, who, at_ms);
    this.#change(text, { kind: 'script', key: place });
  }

  /** @param {Sketch} sketch */
  #adding({ members }) {
    const at = /** @type {HTMLInputElement} */ (
      h('input.field.num', {
        'data-key': 'add-at',
        'aria-label': 'At, in seconds',
        type: 'number',
        min: 0,
        value: this.#at_s,
        onchange: () => (this.#at_s = Math.max(0, Number(at.value))),
      })
    );
    const lane = this.#selected?.kind === 'members' ? String(this.#selected.key) : (members[0]?.name ?? null);
    return h(
      'div.acts',
      { role: 'group', 'aria-label': 'Add an event' },
      h(
        'select.field',
        {
          'data-key': 'add-verb',
          'aria-label': 'Event',
          onchange: (/** @type {any} */ { target }) => {
            this.#verb = target.value;
            this.#draw();
          },
        },
        Object.keys(this.verbs).map((verb) => h('option', { selected: verb === this.#verb }, verb)),
      ),
      h('label', 'at ', at, ' s'),
      this.#button('Add', 'add-event', () => this.#add(lane, Math.round(this.#at_s * 1000))),
      h('span.quiet', `${this.verbs[this.#verb].sentence}. Or click on a lane.`),
    );
  }

  /** What is selected, with its fields. @param {Sketch} sketch */
  #panel(sketch) {
    const keys = h(
      'p.quiet',
      { id: 'builder-keys' },
      'Drag an event, or move it with ',
      h('kbd', '←'),
      ' ',
      h('kbd', '→'),
      '; ',
      h('kbd', 'Delete'),
      ' removes it.',
    );
    const { kind, key } = this.#selected ?? {};
    const found =
      kind === 'script'
        ? sketch.events.find(({ place }) => place === key)
        : kind && sketch[kind].find(({ name }) => name === key);
    if (!found || !kind || key === undefined) return keys;
    const path = /** @type {Path} */ ([kind, key]);
    const isEvent = 'verb' in found;
    const title = isEvent ? found.verb : `${kind === 'members' ? 'Member' : 'Topic'} ${key}`;
    const place = /** @type {Place} */ (this.vocabulary.keys?.[kind]?.any ?? {});
    const form = isEvent ? this.verbs[found.verb] : null;
    const places = form ? { ...form.keys } : (place.keys ?? {});
    const shown = (/** @type {string} */ name) => form || FIRST.includes(name) || found.keys[name] !== undefined;
    const field = (/** @type {string} */ name) =>
      this.#field(name, places[name], [...path, name], found.keys[name], form?.needs.includes(name));
    const others = Object.keys(places).filter((name) => !shown(name));
    return h(
      'fieldset.chosen',
      h('legend', title),
      form && isEvent
        ? [
            h('p.quiet', form.sentence),
            this.#input('at', `${path.join('-')}-at`, duration(found.at_ms), (text) => {
              const ms = milliseconds(text) ?? milliseconds(`${text}s`);
              if (ms !== null) this.#move(found.place, ms / 1000);
            }),
            this.#field('who', form.who, [...path, found.verb], found.keys[found.verb], true, true),
          ]
        : this.#input('name', `${path.join('-')}-name`, String(key), (text) => {
            const name = text.trim();
            const taken = kind !== 'script' && sketch[kind].some((other) => other.name === name);
            if (!name || taken || kind === 'script') return this.#draw();
            this.#change(renamed(this.#text, kind, String(key), name, this.vocabulary), { kind, key: name });
          }),
      Object.keys(places).filter(shown).map(field),
      others.length > 0 && h('details', h('summary', 'More'), h('div.fields', others.map(field))),
      h(
        'div.acts',
        this.#button('Remove', 'remove', () => this.#remove({ kind, key })),
        this.#button('Go to its line', 'go', () => this.go(lineOf(this.#text, path))),
      ),
      isEvent && keys,
    );
  }

  /** @param {string} label @param {string} key @param {string} value @param {(text: string) => void} onChange @param {boolean} [required] */
  #input(label, key, value, onChange, required) {
    return h(
      'label',
      `${label} `,
      h('input.field.num', {
        'data-key': key,
        value,
        required,
        autocomplete: 'off',
        autocapitalize: 'off',
        onchange: (/** @type {any} */ { target }) => onChange(target.value),
      }),
    );
  }

  /**
   * @param {string} label @param {Place | undefined} place @param {Path} path @param {unknown} value @param {boolean} [required]
   * @param {boolean} [isWho] one name stays alone there, and several are a list
   * @returns {HTMLElement}
   */
  #field(label, place, path, value, required, isWho) {
    const key = path.join('-');
    if (isTextOnly(place, value))
      return h(
        'p',
        `${label}: `,
        this.#button('in the text', key, () => this.go(lineOf(this.#text, path))),
      );
    const { names = [], values = [], keys } = place ?? {};
    if (keys && !values.length) {
      const own = /** @type {{[name: string]: unknown}} */ (value ?? {});
      const each = Object.entries(keys).map(([name, of]) => this.#field(name, of, [...path, name], own[name]));
      return h('details', { open: isWho }, h('summary', label), h('div.fields', each));
    }
    const choices = [...names.flatMap((of) => this.#names(of)), ...values];
    const now = listed(value);
    if (choices.length && (place?.many || (isWho && choices.length > 1)))
      return h(
        'fieldset.fields',
        h('legend', label),
        [...new Set([...choices, ...now])].map((name) =>
          h(
            'label',
            h('input', {
              type: 'checkbox',
              'data-key': `${key}-${name}`,
              checked: now.includes(name),
              onchange: (/** @type {any} */ { target }) => {
                const left = target.checked ? [...now, name] : now.filter((other) => other !== name);
                // Nobody at all is no event: the last one stays.
                if (isWho && !left.length) return this.#draw();
                this.#put(path, isWho && left.length === 1 ? left[0] : left.length ? left : undefined);
              },
            }),
            ` ${name}`,
          ),
        ),
      );
    if (choices.length)
      return h(
        'label',
        `${label} `,
        h(
          'select.field',
          {
            'data-key': key,
            required,
            onchange: (/** @type {any} */ { target }) => this.#put(path, typed(target.value)),
          },
          [...new Set(['', ...choices, ...now])].map((name) =>
            h('option', { selected: name === (now[0] ?? '') }, name),
          ),
        ),
      );
    return this.#input(label, key, now.join(', '), (text) => this.#put(path, typed(text)), required);
  }

  /** @param {'members' | 'topics' | 'group'} of @returns {string[]} */
  #names(of) {
    return of === 'group' ? namesIn(this.#text).group : (this.#sketch?.[of] ?? []).map(({ name }) => name);
  }

  /** What is in the text alone. @param {Sketch} sketch */
  #inText({ others, until_ms }) {
    return h(
      'div.acts',
      { role: 'group', 'aria-label': 'In the text' },
      this.#input('Until', 'until', duration(until_ms), (text) => {
        const ms = milliseconds(text) ?? milliseconds(`${text}s`);
        if (ms) this.#put(['until'], duration(ms));
      }),
      others.length > 0 && h('span.quiet', 'In the text alone:'),
      others.map((path) => {
        const line = lineOf(this.#text, path);
        return this.#button(`${path[0]}, line ${line}`, `other-${path.join('-')}`, () => this.go(line));
      }),
    );
  }
}
