/**
 * Plays a lesson: one beat after the other over the board, a question before what it asks for is shown.
 *
 * Its places are in `templates/lessons/player.html`; what was done is kept through `keeps`, so that a draft keeps nothing.
 *
 * @import {Beat, Done, Sheet} from './types'
 */

import { Cast } from '../frame/cast.js';
import { calm, h, part, partsOf } from '../shared/dom.js';
import { AskPanel } from './ask.js';
import { Places, before } from './places.js';
import { plain, sentence } from './sentence.js';
import { LessonStage } from './stage.js';
import { showTable } from './table.js';
import { TakingOver } from './taking-over.js';

export class LessonPlayer {
  #beat = 0;
  #over = false;

  /**
   * @param {Sheet} sheet
   * @param {object} options
   * @param {() => Done} options.kept
   * @param {(change: Partial<Done>) => void} options.keeps
   * @param {(beat: number) => void} options.onBeat
   * @param {{lesson?: string, text?: string}} options.of what is played on, by id or by text
   */
  constructor(sheet, { kept, keeps, onBeat, of }) {
    this.kept = kept;
    this.keeps = keeps;
    this.onBeat = onBeat;
    this.of = of;
    this.sheet = sheet;
    this.cast = new Cast();
    part('back').addEventListener('click', () => this.move(-1));
    part('next').addEventListener('click', () => this.move(1));
    part('over').addEventListener('click', () => this.takeOver());
    this.load(sheet);
  }

