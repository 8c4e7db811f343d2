/**
 * Notes and questions at moments of a timeline: what is there, and a form to write one, to reply or to edit.
 *
 * @typedef {object} Note
 * @property {string} id
 * @property {number} at the entry
 * @property {number | null} at_ms
 * @property {'note' | 'question'} kind
 * @property {string | null} parent
 * @property {string} author
 * @property {string} text
 * @property {string[]} mentions
 * @property {string | null} edited
 * @property {{text: string, until: string, by: string}[]} versions
 * @property {boolean} may_change
 */

import { when } from '../frame/words.js';
import { ask, submit } from '../shared/api.js';
import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { stamp } from '../shared/times.js';
import { orToast } from '../shared/toast.js';

const TEXT_MOST = 1000;

export class NotesPanel {
  #stamp = '';
  #list = h('ol.notes', { 'aria-live': 'polite' });
  #text = /** @type {HTMLTextAreaElement} */ (
    h('textarea.field', { rows: 2, maxlength: TEXT_MOST, required: true, placeholder: '@name notifies a person' })
  );
  #heading = h('b');
  #kind = /** @type {HTMLSelectElement} */ (
    h(
      'select.field.sm',
      { 'aria-label': 'Kind' },
      h('option', { value: 'note' }, 'Note'),
      h('option', { value: 'question' }, 'Question'),
    )
  );
  #says = h('p.bad', { role: 'alert' });
  #back = h('button.btn.sm', { hidden: true, onclick: () => this.#begin() }, 'Cancel');
  /** What is replied to, or edited. @type {{parent?: Note, edited?: Note}} */
  #about = {};
  #sends = false;
  /** Where the board was as a note was begun: a presenter may move it before it is sent. @type {number | null} */
  #began = null;

  /**
   * @param {object} parts
   * @param {HTMLElement} parts.root
   * @param {string} parts.base of the timeline's addresses
   * @param {() => number} parts.at where the board is
   * @param {() => number} parts.start_ms
   * @param {() => void} parts.onShown
   */
  constructor({ root, base, at, start_ms, onShown }) {
    this.base = base;
    this.at = at;
    this.start_ms = start_ms;
    this.onShown = onShown;
    root.replaceChildren(
      this.#list,
      h(
        'form.note-form',
        {
          'data-needs': 'note',
          onsubmit: (/** @type {Event} */ event) => this.#send(event),
          oninput: () => (this.#began ??= this.at()),
        },
        h('label', this.#heading, this.#text),
        h('div.acts2', this.#kind, h('button.btn.sm.go', { type: 'submit' }, 'Send'), this.#back),
        this.#says,
      ),
    );
    this.#begin();
    this.#load();
  }

  /** @param {string} now another text once the notes are others than before */
  hear(now) {
    if (now === this.#stamp) return;
    this.#stamp = now;
    this.#load();
  }

  async #load() {
    const asked = this.#stamp;
    /** @type {Note[]} */
    const notes = await ask(`${this.base}/notes`).catch(() => null);
    // Without an answer the next message asks again.
    if (notes === null) this.#stamp = '';
    else if (asked === this.#stamp) this.#show(notes);
  }

  /** @param {Note[]} notes */
  #show(notes) {
    const item = (/** @type {Note} */ note) =>
      h(
        'li',
        this.#note(note),
        notes.filter((one) => one.parent === note.id).map((one) => this.#note(one)),
      );
    this.#list.replaceChildren(...notes.filter((one) => !one.parent).map(item));
    this.onShown();
  }

  /** @param {Note} note */
  #note(note) {
    const { id, at, parent, author, kind, text, edited, versions } = note;
    const remove = () =>
      orToast('It could not be deleted.', async () => {
        if (confirm(parent ? 'Delete this reply?' : 'Delete this? Replies stay.'))
          await submit(`/api/notes/${id}`, 'DELETE');
        await this.#load();
      });
    return h(
      parent ? 'div.reply' : 'div',
      h(
        'p',
        h('b', author || (parent ? 'Reply' : kind === 'question' ? 'Question' : 'Note')),
        ' ',
        !parent && h('a.num', { href: `?at=${at}`, 'data-at': at }, `at ${this.#when(note)}`),
        !parent && author && kind === 'question' && [' ', h('span.tag', 'question')],
      ),
      text ? h('p.said', marked(note)) : h('p.said.quiet', '(deleted)'),
      edited &&
        h(
          'details.small',
          h('summary.quiet', `edited ${stamp(Date.parse(edited))}`),
          versions.map((one) =>
            h(
              'p.quiet',
              h('s', one.text),
              ` until ${stamp(Date.parse(one.until))}`,
              one.by && one.by !== author ? `, edited by ${one.by}` : '',
            ),
          ),
        ),
      h(
        'p.acts2',
        !parent &&
          h('button.btn.sm.bare', { 'data-needs': 'note', onclick: () => this.#begin({ parent: note }) }, 'Reply'),
        note.may_change && text && h('button.btn.sm.bare', { onclick: () => this.#begin({ edited: note }) }, 'Edit'),
        note.may_change && h('button.btn.sm.bare', { onclick: remove }, 'Delete'),
      ),
    );
  }

  /** @param {Note} note */
  #when({ at_ms }) {
    return at_ms === null ? 'the beginning' : when(at_ms, this.start_ms());
  }

  /** @param {{parent?: Note, edited?: Note}} [about] */
  #begin(about = {}) {
    const { parent, edited } = (this.#about = about);
    this.#heading.textContent = edited ? 'Edit' : parent ? `Reply to ${parent.author || 'the note'}` : 'At this step';
    this.#text.value = edited?.text ?? '';
    this.#began = null;
    this.#kind.hidden = Boolean(edited ?? parent);
    this.#back.hidden = !this.#kind.hidden;
    this.#says.textContent = '';
    if (edited ?? parent) this.#text.focus();
  }

  /** @param {Event} event */
  async #send(event) {
    event.preventDefault();
    if (this.#sends) return;
    this.#sends = true;
    const { parent, edited } = this.#about;
    const text = this.#text.value;
    try {
      if (edited) await submit(`/api/notes/${edited.id}`, 'PATCH', { text });
      else
        await submit(
          `${this.base}/notes`,
          'POST',
          parent ? { text, parent: parent.id } : { text, at: this.#began ?? this.at(), kind: this.#kind.value },
        );
      this.#begin();
      await this.#load();
    } catch (error) {
      this.#says.textContent = messageOf(error, 'It could not be sent.');
    } finally {
      this.#sends = false;
    }
  }
}

/** The text, with the people that it names. @param {Note} note */
const marked = ({ text, mentions }) =>
  text
    .split(/((?<![\p{L}\p{N}_])@[\p{L}\p{N}_.@+-]*[\p{L}\p{N}_])/u)
    .map((part) => (mentions.includes(part.slice(1)) && part.startsWith('@') ? h('b', part) : part));
