/**
 * The bar of looking together: who is here, who presents, and what this window does of it; and where it joins.
 *
 * @typedef {import('./together.js').Kept} Kept
 */

import { Pointing } from './pointing.js';
import { Together } from './together.js';
import { Socket, socketUrl } from '../shared/socket.js';
import { h, part, redrawn } from '../shared/dom.js';
import { keep, kept } from '../shared/kept.js';
import { submit } from '../shared/api.js';
import { parsed } from '../shared/parsed.js';
import { counted } from '../shared/numbers.js';

const TICK_MS = 100;
/** The server repeats who is here every few seconds. */
const SILENCE_MS = 20_000;
const NAMED_MOST = 3;
/** Letters that the server takes. */
const VIEW_MOST = 2000;
/** What a link keeps of what is looked at. */
const VIEW = ['at', 'range', 'zoom', 'pins', 'picked', 'point'];

/**
 * @param {object} parts
 * @param {string} parts.id of the timeline
 * @param {string} parts.base of its addresses
 * @param {() => {at: number, picked: string | null}} parts.now
 * @param {(view: string, before: string) => void} parts.look
 * @param {(stamp: string) => void} parts.onNotes another text once the notes are others than before
 * @param {import('../timeline/view.js').TimelineView | null} parts.tracks null: a crowd has none
 */
