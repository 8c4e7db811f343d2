/**
 * The buttons and the keys of a board's page: each calls what the page says that it does.
 *
 * @typedef {import('../stage/tracks.js').TrackStage | import('../stage/crowd.js').CrowdStage} Stage
 */

import { choose, h, part } from '../shared/dom.js';
import { listen } from '../shared/keys.js';
import { SPEEDS } from '../timeline/player.js';

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
 */

/** @param {Controls} controls */
export function wireControls(controls) {
  const { stage, seeking, player, inspector, togglePlay, copyLink, rename } = controls;
  part('epoch-back').addEventListener('click', () => seeking.stepEpoch(-1));
  part('event-back').addEventListener('click', () => seeking.step(-1));
  part('play').addEventListener('click', togglePlay);
  part('continue').addEventListener('click', togglePlay);
  part('event-on').addEventListener('click', () => seeking.step(1));
  part('epoch-on').addEventListener('click', () => seeking.stepEpoch(1));
  makeSpeeds((speed) => player.setSpeed(speed));
  choose('axis', (value) => {
    stage.axis = /** @type {'events' | 'time'} */ (value);
  });
  choose('hue', (value) => {
    stage.hue = /** @type {'member' | 'partition'} */ (value);
  });
  choose('detail', (value) => inspector.show(/** @type {'exchange' | 'records'} */ (value)));
  part('copy').addEventListener('click', copyLink);
  document.getElementById('rename')?.addEventListener('click', rename);
  const help = /** @type {HTMLDialogElement} */ (part('help'));
  part('help-open').addEventListener('click', () => help.showModal());
  listenToKeys(controls, () => help.showModal());
}

/** @param {Controls} controls @param {() => void} help */
function listenToKeys({ stage, timeline, seeking, player, togglePlay, stepProblem, copyLink, unpick }, help) {
  listen({
    Space: togglePlay,
    ArrowRight: () => seeking.step(1),
    ArrowLeft: () => seeking.step(-1),
    'Shift+ArrowRight': () => seeking.stepEpoch(1),
    'Shift+ArrowLeft': () => seeking.stepEpoch(-1),
    n: () => stepProblem(1),
    p: () => stepProblem(-1),
    Home: () => seeking.go(timeline.origin),
    End: () => seeking.go(timeline.last),
    '[': () => player.shift(-1),
    ']': () => player.shift(1),
    c: copyLink,
    '/': () => {
      if ('map' in stage) stage.map.find();
    },
    '?': help,
    Escape: unpick,
  });
}

/** @param {boolean} playing @param {number} speed */
export function showPlaying(playing, speed) {
  part('play-word').textContent = playing ? 'Pause' : 'Play';
  part('play-shape').setAttribute('d', playing ? 'M2 1h3v10H2zM7 1h3v10H7z' : 'M2 1l9 5-9 5z');
  part('play').title = playing ? 'Pause (Space)' : 'Play (Space)';
  for (const button of part('speeds').querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(Number(button.dataset.speed) === speed));
  }
}

/** @param {(speed: number) => void} onSpeed */
function makeSpeeds(onSpeed) {
  part('speeds').replaceChildren(
    ...SPEEDS.map((speed) =>
      h(
        'button',
        {
          type: 'button',
          'data-speed': speed,
          'aria-pressed': speed === 1 ? 'true' : 'false',
          onclick: () => onSpeed(speed),
        },
        speed === 0.5 ? '½×' : `${speed}×`,
      ),
    ),
  );
}
