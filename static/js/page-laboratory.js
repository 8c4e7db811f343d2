/**
 * The laboratory's page: one group, one event, six answers. The server knows what a click makes of the group and what
 * the assignors answer; this file shows it and keeps the address in step.
 *
 * @typedef {import('./laboratory/types').Sheet} Sheet
 * @typedef {import('./laboratory/types').Change} Change
 * @typedef {import('./laboratory/types').View} View
 */

import { ask, tell } from './api.js';
import { choose, h, part } from './dom.js';
import { listen } from './keys.js';
import { boardOf } from './laboratory/board.js';
import { MemberCard } from './laboratory/member-card.js';
import { Moments } from './laboratory/moments.js';
import { numbered } from './laboratory/people.js';
import { showScorecard } from './laboratory/scorecard.js';
import { Setup } from './laboratory/setup.js';
import { showSteps } from './laboratory/steps.js';
import { toast } from './toast.js';
import { copy } from './url.js';

/** An answer that takes longer is announced. */
const PATIENCE_MS = 250;
const RESIZED_MS = 80;
/** The board that is open at first: the default assignor of Kafka's newer protocol. */
const UNIFORM = 5;

const boards = [.../** @type {NodeListOf<HTMLElement>} */ (part('boards').querySelectorAll('.bd'))];
/** @type {Sheet | null} */
let sheet = JSON.parse(part('sheet-data').textContent ?? 'null');
let open = openInAddress();
/** @type {View} */
let view = 'moves';
let step = 1;
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

function openInAddress() {
  const found = /^#b?([1-6])$/.exec(location.hash);
  return found ? Number(found[1]) - 1 : UNIFORM;
}

// -- asking

/** @param {Change} change */
const changeTo = (change) =>
  take(() => tell('/api/laboratory', 'POST', { query: sheet?.query ?? '', changes: [change] }));

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
      say(error instanceof Error ? error.message : 'The server did not answer.');
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

/** One line over the page, until the next answer. @param {string} says @param {'bad' | 'plain'} [kind] */
function say(says, kind = 'bad') {
  const note = part('note');
  note.hidden = !says;
  note.className = kind === 'bad' ? 'banner bad' : 'banner';
  part('note-says').textContent = says;
  part('note-act').hidden = sheet !== null;
}

// -- showing

function show() {
  if (!sheet) return;
  const { answers } = sheet;
  for (const id of ['lab', 'basis', 'crumb-slash', 'copy-link', 'play', 'sweep'])
    document.getElementById(id)?.removeAttribute('hidden');
  const { steps } = answers[open];
  step = Math.max(0, Math.min(step, steps.length - 1));
  part('crumb').textContent = sheet.title;
  document.title = `${sheet.title} · Laboratory · Rebalance Explorer`;
  part('verdict').replaceChildren(
    ...sheet.says.map(({ text, board }) =>
      board === undefined
        ? document.createTextNode(text)
        : h('a', { class: 'clause', href: `#b${board + 1}`, 'data-board': board }, text),
    ),
  );
  setup.show(sheet);
  drawBoards();
  const held = /** @type {HTMLElement | null} */ (document.activeElement)?.dataset.key;
  showScorecard(part('scorecard'), sheet, open, openBoard);
  if (held?.startsWith('column-'))
    /** @type {HTMLElement | null} */ (document.querySelector(`[data-key="column-${open}"]`))?.focus({
      preventScroll: true,
    });
  showExplanation();
  const { play } = answers[open];
  // It can be pressed all the same, and says why not.
  part('play').classList.toggle('off', play !== null);
  part('play').title = play ?? 'Run the event under the open assignor, step by step';
  const sweep = document.getElementById('sweep');
  if (sweep instanceof HTMLAnchorElement) sweep.href = `${sweep.dataset.sweeps}?${sheet.query}`;
}

function drawBoards() {
  if (!sheet) return;
  const shown = sheet;
  shown.answers.forEach((answer, place) => {
    const node = boards[place];
    const is = place === open;
    node.setAttribute('aria-current', String(is));
    node.querySelector('.rn')?.classList.toggle('on', is);
    const { measures } = answer;
    node
      .querySelector('.mv')
      ?.replaceChildren(
        ...(measures
          ? [
              h('b', {}, numbered(measures.moved)),
              ' moved, ',
              h(
                'b',
                {},
                measures.min === measures.max
                  ? numbered(measures.min)
                  : `${numbered(measures.min)}–${numbered(measures.max)}`,
              ),
              ' each',
            ]
          : [h('b', {}, 'throws')]),
      );
    const holder = /** @type {HTMLElement} */ (node.querySelector('.h'));
    const framed = is && view !== 'before' ? (answer.steps[step]?.columns ?? null) : null;
    holder.replaceChildren(boardOf(shown, answer, { width: Math.floor(holder.clientWidth), view, framed }));
    const says = /** @type {HTMLElement} */ (node.querySelector('.say'));
    says.textContent = answer.says;
    says.classList.toggle('no', answer.error !== null);
  });
}

