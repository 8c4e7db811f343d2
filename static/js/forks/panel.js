/**
 * Fork here: a branch from this moment with faults and settings, what it starts from, and the tree of branches. Made when first opened.
 *
 * @typedef {{key: string, name: string, mark: string, value: string | number | boolean | null, reason: string, can_change: boolean, choices: string[]}} Assumption
 * @typedef {{id: string, title: string, parent: string | null, at: number | null, status: string}} Branch
 * @typedef {{do: string, who?: string | undefined, after_ms: number, for_ms?: number}} Fault
 * @typedef {{why: string | null, same_run: boolean, protocol: string | null, members: string[], topics: string[], assumptions: Assumption[]}} Start
 */

import { ask, submit } from '../shared/api.js';
import { h } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';

const FAULTS = [
  ['kill', 'Kill', 'no request is sent'],
  ['leave', 'Leave', 'close() is called'],
  ['pause', 'Pause', 'as in a long GC'],
  ['restart', 'Restart', ''],
  ['cut', 'Cut off', 'from the coordinator'],
  ['slow_revoke', 'Slow callback', 'onPartitionsRevoked'],
  ['poll_late', 'Late poll', 'beyond the interval'],
  ['join', 'New member', 'joins the group'],
  ['fail_over', 'Fail-over', 'of the coordinator'],
];
/** What people try first: faults of these members, which then may be changed one by one. @type {[string, (members: string[]) => Fault[]][]} */
const PRESETS = [
  ['A process is killed and back after 10 s', ([who]) => [{ do: 'kill', who, after_ms: 1000, for_ms: 10_000 }]],
  ['A long pause, 60 s', ([who]) => [{ do: 'pause', who, after_ms: 1000, for_ms: 60_000 }]],
  [
    'Rolling restart, 10 s apart',
    (members) => members.map((who, place) => ({ do: 'restart', who, after_ms: 1000 + place * 10_000 })),
  ],
  ['The coordinator fails over', () => [{ do: 'fail_over', after_ms: 1000 }]],
];
const FAULTS_MOST = 50;
/** A deleted branch is there for so long; with its page closed before, it stays. */
const UNDO_MS = 6000;
const LASTS = ['pause', 'cut', 'slow_revoke', 'poll_late'];
const MARKS = /** @type {{[mark: string]: string}} */ ({
  'in the log': '●',
  assumed: '○',
  'changed by you': '◐',
  unknown: '◌',
});

export class ForkPanel {
  #dialog = /** @type {HTMLDialogElement} */ (h('dialog.share', { id: 'fork', 'aria-labelledby': 'fork-title' }));
  #status = h('p.share-says', { role: 'status' });
  /** @type {Fault[]} */
  #faults = [];
  #at = 0;

