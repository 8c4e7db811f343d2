/**
 * The page of a lesson: the player, what was done, keys, the address, and the presenter in another window.
 *
 * @import {Sheet} from '../lesson/types'
 */

import { part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { LessonPlayer } from '../lesson/player.js';
import { forget, keep, of } from '../lesson/progress.js';
import { explain } from '../shared/terms.js';
import { toast } from '../shared/toast.js';
import { copy, keep as keepInAddress } from '../shared/url.js';

/** @type {Sheet} */
const sheet = JSON.parse(part('sheet-data').textContent ?? 'null');

/** The beat of an address, from 0; null where it names none. @param {string} search */
function beatOf(search) {
  const text = new URLSearchParams(search).get('beat');
  return text !== null && /^\d{1,3}$/.test(text) ? Math.max(0, Number(text) - 1) : null;
}

/** @param {number} beat */
function address(beat) {
  const url = new URL(location.href);
  url.searchParams.set('beat', String(beat + 1));
  return url.href;
}

explain();
const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel(`lesson ${sheet.id}`);
let hearing = false;
let begun = false;

const player = new LessonPlayer(sheet, {
  of: { lesson: sheet.id },
  kept: () => of(sheet.id),
  keeps: (change) => {
    keep(sheet.id, change);
  },
  onBeat: (beat) => {
    const href = address(beat);
    // Each beat is an entry of the browser's history: back leads to the beat before.
    if (!begun) history.replaceState({ beat }, '', href);
    else if (history.state?.beat !== beat) history.pushState({ beat }, '', href);
    begun = true;
    if (!hearing) channel?.postMessage({ beat });
  },
});

/** Shows a beat because something else moved: nothing is announced again. @param {number} beat */
function follow(beat) {
  hearing = true;
  player.show(beat);
  hearing = false;
}

addEventListener('popstate', (event) => {
  const beat = event.state?.beat ?? beatOf(location.search) ?? 0;
  if (beat !== player.beat) follow(beat);
});
// Another tab answered, or the presenter has gone on.
channel?.addEventListener('message', ({ data }) => {
  if (typeof data?.beat === 'number' && (presents() || data.presenter || player.beat !== data.beat)) follow(data.beat);
});

const presents = () => document.body.classList.contains('presents');
/** @param {boolean} on */
function present(on) {
  document.body.classList.toggle('presents', on);
  part('presenter').setAttribute('aria-pressed', String(on));
  keepInAddress('presenter', on ? '1' : null);
}

async function copyLink() {
  toast((await copy(address(player.beat))) ? `Link to step ${player.beat + 1} copied` : address(player.beat));
}

/** Turns the presenter's view on or off; the class's screen is a window of its own, which follows. */
function togglePresenter() {
  const on = !presents();
  // Under the address of a reader: it has no notes.
  if (on) open(address(player.beat), 'class-screen', 'popup,width=1280,height=800');
  present(on);
}

part('presenter').addEventListener('click', togglePresenter);
part('copy').addEventListener('click', copyLink);
part('again').addEventListener('click', () => {
  forget(sheet.id);
  player.show(0);
});
listen({
  ArrowRight: () => player.move(1),
  ArrowLeft: () => player.move(-1),
  Enter: () => player.check(),
  ...Object.fromEntries([...'0123456789'].map((digit) => [digit, () => player.choose(Number(digit))])),
  t: () => player.takeOver(),
  p: togglePresenter,
  l: copyLink,
});
if (new URLSearchParams(location.search).get('presenter') === '1') present(true);
player.show(beatOf(location.search) ?? of(sheet.id).beat);
document.documentElement.dataset.alive = 'true';
