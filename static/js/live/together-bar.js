/**
 * The bar of looking together: who is here, who presents, and what this window does of it; and where it joins.
 *
 * @typedef {import('./together.js').Kept} Kept
 */

import { Together } from './together.js';
import { Socket, socketUrl } from '../shared/socket.js';
import { h, part } from '../shared/dom.js';
import { submit } from '../shared/api.js';
import { parsed } from '../shared/parsed.js';
import { counted } from '../shared/numbers.js';

const TICK_MS = 100;
/** The server repeats who is here every few seconds. */
const SILENCE_MS = 20_000;
const NAMED_MOST = 3;
/** What a link keeps of what is looked at. */
const VIEW = ['at', 'range', 'zoom', 'pins', 'picked'];

/**
 * @param {object} parts
 * @param {string} parts.id of the timeline
 * @param {string} parts.base of its addresses
 * @param {() => {at: number, picked: string | null}} parts.now
 * @param {(view: string, before: string) => void} parts.look
 */
export function join({ id, base, now, look }) {
  const button = part('together-open');
  const bar = h('div.together', { role: 'region', 'aria-label': 'Looking together', hidden: true });
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
    hear: (message) => together.hear(message),
    onLost: () => together.lose(),
    silence_ms: SILENCE_MS,
  });

  /** @param {string} text @param {() => void} onclick */
  const press = (text, onclick) => h('button.btn.sm', { onclick }, text);
  const handing = () => {
    const { people } = together.others;
    return (
      people.length > 0 &&
      h(
        'select.field.sm',
        { 'aria-label': 'Hand over to', onchange: (/** @type {any} */ event) => together.hand(event.target.value) },
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
    sessionStorage.setItem(key, JSON.stringify(together.kept));
    const { role, presenter, others, followers, isAway } = together;
    if (role !== 'looks') bar.hidden = false;
    // What is being pressed or chosen is not replaced by the same.
    const state = JSON.stringify([role, presenter?.who, others, followers.map((one) => one.who), isAway]);
    if (state === last) return;
    last = state;
    const names = others.people.map(nameOf);
    const offer = presenter && role === 'looks' ? `Follow ${nameOf(presenter)}` : '';
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
      fill(
        'You present',
        isAway ? 'no connection to the server; it is tried again' : following.length ? follow : here,
        [handing(), press('Stop presenting', () => together.stop())],
      );
    else if (role === 'follows')
      fill(
        presenter ? `You follow ${who}` : 'You follow',
        isAway ? 'nothing comes at the moment; it goes on when it does' : following.length ? `${follow}, too` : '',
        [
          press('Take over', () => together.present()),
          h('button.btn.sm', { onclick: () => together.stop() }, 'Stop following ', h('kbd', 'Esc')),
        ],
      );
    else if (presenter && !isAway)
      fill(`${who} presents`, here, [
        press('Follow', () => together.follow()),
        press('Take over', () => together.present()),
        press('Close', close),
      ]);
    else fill('Nobody presents', here, [press('Present', () => together.present()), press('Close', close)]);
  };
  /** @param {string} title @param {string} text @param {(Node | false)[]} buttons */
  const fill = (title, text, buttons) =>
    bar.replaceChildren(
      h('b', { role: 'status' }, title),
      h('span', text),
      h('span.grow'),
      ...buttons.filter((one) => one !== false),
    );

  const leave = (/** @type {any} */ event) => {
    if (together.role === 'follows' && !bar.contains(event.target)) together.stop();
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
    const view = new URLSearchParams({ ...Object.fromEntries(url), at: `${at}`, ...(picked ? { picked } : {}) });
    for (const name of [...view.keys()]) if (!VIEW.includes(name)) view.delete(name);
    together.tick(`?${view}`);
    show();
  }, TICK_MS);
  socket.open();
  addEventListener('online', () => socket.hurry());
  show();
  return () => {
    bar.hidden = false;
    together.willing = true;
    if (together.presenter && together.role === 'looks') together.follow();
  };
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
  const kept = isReload ? sessionStorage.getItem(key) : null;
  return kept ? parsed(kept) : { who: crypto.randomUUID().replaceAll('-', ''), role: 'looks', turn: 0 };
}
