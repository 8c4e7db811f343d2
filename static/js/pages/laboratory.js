/**
 * The laboratory's page: one group, one event, six answers. The server knows what a click makes of the group and what
 * the assignors answer; this file shows it and keeps the address in step.
 *
 * @import {Change, Sheet} from '../laboratory/types'
 */

import { ask, submit } from '../shared/api.js';
import { part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { MemberCard } from '../laboratory/member-card.js';
import { Moments } from '../laboratory/moments.js';
import { Setup } from '../laboratory/setup.js';
import { boardIn, SheetView } from '../laboratory/sheet-view.js';
import { LaboratorySharing } from '../sharing/laboratory.js';
import { isWithin, onWithin } from '../shared/text-size.js';
import { toast } from '../shared/toast.js';
import { copy } from '../shared/url.js';
import { messageOf } from '../shared/errors.js';

/** An answer that takes longer is announced. */
const PATIENCE_MS = 250;
const PHONE_PX = 720;

/** @type {Sheet | null} */
let sheet = JSON.parse(part('sheet-data').textContent ?? 'null');
const view = new SheetView({
  open: boardIn(location.hash),
  onOpen: (board) => {
    history.replaceState(history.state, '', `${location.pathname}${location.search}#${board + 1}`);
    showActs();
  },
});
/** What was asked for last; each change goes on from what the one before made. @type {Promise<void>} */
let asking = Promise.resolve();

const setup = new Setup({
  group: part('group'),
  presets: part('presets'),
  happens: part('happens'),
  shape: /** @type {HTMLSelectElement} */ (part('shape')),
  own: part('shape-own'),
  link: part('link'),
  onChange: (change) => changeTo(change),
  onMember: (place) => {
    if (sheet) card.open(sheet, place);
  },
});
const card = new MemberCard({
  dialog: /** @type {HTMLDialogElement} */ (part('member')),
  onChange: (change) => changeTo(change),
});
const moments = new Moments({
  dialog: /** @type {HTMLDialogElement} */ (part('moments')),
  timeline: /** @type {HTMLSelectElement} */ (part('timeline')),
  moment: /** @type {HTMLInputElement} */ (part('moment')),
  at: part('moment-at'),
  says: part('moment-says'),
  use: /** @type {HTMLButtonElement} */ (part('moment-use')),
  onUse: (query) => take(() => ask(`/api/laboratory?${query}`)),
});

// -- asking

/** @param {Change} change */
const changeTo = (change) =>
  take(() => submit('/api/laboratory', 'POST', { query: sheet?.query ?? '', changes: [change] }));

/** @param {() => Promise<Sheet>} make */
function take(make) {
  asking = asking.then(async () => {
    const slow = setTimeout(() => busy(true), PATIENCE_MS);
    try {
      sheet = await make();
      say('');
      show();
      card.show(sheet);
      follow();
    } catch (error) {
      say(messageOf(error, 'The server did not answer.'));
      if (sheet) setup.show(sheet);
    } finally {
      clearTimeout(slow);
      busy(false);
    }
  });
  return asking;
}

/** @param {boolean} is */
function busy(is) {
  part('lab').setAttribute('aria-busy', String(is));
  part('basis').textContent = is ? 'Asking six assignors…' : 'Computed from 6 answers';
}

/** One line over the page, until the next answer. @param {string} text @param {'bad' | 'plain'} [kind] */
function say(text, kind = 'bad') {
  const note = part('note');
  note.hidden = !text;
  note.className = kind === 'bad' ? 'banner bad' : 'banner';
  part('note-says').textContent = text;
  part('note-act').hidden = sheet !== null;
}

// -- showing

function show() {
  if (!sheet) return;
  for (const id of ['lab', 'basis', 'crumb-slash', 'copy-link', 'share-open', 'play', 'sweep'])
    document.getElementById(id)?.removeAttribute('hidden');
  part('crumb').textContent = sheet.title;
  document.title = `${sheet.title} · Laboratory · Rebalance Explorer`;
  setup.show(sheet);
  view.show(sheet);
  showActs();
}

/** What can be done with the open board. */
function showActs() {
  if (!sheet) return;
  const { play: cannotPlay } = sheet.answers[view.open];
  // It can be pressed all the same, and then shows why not.
  part('play').classList.toggle('off', cannotPlay !== null);
  part('play').title = cannotPlay ?? 'Run the event under the open assignor, step by step';
  const sweep = document.getElementById('sweep');
  if (sweep instanceof HTMLAnchorElement) sweep.href = `${sweep.dataset.sweeps}?${sheet.query}`;
}

/** The group is in the address; edits replace it. */
function follow() {
  if (!sheet) return;
  history.replaceState(history.state, '', `${location.pathname}?${sheet.query}#${view.open + 1}`);
}

// -- leaving

async function play() {
  if (!sheet) return;
  const reason = sheet.answers[view.open].play;
  if (reason) {
    say(reason, 'plain');
    return;
  }
  try {
    const { url } = await submit('/api/laboratory/runs', 'POST', { query: sheet.query, board: view.open + 1 });
    location.assign(`${url}?play=1`);
  } catch (error) {
    say(messageOf(error, 'The run could not be started.'));
  }
}

async function copyLink() {
  if (!sheet) return;
  toast(
    (await copy(location.href)) ? 'Link copied: it carries the group and the event' : 'The clipboard did not take it',
  );
}

function wire() {
  part('take').addEventListener('click', () => moments.open());
  part('copy-link').addEventListener('click', copyLink);
  part('play').addEventListener('click', play);
  listen({ ...view.keys(), c: copyLink });
  addEventListener('popstate', () => {
    if (sheet && location.search.slice(1) !== sheet.query && location.search)
      take(() => ask(`/api/laboratory${location.search}`));
  });
}

wire();
const sharing = new LaboratorySharing();
part('share-open').addEventListener('click', () => {
  if (sheet) sharing.open({ query: sheet.query, board: view.open + 1 }, sheet.title);
});
// On a phone the answers come first: the controls would fill the screen before them.
/** @type {HTMLDetailsElement} */ (part('setup')).open = !isWithin(PHONE_PX);
onWithin(PHONE_PX, (is) => {
  if (!is) /** @type {HTMLDetailsElement} */ (part('setup')).open = true;
});
if (sheet) {
  show();
  // A moment of a timeline becomes the group that it had.
  if (location.search !== `?${sheet.query}`) follow();
}
document.documentElement.dataset.alive = 'true';