  /** @param {string} id the timeline's @param {() => number} now the moment's sequence */
  constructor(id, now) {
    this.id = id;
    this.url = `/api/timelines/${encodeURIComponent(id)}/forks`;
    this.now = now;
    document.body.append(this.#dialog);
  }

  async open() {
    this.#at = this.now();
    this.#faults = [];
    this.#status.textContent = '';
    this.#show(h('p.quiet', { role: 'status' }, 'Reading the moment …'));
    if (!this.#dialog.open) this.#dialog.showModal();
    try {
      const { branches, start } = await ask(`${this.url}?at=${this.#at}`);
      this.#show(this.#helped(start), this.#form(start), this.#tree(branches));
    } catch (error) {
      this.#show(h('p.share-says', { role: 'alert' }, message(error)));
    }
  }

  /** @param {...Node} parts */
  #show(...parts) {
    this.#dialog.replaceChildren(
      h(
        'form.phead',
        { method: 'dialog' },
        h('h2', { id: 'fork-title' }, 'Fork here'),
        h('span.num.quiet', `entry ${this.#at}`),
        h('span.grow'),
        h('button.btn.sm.sq.bare', { type: 'submit', 'aria-label': 'Close' }, '×'),
      ),
      ...parts,
    );
    // What had the focus may be gone.
    if (this.#dialog.open && !this.#dialog.contains(document.activeElement))
      this.#dialog.querySelector('button')?.focus();
  }

  /** The button that has the product try remedies from this moment on. @param {Start} start */
  #helped(start) {
    const status = h('span.share-says', { role: 'status' });
    const search = async () => {
      status.textContent = 'Queued …';
      try {
        const made = await submit(`/api/timelines/${encodeURIComponent(this.id)}/remedies`, 'POST', { at: this.#at });
        location.assign(made.url);
      } catch (error) {
        status.textContent = message(error);
      }
    };
    return h(
      'div.share-links',
      h('div.acts2', h('button.btn', { disabled: Boolean(start.why), onclick: search }, 'What would have helped')),
      h('span.quiet.small', 'Replays what follows this moment under each remedy, with 20 seeds, and ranks them'),
      status,
    );
  }

  /** @param {Start} start */
  #form(start) {
    const rows = start.assumptions.filter((row) => row.can_change || row.mark !== 'in the log' || !start.why);
    const form = h('form.share-asks', { onsubmit: (/** @type {Event} */ event) => this.#add(event) });
    const fields = rows.map((row) => this.#row(row));
    const make = h('button.btn.go', { type: 'submit', 'data-needs': 'run' }, 'Add branch');
    if (start.why) {
      form.append(h('p', { role: 'alert' }, start.why));
      if (!rows.some((row) => row.can_change)) return form;
    } else {
      form.append(this.#faultFields(start));
    }
    form.append(
      h(
        'details',
        { open: Boolean(start.why) },
        h('summary', 'What the fork starts from'),
        h('p.quiet.small', '● in the log · ○ assumed · ◐ changed by you · ◌ unknown'),
        ...fields,
      ),
      h('div.acts2', make),
      this.#status,
    );
    return form;
  }

  /** @param {Start} start */
  #faultFields(start) {
    const verb = h(
      'select.field',
      { 'aria-label': 'Fault' },
      FAULTS.map(([value, name, what]) => h('option', { value }, what ? `${name}: ${what}` : String(name))),
    );
    const who = h(
      'select.field',
      { 'aria-label': 'Member' },
      start.members.map((name) => h('option', { value: name }, name)),
    );
    const after = h('input.field.num', {
      type: 'number',
      min: 0,
      max: 86400,
      value: 0,
      'aria-label': 'Seconds after the moment',
    });
    const length = h('input.field.num', {
      type: 'number',
      min: 1,
      max: 86400,
      value: 60,
      'aria-label': 'Length in seconds',
    });
    const list = h('ul', { 'aria-label': 'Faults of the branch' });
    const value = (/** @type {HTMLElement} */ field) => /** @type {HTMLInputElement} */ (field).value;
    const draw = () => {
      list.replaceChildren(
        ...this.#faults.map((fault, place) =>
          h(
            'li',
            wordsOf(fault),
            h(
              'button.btn.sm',
              {
                onclick: () => {
                  this.#faults.splice(place, 1);
                  draw();
                },
              },
              'Remove',
            ),
          ),
        ),
      );
    };
    const presets = h(
      'select.field',
      {
        'aria-label': 'Preset',
        onchange: () => {
          const chosen = PRESETS[Number(value(presets)) - 1];
          if (chosen) this.#faults = chosen[1](start.members).slice(0, FAULTS_MOST);
          draw();
        },
      },
      h('option', { value: 0 }, 'Choose faults yourself'),
      PRESETS.map(([name], place) => h('option', { value: place + 1 }, name)),
    );
    const add = () => {
      const chosen = value(verb);
      const newcomer = `new-${this.#faults.length + 1}`;
      this.#faults.push({
        do: chosen,
        ...(chosen === 'fail_over' ? {} : { who: chosen === 'join' ? newcomer : value(who) }),
        after_ms: Math.round(Number(value(after)) * 1000),
        ...(LASTS.includes(chosen) ? { for_ms: Math.round(Number(value(length)) * 1000) } : {}),
      });
      draw();
    };
    return h(
      'fieldset.modes.one',
      h('legend', 'What happens'),
      h(
        'div.share-grid',
        h('label', 'Preset', presets),
        h('label', 'Fault', verb),
        h('label', 'Member', who),
        h('label', 'Seconds after', after),
        h('label', 'Lasts, seconds', length),
      ),
      h('button.btn', { onclick: add }, 'Add fault'),
      list,
    );
  }

  /** @param {Assumption} row */
  #row(row) {
    const shown = row.value === null ? 'unknown' : String(row.value);
    /** @type {Node} */
    let field = h('span.num', shown);
    if (row.can_change && row.choices.length) {
      field = h(
        'select.field.sm',
        { name: row.key, 'data-was': shown, 'aria-label': row.name },
        row.choices.map((choice) => h('option', { value: choice, selected: choice === shown }, choice)),
      );
    } else if (row.can_change) {
      const was = row.value === null ? '' : shown;
      field = h('input.field.sm.num', { name: row.key, 'data-was': was, value: was, 'aria-label': row.name });
    }
    return h(
      'div.share-hide',
      h('span', { title: row.mark, 'aria-label': row.mark, role: 'img' }, MARKS[row.mark] ?? ''),
      h('b', row.name),
      field,
      h('span.quiet.small', row.reason),
    );
  }

