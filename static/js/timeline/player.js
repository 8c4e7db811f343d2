/**
 * Plays: one step after another, at a pace and a speed. It knows nothing of what a step is.
 *
 * @typedef {'steps' | 'time' | 'compressed'} Pace
 */

/** One step at 1×: long enough for a chip's way, its landing, and a look at the sentence. */
export const STEP_MS = 1350;
/** What the button that plays shows, 12 by 12. */
export const PLAY_SHAPE = 'M2 1l9 5-9 5z';
export const PAUSE_SHAPE = 'M2 1h3v10H2zM7 1h3v10H7z';
export const SPEEDS = [0.5, 1, 2, 4];
/** @type {readonly Pace[]} */
export const PACES = ['steps', 'time', 'compressed'];
/** Steps at one time are still seen one after another. */
const LEAST_MS = 60;
/** The longest pause that is waited for where time is compressed. */
export const PAUSE_MS = 2000;

/**
 * How long a step is looked at, at 1×.
 *
 * @param {Pace} pace
 * @param {number | null} gap_ms until the next step by the timeline's clock; null where that is not here
 */
export function stepMs(pace, gap_ms) {
  if (pace === 'steps' || gap_ms === null) return STEP_MS;
  return Math.max(LEAST_MS, pace === 'time' ? gap_ms : Math.min(gap_ms, PAUSE_MS));
}

export class Player {
  #timer = /** @type {any} */ (null);
  #going = 0;

  /**
   * @param {object} options
   * @param {() => Promise<boolean>} options.next one step; false at the end
   * @param {(playing: boolean, speed: number) => void} options.onState
   * @param {() => number} [options.length] of the step that is shown, in milliseconds at 1×
   * @param {(run: () => void, ms: number) => any} [options.later]
   * @param {(timer: any) => void} [options.never]
   * @param {() => number} [options.now]
   */
  constructor({
    next,
    onState,
    length = () => STEP_MS,
    later = (run, ms) => setTimeout(run, ms),
    never = (timer) => clearTimeout(timer),
    now = () => performance.now(),
  }) {
    this.now = now;
    this.next = next;
    this.onState = onState;
    this.length = length;
    this.later = later;
    this.never = never;
    this.playing = false;
    this.speed = 1;
  }

  play() {
    if (this.playing) return;
    this.playing = true;
    this.onState(true, this.speed);
    this.#due = this.now();
    this.#advance();
  }

  pause() {
    if (!this.playing) return;
    this.playing = false;
    this.#going += 1;
    this.never(this.#timer);
    this.onState(false, this.speed);
  }

  toggle() {
    if (this.playing) this.pause();
    else this.play();
  }

  /** @param {number} speed */
  setSpeed(speed) {
    this.speed = speed;
    this.onState(this.playing, speed);
    if (this.playing) {
      this.#due = this.now();
      this.#wait();
    }
  }

  /** @param {1 | -1} direction */
  shift(direction) {
    const at = SPEEDS.indexOf(this.speed) + direction;
    if (SPEEDS[at]) this.setSpeed(SPEEDS[at]);
  }

  async #advance() {
    this.#going += 1;
    const going = this.#going;
    const more = await this.next().catch(() => false);
    if (going !== this.#going || !this.playing) return;
    if (more) this.#wait();
    else this.pause();
  }

  /** When the last step was due: the next one is due a step later, however long this one took. */
  #due = 0;

  #wait() {
    this.never(this.#timer);
    // A tab that slept does not make up for what it missed.
    this.#due = Math.max(this.#due + this.length() / this.speed, this.now());
    this.#timer = this.later(() => this.#advance(), this.#due - this.now());
  }
}