export function join({ id, base, now, look, onNotes, tracks }) {
  const pointing = tracks && new Pointing(tracks);
  const button = part('together-open');
  const bar = h('div.together', { role: 'region', 'aria-label': 'Looking together', tabindex: -1, hidden: true });
  document.querySelector('header.bar')?.after(bar);
  const key = `together ${id}`;
  let shown = '';
  const together = new Together(keptOf(key), {
    send: (message) => submit(`${base}/together`, 'POST', message),
    look: (view) => {
      look(view, shown);
      shown = view;
    },
    onChange: () => show(),
  });
  const socket = new Socket({
    url: `${socketUrl(`/ws/together/${encodeURIComponent(id)}`)}?who=${together.who}`,
    hear: (message) => {
      if (message.notes !== undefined) onNotes(message.notes);
      together.hear(message);
    },
    onLost: () => together.lose(),
    silence_ms: SILENCE_MS,
  });

  /** @param {string} text @param {() => void} onclick */
  const press = (text, onclick) => h('button.btn.sm', { 'data-key': `together ${text}`, onclick }, text);
  const hand = (/** @type {any} */ { target }) => {
    if (target.value) together.hand(target.value);
    target.value = '';
  };
  const handing = () => {
    const { people } = together.others;
    return (
      people.length > 0 &&
      h(
        'select.field.sm',
        { 'aria-label': 'Hand over to', 'data-key': 'together hand', onchange: hand },
        h('option', { value: '' }, 'Hand over to…'),
        people.map((one) => h('option', { value: one.who }, nameOf(one))),
      )
    );
  };
  const close = () => {
    together.stop();
    bar.hidden = true;
  };
  let last = '';
  const show = () => {
    keep(key, JSON.stringify(together.kept), 'sessionStorage');
    const { role, presenter, others, followers, isAway, offered } = together;
    if (role !== 'looks') bar.hidden = false;
    pointing?.show((role === 'follows' && !isAway && presenter?.view) || '', presenter ? nameOf(presenter) : '');
    // What is being pressed or chosen is not replaced by the same.
    const state = JSON.stringify([role, presenter?.who, others, followers.map((one) => one.who), isAway]);
    if (state === last) return;
    last = state;
    const names = others.people.map(nameOf);
    const offer = offered ? `Follow ${nameOf(offered)}` : '';
    part('together-word').textContent = offer;
    part('together-word').hidden = !offer;
    button.setAttribute('aria-label', offer || 'Look together');
    part('together-people').replaceChildren(
      ...[...new Set(others.people.map((one) => one.name))].slice(0, NAMED_MOST).map(faceOf),
    );
    button.title = names.length ? `Also here: ${listed(names, others.more)}` : 'Look together';
    const here = names.length
      ? `${listed(names, others.more)} ${names.length + others.more > 1 ? 'are' : 'is'} here`
      : 'Nobody else is here';
    const following = followers.map(nameOf);
    const follow = `${listed(following)} ${following.length === 1 ? 'follows' : 'follow'}`;
    const who = presenter ? nameOf(presenter) : '';
    if (role === 'presents')
      fill('You present', isAway ? 'no connection to the server; trying again' : following.length ? follow : here, [
        handing(),
        press('Stop presenting', () => together.stop()),
      ]);
    else if (role === 'follows')
      fill(
        presenter ? `You follow ${who}` : 'You follow',
        isAway
          ? 'no message at the moment; following continues with the next one'
          : following.length
            ? `${follow}, too`
            : '',
        [
          press('Take over', () => together.present()),
          h(
            'button.btn.sm',
            { 'data-key': 'together stop', onclick: () => together.stop() },
            'Stop following ',
            h('kbd', 'Esc'),
          ),
        ],
      );
    else if (offered)
      fill(`${who} presents`, here, [
        press('Follow', () => together.follow()),
        press('Take over', () => together.present()),
        press('Close', close),
      ]);
    else fill('Nobody presents', here, [press('Present', () => together.present()), press('Close', close)]);
  };
  /** @param {string} title @param {string} text @param {(Node | false)[]} buttons */
  const fill = (title, text, buttons) => {
    const hasFocus = bar.contains(document.activeElement);
    redrawn(
      () =>
        bar.replaceChildren(
          h('b', { role: 'status' }, title),
          h('span', text),
          h('span.grow'),
          ...buttons.filter((one) => one !== false),
        ),
      bar,
    );
    if (hasFocus && !bar.contains(document.activeElement)) bar.focus({ preventScroll: true });
  };

  /** Looks alone from now on, also when somebody begins to present. */
  const alone = () => {
    if (together.role !== 'presents') together.stop();
  };
  const leave = (/** @type {any} */ { target, key: pressed }) => {
    // Elsewhere in the bar a key is the board's, as it is without a focus.
    if (bar.contains(target) && (!pressed || (target !== bar && ['Enter', ' '].includes(pressed)))) return;
    // Notes are read and written while one follows.
    if (target.closest?.('#notes-panel')) return;
    // What is done in a dialog moves no board; a command of the palette may.
    const dialog = target.closest?.('dialog');
    if (dialog && !(dialog.id === 'palette' && pressed === 'Enter')) return;
    alone();
  };
  for (const name of ['wheel', 'touchmove']) document.addEventListener(name, leave, { passive: true });
  part('stage').addEventListener('pointerdown', leave);
  document.addEventListener('keydown', (event) => {
    const { key: pressed, ctrlKey, metaKey, altKey } = event;
    if (!ctrlKey && !metaKey && !altKey && !['Tab', 'Shift'].includes(pressed)) leave(event);
  });
  setInterval(() => {
    const { at, picked } = now();
    const url = new URLSearchParams(location.search);
    const view = new URLSearchParams({
      ...Object.fromEntries(url),
      at: `${at}`,
      ...(picked ? { picked } : {}),
      ...(pointing?.at ? { point: pointing.at } : {}),
    });
    for (const name of [...view.keys()]) if (!VIEW.includes(name)) view.delete(name);
    if (`?${view}`.length > VIEW_MOST) view.delete('pins');
    together.tick(`?${view}`);
    show();
  }, TICK_MS);
  socket.open();
  addEventListener('online', () => socket.hurry());
  show();
  const open = () => {
    bar.hidden = false;
    together.willing = true;
    if (together.offered) together.follow();
  };
  return { open, alone };
}

/** In local mode nobody has a name. @param {{name: string}} person */
const nameOf = ({ name }) => name || 'another window';

/** @param {string} name */
const faceOf = (name) => h('span.face', { 'aria-hidden': 'true' }, name.slice(0, 1).toUpperCase() || '·');

/** @param {string[]} names @param {number} [more] */
function listed(names, more = 0) {
  const some = [...new Set(names)].slice(0, NAMED_MOST);
  const left = names.length + more - some.length;
  return left ? `${some.join(', ')} and ${counted(left, 'other', 'others')}` : some.join(' and ');
}

/** A reload goes on; a tab that was duplicated is another window. @param {string} key @returns {Kept} */
function keptOf(key) {
  const [navigation] = performance.getEntriesByType('navigation');
  const isReload = /** @type {any} */ (navigation)?.type === 'reload';
  const before = isReload ? kept(key, 'sessionStorage') : null;
  // Not `randomUUID`, which a page has over TLS and on loopback only.
  const who = [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('');
  return before ? parsed(before) : { who, role: 'looks', turn: 0 };
}