  /** @param {Event} event */
  async #add(event) {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.target);
    /** @type {{[key: string]: string}} */
    const set = {};
    for (const field of form.querySelectorAll('[name]')) {
      const { name, value, dataset } = /** @type {HTMLInputElement} */ (field);
      if (value.trim() !== dataset.was) set[name] = value.trim();
    }
    this.#status.textContent = 'Queued …';
    try {
      const made = await submit(this.url, 'POST', { at: this.#at, set, faults: this.#faults });
      location.assign(made.url);
    } catch (error) {
      this.#status.textContent = message(error);
    }
  }

  /** Rename and Delete of a branch in the tree, both with *Undo*; the root and the page's own timeline have theirs elsewhere. @param {Branch} branch */
  #changes(branch) {
    if (branch.parent === null || branch.id === this.id) return '';
    const url = `/api/timelines/${encodeURIComponent(branch.id)}`;
    const holder = h('span.acts2');
    const button = (/** @type {string} */ name, /** @type {() => void} */ onclick, needs = 'change') =>
      h('button.btn.sm', { 'data-needs': needs, 'aria-label': `${name}: ${branch.title}`, onclick }, name);
    const link = () => /** @type {HTMLElement | null} */ (holder.previousElementSibling);
    const rename = async (/** @type {string} */ title, /** @type {string | null} */ before) => {
      try {
        await submit(url, 'PATCH', { title });
        const shown = link();
        if (shown) shown.textContent = title;
        branch.title = title;
        holder.replaceChildren(
          ...(before === null ? usual() : [button('Undo', () => void rename(before, null)), ...usual()]),
        );
      } catch (error) {
        this.#status.textContent = message(error);
      }
    };
    const asks = () => {
      const field = /** @type {HTMLInputElement} */ (
        h('input.field.sm', { value: branch.title, maxlength: 200, 'aria-label': `New title of ${branch.title}` })
      );
      field.addEventListener('keydown', (event) => {
        if (event.key === 'Escape') holder.replaceChildren(...usual());
        else if (event.key === 'Enter' && field.value.trim()) void rename(field.value.trim(), branch.title);
        else return;
        event.preventDefault();
        event.stopPropagation();
      });
      holder.replaceChildren(field);
      field.focus();
    };
    const remove = () => {
      link()?.classList.add('ended');
      const timer = setTimeout(async () => {
        try {
          await submit(url, 'DELETE');
          holder.closest('li')?.remove();
        } catch (error) {
          this.#status.textContent = message(error);
          undo();
        }
      }, UNDO_MS);
      const undo = () => {
        clearTimeout(timer);
        link()?.classList.remove('ended');
        holder.replaceChildren(...usual());
      };
      holder.replaceChildren(h('span.quiet.small', `Deleted in ${UNDO_MS / 1000} s`), button('Undo', undo));
    };
    const usual = () => [button('Rename', asks), button('Delete', remove, 'delete')];
    holder.append(...usual());
    return holder;
  }

  /** @param {Branch[]} branches */
  #tree(branches) {
    if (branches.length < 2) return h('p.quiet.share-links', 'No branches yet. The first one is listed here.');
    /** @param {string | null} parent @returns {HTMLElement} */
    const under = (parent) =>
      h(
        'ul',
        branches
          .filter((each) => each.parent === parent)
          .map((each) =>
            h(
              'li',
              each.id === this.id ? h('b', each.title) : h('a', { href: `/t/${each.id}` }, each.title),
              this.#changes(each),
              each.at === null ? '' : h('span.quiet.small', ` from entry ${each.at} `),
              each.parent === null
                ? ''
                : h('a.small', { href: `/compare?runs=${each.parent},${each.id}` }, 'Compare with its parent'),
              under(each.id),
            ),
          ),
      );
    return h('div.share-links', h('h3', 'Branches'), under(branches[0]?.parent ?? null));
  }
}

/** @param {Fault} fault */
const wordsOf = (fault) => {
  const name = FAULTS.find(([value]) => value === fault.do)?.[1] ?? fault.do;
  const length = fault.for_ms ? ` for ${fault.for_ms / 1000} s` : '';
  return `${name}${fault.who ? ` ${fault.who}` : ''}${length}, after ${fault.after_ms / 1000} s `;
};

/** @param {unknown} error */
const message = (error) => messageOf(error, 'It could not be forked.');