function showExplanation() {
  if (!sheet) return;
  const answer = sheet.answers[open];
  part('steps-number').textContent = String(open + 1);
  part('steps-title').textContent = `How ${answer.assignor} got there`;
  part('steps-place').textContent = answer.steps.length ? `step ${step + 1} of ${answer.steps.length}` : '';
  showSteps(part('steps'), sheet, answer.steps, step, (to) => goTo(to));
  if (answer.error) part('steps').replaceChildren(h('li', { class: 'none' }, `It did not: ${answer.error}.`));
  const back = /** @type {HTMLButtonElement} */ (part('back'));
  const next = /** @type {HTMLButtonElement} */ (part('next'));
  back.disabled = step <= 0;
  next.disabled = step >= answer.steps.length - 1;
  part('faults').hidden = !answer.faults.length;
  part('faults').textContent = answer.faults
    .map((fault) => `A fault of Kafka’s own, repeated here: ${fault.says}.`)
    .join(' ');
}

/** @param {number} board */
function openBoard(board) {
  if (!sheet) return;
  if (board !== open) step = 1;
  open = board;
  history.replaceState(history.state, '', `${location.pathname}${location.search}#${open + 1}`);
  show();
}

/** @param {number} to */
function goTo(to) {
  if (!sheet) return;
  step = Math.max(0, Math.min(to, sheet.answers[open].steps.length - 1));
  drawBoards();
  showExplanation();
}

/** The group stands in the address; edits replace it. */
function follow() {
  if (!sheet) return;
  history.replaceState(history.state, '', `${location.pathname}?${sheet.query}#${open + 1}`);
}

// -- leaving

async function play() {
  if (!sheet) return;
  const reason = sheet.answers[open].play;
  if (reason) {
    say(reason, 'plain');
    return;
  }
  try {
    const { url } = await tell('/api/laboratory/runs', 'POST', { query: sheet.query, board: open + 1 });
    location.assign(`${url}?play=1`);
  } catch (error) {
    say(error instanceof Error ? error.message : 'The run could not be started.');
  }
}

async function copyLink() {
  if (!sheet) return;
  toast(
    (await copy(location.href)) ? 'Link copied: it carries the group and the event' : 'The clipboard did not take it',
  );
}

function wire() {
  for (const [place, node] of boards.entries()) node.addEventListener('click', () => openBoard(place));
  part('verdict').addEventListener('click', (event) => {
    const clause = /** @type {HTMLElement | null} */ (/** @type {Element} */ (event.target).closest('[data-board]'));
    if (!clause) return;
    event.preventDefault();
    openBoard(Number(clause.dataset.board));
    boards[open].scrollIntoView({ block: 'nearest' });
  });
  choose('view', (value) => {
    view = /** @type {View} */ (value);
    drawBoards();
  });
  part('back').addEventListener('click', () => goTo(step - 1));
  part('next').addEventListener('click', () => goTo(step + 1));
  part('take').addEventListener('click', () => moments.open());
  part('copy-link').addEventListener('click', copyLink);
  part('play').addEventListener('click', play);
  /** @type {{[key: string]: () => void}} */
  const keys = { ArrowRight: () => goTo(step + 1), ArrowLeft: () => goTo(step - 1), c: copyLink };
  for (const place of boards.keys()) keys[String(place + 1)] = () => openBoard(place);
  listen(keys);
  addEventListener('hashchange', () => {
    if (/^#b?[1-6]$/.test(location.hash)) openBoard(openInAddress());
  });
  addEventListener('popstate', () => {
    if (sheet && location.search.slice(1) !== sheet.query && location.search)
      take(() => ask(`/api/laboratory${location.search}`));
  });
  let resized = /** @type {any} */ (null);
  addEventListener('resize', () => {
    clearTimeout(resized);
    resized = setTimeout(drawBoards, RESIZED_MS);
  });
}

wire();
// On a phone the answers come first: the controls would fill the screen before them.
/** @type {HTMLDetailsElement} */ (part('setup')).open = !matchMedia('(max-width: 720px)').matches;
matchMedia('(max-width: 720px)').addEventListener('change', ({ matches }) => {
  if (!matches) /** @type {HTMLDetailsElement} */ (part('setup')).open = true;
});
if (sheet) {
  show();
  // A moment of a timeline becomes the group that it had.
  if (location.search !== `?${sheet.query}`) follow();
}
document.documentElement.dataset.alive = 'true';
