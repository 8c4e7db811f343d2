/**
 * The buttons and the keys of a board's page: each calls the page's function for it.
 *
 * @typedef {import('../stage/tracks.js').TrackStage | import('../stage/crowd.js').CrowdStage} Stage
 */

import { choose, h, hit, part, press } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { PACES, PAUSE_SHAPE, PLAY_SHAPE, SPEEDS, stepMs } from '../timeline/player.js';
import { toast } from '../shared/toast.js';
import { bindingsOf } from './actions.js';

/**
 * @typedef {object} Controls
 * @property {Stage} stage
 * @property {import('../timeline/timeline.js').Timeline} timeline
 * @property {import('./seeking.js').Seeking} seeking
 * @property {import('../timeline/player.js').Player} player
 * @property {import('./inspector.js').Inspector} inspector
 * @property {() => void} togglePlay
 * @property {(direction: 1 | -1) => void} stepProblem
 * @property {() => void} copyLink
 * @property {() => void} rename
 * @property {() => void} unpick
 * @property {(key: string) => void} pick a partition
 * @property {() => number} start_ms
 * @property {import('../source/page.js').Served | null} server
 */

/** What is looked at on the tracks: it comes with the first gesture. @type {() => Promise<import('./tracks-control.js').TracksControl>} */
let tracks = () => Promise.reject(new Error('The board is not wired yet.'));

/** The zoom, the range and the pins of an address. @param {string} search */
export async function openTracks(search) {
  if (/[?&](zoom|range|pins|within)=/.test(search)) (await tracks()).open(search);
}

/** Shows exactly what an address has: what a presenter looks at. @param {string} search */
export async function followTracks(search) {
  (await tracks()).follow(search);
}

/** @param {Controls} controls */
export function wireControls(controls) {
  /** @type {ReturnType<typeof tracks> | undefined} */
  let made;
  tracks = () => (made ??= import('./tracks-control.js').then(({ TracksControl }) => new TracksControl(controls)));
  for (const id of ['tracks', 'board', 'zoom']) {
    for (const name of ['pointerenter', 'focusin', 'touchstart']) {
      part(id).addEventListener(name, () => tracks(), { once: true, passive: true });
    }
  }
  part('zoom').addEventListener('click', async (event) => {
    const button = hit(event, '[data-key]');
    if (button) (await tracks()).key(String(button.dataset.key));
  });
  part('select-range').addEventListener('click', async () => (await tracks()).toggle());
  const { stage, seeking, player, inspector, togglePlay, copyLink, rename } = controls;
  part('epoch-back').addEventListener('click', () => seeking.stepEpoch(-1));
  part('event-back').addEventListener('click', () => seeking.step(-1));
  part('play').addEventListener('click', togglePlay);
  part('continue').addEventListener('click', togglePlay);
  part('event-on').addEventListener('click', () => seeking.step(1));
  part('epoch-on').addEventListener('click', () => seeking.stepEpoch(1));
  part('speeds').replaceChildren(
    ...SPEEDS.map((speed) =>
      h('button', { 'data-value': speed, 'aria-pressed': String(speed === 1) }, speed === 0.5 ? '½×' : `${speed}×`),
    ),
  );
  choose('speeds', (value) => player.setSpeed(Number(value)));
  choose('axis', (value) => {
    stage.axis = /** @type {'events' | 'time'} */ (value);
  });
  choose('hue', (value) => {
    stage.hue = /** @type {'member' | 'partition'} */ (value);
  });
  choose('detail', (value) => inspector.show(/** @type {import('./inspector.js').View} */ (value)));
  part('copy').addEventListener('click', copyLink);
  document.getElementById('rename')?.addEventListener('click', rename);
  part('loop').addEventListener('click', () => part('loop').setAttribute('aria-pressed', String(!loops())));
  const handlers = handlersOf(controls);
  part('help-open').addEventListener('click', showHelp);
  part('palette-open').addEventListener('click', () => handlers.palette());
  listen(bindingsOf(handlers));
}

async function showHelp() {
  const { showKeys } = await import('./palette.js');
  showKeys();
  /** @type {HTMLDialogElement} */ (part('help')).showModal();
}