  /** @param {Sheet} sheet */
  load(sheet) {
    this.sheet = sheet;
    const { run, hands } = sheet;
    part('boardpanel').hidden = run === null;
    part('sofar').hidden = run === null;
    part('table').hidden = sheet.table === null;
    part('over').hidden = !sheet.replayable;
    part('hands').hidden = hands === null;
    this.stage = run ? new LessonStage({ run, places: this.#places(), onSeek: () => {} }) : null;
    this.cast = this.stage?.cast ?? new Cast(hands?.members.map(({ name }) => ({ id: name, name })) ?? []);
    this.ask = new AskPanel(part('ask'), {
      cast: this.cast,
      onAnswer: (chosen, right) => this.#answered(chosen, right),
    });
    if (hands) part('hands-lanes').replaceChildren(...before(hands, this.cast));
    this.places = hands
      ? new Places(part('ask'), { hands, cast: this.cast, onAnswer: (placed) => this.#answered(placed, true) })
      : null;
  }

  #places() {
    return partsOf('board', 'tracks', 'state', 'epochs', 'now', 'gap', 'coordinator');
  }

  get beat() {
    return this.#beat;
  }

  /** Whether the question of a beat was answered. @param {number} index */
  answered(index) {
    return this.kept().answers[index] !== undefined;
  }

  /** @param {number} index @param {boolean} [animate] */
  show(index, animate = false) {
    const { beats } = this.sheet;
    // Nobody is led past a question that was not answered, whatever the address contains.
    const open = beats.findIndex((beat, at) => beat.ask !== null && !this.answered(at));
    const most = open < 0 ? beats.length - 1 : open;
    this.#beat = Math.max(0, Math.min(index, most, beats.length - 1));
    this.#over = false;
    this.keeps({ beat: this.#beat, reached: this.#beat, done: this.#isDone() });
    this.#draw(animate && !calm());
    const { ask } = beats[this.#beat];
    const asks = ask && !this.answered(this.#beat) ? ` A question: ${plain(ask.question)}` : '';
    part('said').textContent = `Step ${this.#beat + 1} of ${beats.length}.${asks}`;
    this.onBeat(this.#beat);
  }

  #isDone() {
    const { beats } = this.sheet;
    return this.#beat === beats.length - 1 && beats.every((beat, at) => beat.ask === null || this.answered(at));
  }

  /** @param {1 | -1} direction */
  move(direction) {
    if (this.#over) return;
    const to = this.#beat + direction;
    if (to < 0) return;
    if (direction > 0 && this.#waits()) {
      part('ask').querySelector('button')?.focus();
      return;
    }
    if (to >= this.sheet.beats.length) {
      // What comes next is below the board, out of sight of who has read to here.
      part('done').scrollIntoView({ block: 'nearest' });
      part('done').querySelector('a')?.focus({ preventScroll: true });
      return;
    }
    this.show(to, true);
    part('title').focus({ preventScroll: true });
    if (part('title').getBoundingClientRect().top < 0) scrollTo({ top: 0 });
  }

  #waits() {
    return this.sheet.beats[this.#beat].ask !== null && !this.answered(this.#beat);
  }

  /** @param {boolean} animate */
  #draw(animate) {
    const { sheet, cast } = this;
    const beat = sheet.beats[this.#beat];
    const answered = this.answered(this.#beat);
    const sequence = answered && beat.ask?.at ? beat.ask.at : beat.sequence;
    part('title').textContent = beat.title;
    part('text').replaceChildren(
      ...beat.text.map((text) => h('p', sentence(text, cast))),
      ...(beat.cite ? [h('p.cite', sentence(beat.cite, cast))] : []),
    );
    part('dots').replaceChildren(
      ...sheet.beats.map((_, at) =>
        h('i', { class: at === this.#beat ? 'on' : at < this.#beat || at <= this.kept().reached ? 'd' : null }),
      ),
    );
    part('place').textContent = `step ${this.#beat + 1} of ${sheet.beats.length}`;
    part('notes').replaceChildren(...sentence(beat.notes ?? [{ kind: 'text', text: 'No notes for this beat.' }], cast));
    const coming = sheet.beats[this.#beat + 1];
    part('coming').textContent = coming ? `Next: ${coming.title}` : 'This is the last beat.';
    const panel = part('ask');
    panel.hidden = beat.ask === null;
    panel.classList.remove('takes');
    if (beat.ask) {
      const given = this.kept().answers[this.#beat] ?? null;
      if (beat.ask.kind === 'places') this.places?.show(beat.ask, given, answered);
      else this.ask?.show(beat.ask, given, answered);
    }
    this.#stand(sequence, animate);
    this.#buttons();
  }

  /** @param {number} sequence @param {boolean} animate */
  #stand(sequence, animate) {
    this.stage?.show(sequence, animate, { veils: this.sheet.quiz && this.#waits() });
    // After an answer the board has gone on; the text stays with the moment that was asked about.
    part('text').classList.toggle('past', sequence !== this.sheet.beats[this.#beat].sequence);
    if (this.sheet.table) showTable(part('table'), this.sheet.table, sequence, this.cast, this.#isDone());
  }

  #buttons() {
    const last = this.#beat === this.sheet.beats.length - 1;
    /** @type {HTMLButtonElement} */ (part('back')).disabled = this.#beat === 0;
    const next = /** @type {HTMLButtonElement} */ (part('next'));
    next.disabled = this.#waits();
    next.textContent = last ? 'What comes next' : 'Next';
    part('done').hidden = !(last && !this.#waits());
    part('waits').hidden = !this.#waits();
  }

  /** @param {string[]} chosen @param {boolean} right */
  #answered(chosen, right) {
    const beat = this.sheet.beats[this.#beat];
    this.keeps({ answers: { [this.#beat]: chosen } });
    this.keeps({ done: this.#isDone() });
    if (beat.ask?.kind !== 'places') this.ask?.show(/** @type {import('./types').Ask} */ (beat.ask), chosen, true);
    this.#stand(beat.ask?.at ?? beat.sequence, !calm());
    this.#buttons();
    // A screen reader announces the answer, and what has happened on the board.
    const shown = beat.ask?.at && this.stage ? ` On the board: ${part('now').textContent}` : '';
    part('said').textContent = `${plain(beat.ask?.answer)}${shown}`;
    this.onBeat(this.#beat);
    const next = /** @type {HTMLButtonElement} */ (part('next'));
    if (right && !next.disabled) next.focus({ preventScroll: true });
  }

  /** @param {number} number of an answer */
  choose(number) {
    const { ask } = this.sheet.beats[this.#beat];
    if (!this.#over && ask && ask.kind !== 'places' && ask.kind !== 'partitions') this.ask?.press(number);
  }

  check() {
    const beat = this.sheet.beats[this.#beat];
    if (this.#over || !beat.ask) return;
    if (beat.ask.kind === 'places') this.places?.check();
    else this.ask?.check();
  }

  async takeOver() {
    const { stage } = this;
    if (!stage || this.#over || !this.sheet.replayable) return;
    this.#over = true;
    const panel = part('ask');
    panel.hidden = false;
    panel.classList.add('takes');
    part('table').hidden = true;
    for (const id of ['back', 'next']) /** @type {HTMLButtonElement} */ (part(id)).disabled = true;
    const taking = new TakingOver(panel, {
      of: this.of,
      now: () => ({
        frame: /** @type {import('../types').Frame} */ (stage.rest?.frame),
        at_ms: stage.at_ms,
        names: (id) => stage.cast.name(id),
        atEnd: stage.next === null,
      }),
      onRun: (run, at_ms, acted) => {
        stage.replace(run);
        const { steps } = stage.timeline;
        const last = steps.findLast((moment) => moment.at_ms <= at_ms) ?? steps[0];
        const now = acted ? (steps.find((moment) => moment.at_ms >= at_ms) ?? last) : last;
        stage.show(now.sequence, !calm());
      },
      onStep: () => {
        const { next } = stage;
        if (next === null) taking.says.textContent = 'Nothing more happens in this run. Do something.';
        else {
          stage.show(next, !calm());
          taking.render();
          part('on').focus();
        }
      },
      onLeave: () => {
        if (!this.sheet.run) return;
        stage.replace(this.sheet.run);
        part('table').hidden = this.sheet.table === null;
        this.show(this.#beat);
        part('title').focus({ preventScroll: true });
      },
    });
    await taking.begin();
    part('on')?.focus?.();
  }
}