/** What the actions do, by id; those that are missing here press a part of the page. @param {Controls} controls */
function handlersOf(controls) {
  const { stage, timeline, seeking, player, togglePlay, stepProblem, copyLink, unpick, pick, server } = controls;
  const pace = /** @type {HTMLSelectElement} */ (part('pace'));
  /** @type {import('./palette.js').Palette | null} */
  let palette = null;
  /** What a server has found, of the entries up to one. @type {{all: import('./finding.js').Motif[], upTo: number}} */
  let motifs = { all: [], upTo: -1 };
  const openPalette = async () => {
    const dialog = /** @type {HTMLDialogElement} */ (part('palette'));
    if (dialog.open) return;
    // At once, and filled when its module has come: what is typed meanwhile is no key of the board.
    dialog.showModal();
    const field = /** @type {HTMLInputElement} */ (dialog.querySelector('input'));
    field.value = '';
    field.focus();
    const [{ Palette }, { finderOf }] = await Promise.all([import('./palette.js'), import('./finding.js')]);
    const found = (/** @type {string} */ query) =>
      finderOf({
        stage,
        timeline,
        motifs,
        go: (sequence) => seeking.go(sequence),
        pick,
        start_ms: controls.start_ms(),
      })(query);
    palette ??= new Palette({ handlers, found });
    palette.show();
    if (!server || motifs.upTo === timeline.last) return;
    try {
      const { is_known, motifs: all } = await server.motifs();
      motifs = { all, upTo: is_known ? timeline.last : -1 };
    } catch {
      // Without a server the rest is found as before, and the next opening asks again.
      return;
    }
    if (dialog.open && field.value) palette.show();
  };
  /** @type {{[id: string]: () => void}} */
  const handlers = {
    play: togglePlay,
    'event-on': () => seeking.step(1),
    'event-back': () => seeking.step(-1),
    'epoch-on': () => seeking.stepEpoch(1),
    'epoch-back': () => seeking.stepEpoch(-1),
    'problem-on': () => stepProblem(1),
    'problem-back': () => stepProblem(-1),
    first: () => seeking.go(timeline.origin),
    last: () => seeking.go(timeline.last),
    slower: () => player.shift(-1),
    faster: () => player.shift(1),
    pace: () => {
      pace.selectedIndex = (pace.selectedIndex + 1) % PACES.length;
      toast(`Pace: ${pace.selectedOptions[0].textContent}`);
    },
    loop: () => {
      part('loop').click();
      toast(loops() ? 'Playing begins again at the end' : 'Playing stops at the end');
    },
    copy: copyLink,
    find: () => {
      const finds = 'map' in stage ? stage.map : stage.crowd;
      if (finds) finds.find();
      else openPalette();
    },
    others: () => stage.crowd?.open(),
    fold: () => stage.crowd?.fold(),
    palette: openPalette,
    help: showHelp,
    unpick: async () => {
      unpick();
      (await tracks()).select(null);
    },
    'select-range': async () => (await tracks()).toggle(),
    'range-mark': async () => (await tracks()).mark(),
    'range-clear': async () => (await tracks()).select(null),
  };
  for (const key of ['w', 's', 'a', 'd', 'f']) handlers[`tracks-${key}`] = async () => (await tracks()).key(key);
  return handlers;
}

/** Whether playing begins again at the end. */
export const loops = () => part('loop').getAttribute('aria-pressed') === 'true';

/** How long the step that is shown is looked at, by the chosen pace. @param {import('../timeline/timeline.js').Timeline} timeline */
export function stepLength({ rest, near }) {
  const next = rest && near.find((step) => step.sequence > rest.sequence);
  const pace = /** @type {HTMLSelectElement} */ (part('pace')).value;
  const gap_ms = next && rest.moment ? next.at_ms - rest.moment.at_ms : null;
  return stepMs(/** @type {import('../timeline/player.js').Pace} */ (pace), gap_ms);
}

/** @param {boolean} playing @param {number} speed */
export function showPlaying(playing, speed) {
  part('play-word').textContent = playing ? 'Pause' : 'Play';
  part('play-shape').setAttribute('d', playing ? PAUSE_SHAPE : PLAY_SHAPE);
  part('play').title = playing ? 'Pause (Space)' : 'Play (Space)';
  press(part('speeds'), String(speed));
}
