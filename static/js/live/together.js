/**
 * Looking together: who is on a timeline, who presents, and whether this window follows. No server keeps any of it. A presenter
 * repeats where it is, so a window that was away, or a server that was restarted, has everything again with the next message.
 *
 * @typedef {{who: string, name: string, heard_ms: number}} Person
 * @typedef {Person & {turn: number, view: string}} Presenter
 * @typedef {'looks' | 'follows' | 'presents'} Role
 * @typedef {{who: string, role: Role, turn: number}} Kept what a window has again after a reload
 */

/** A presenter that does not move repeats where it is. */
export const REPEAT_MS = 3000;
/** A follower repeats that it follows; one of these may be lost within `AWAY_MS`. */
const FOLLOW_MS = 4500;
/** Without a message for so long somebody is away: lost, or behind a server that restarts. */
export const AWAY_MS = 10_000;
/** A message that could not be sent is sent again after this, and after twice as long each time, up to `AWAY_MS`. */
const AGAIN_MS = 500;

export class Together {
  /** @type {Role} */
  role;
  /** @type {Presenter | null} */
  presenter = null;
  /** Whether this window follows whoever begins to present. */
  willing = false;
  /** Whether its socket is open. */
  linked = false;
  /** @type {Map<string, {people: Pick<Person, 'who' | 'name'>[], more: number, heard_ms: number}>} by process */
  #here = new Map();
  /** @type {Map<string, Person>} */
  #followers = new Map();
  #turn;
  #sent = '';
  #sent_ms = 0;
  #sending = false;
  #again_ms = AGAIN_MS;

  /**
   * @param {Kept} kept
   * @param {object} does
   * @param {(message: {who: string, does: string, turn: number, view?: string, to?: string}) => Promise<unknown>} does.send
   * @param {(view: string) => void} does.look shows what the presenter sees
   * @param {() => void} does.onChange
   * @param {() => number} [does.now]
   */
  constructor(kept, { send, look, onChange, now = () => performance.now() }) {
    this.who = kept.who;
    this.role = kept.role;
    this.#turn = kept.turn;
    this.send = send;
    this.look = look;
    this.onChange = onChange;
    this.now = now;
  }

  /** @returns {Kept} */
  get kept() {
    return { who: this.who, role: this.role, turn: this.#turn };
  }

  /** The other windows on this timeline, and how many more there are. */
  get others() {
    const lists = [...this.#here.values()].filter((one) => this.now() - one.heard_ms < AWAY_MS);
    const people = new Map(lists.flatMap((one) => one.people.map((each) => [each.who, each])));
    people.delete(this.who);
    return { people: [...people.values()], more: lists.reduce((sum, one) => sum + one.more, 0) };
  }

  /** The others that follow, too. */
  get followers() {
    const { people, more } = this.others;
    return [...this.#followers.values()].filter(
      (one) => this.now() - one.heard_ms < AWAY_MS && (more || people.some((each) => each.who === one.who)),
    );
  }

  /** Whether nothing was heard of the presenter for some time. */
  get isAway() {
    return !this.linked || this.#isSilent;
  }

  get #isSilent() {
    return this.presenter !== null && this.now() - this.presenter.heard_ms > AWAY_MS;
  }

  /** Who can be followed now. */
  get offered() {
    return this.role === 'looks' && !this.isAway ? this.presenter : null;
  }

  /** @param {any} message */
  hear(message) {
    const { type, who, name, turn, view } = message;
    if (type === 'hello') this.linked = true;
    else if (type === 'here') {
      this.#here.set(message.process, { ...message, heard_ms: this.now() });
      // Somebody may be new, and has not heard it. Followers wait for their turn: all at once would be many.
      if (this.role === 'presents') this.#sent = '';
    } else if (who === this.who) return;
    else if (type === 'presents') this.#presents({ who, name, turn, view, heard_ms: this.now() });
    else if (type === 'follows') {
      for (const [each, { heard_ms }] of this.#followers)
        if (this.now() - heard_ms >= AWAY_MS) this.#followers.delete(each);
      this.#followers.set(who, { who, name, heard_ms: this.now() });
    } else if (type === 'hands') {
      // Of anybody else it would make a window present that nobody has asked.
      if (message.to === this.who && this.#isPresenter(message)) this.present();
    } else if (type === 'stops') {
      this.#followers.delete(who);
      if (this.#isPresenter(message)) {
        this.presenter = null;
        if (this.role === 'follows') {
          this.role = 'looks';
          this.willing = true;
        }
      }
    }
    this.onChange();
  }

  /** The id of a window is its own word, the name is the server's. @param {Pick<Person, 'who' | 'name'>} person */
  #isPresenter({ who, name }) {
    return this.presenter?.who === who && this.presenter?.name === name;
  }

  /** @param {Presenter} presenter */
  #presents(presenter) {
    // A window that was closed presents no more: a new one, that never had its number, may begin with a lower one.
    const before = this.#isSilent ? null : this.presenter;
    const known = this.role === 'presents' ? { who: this.who, turn: this.#turn } : before;
    const isSame = known?.who === presenter.who;
    // Who took over last has the highest number; of two at once the greater id counts, in every window.
    if (known && !isSame && (known.turn - presenter.turn || (known.who > presenter.who ? 1 : -1)) > 0) return;
    const moves = this.presenter?.who !== presenter.who || this.presenter.view !== presenter.view;
    this.presenter = presenter;
    this.#turn = Math.max(this.#turn, presenter.turn);
    this.#followers.delete(presenter.who);
    if (this.role === 'presents' || (this.role === 'looks' && this.willing)) this.follow();
    else if (this.role === 'follows' && moves) this.look(presenter.view);
  }

  lose() {
    this.linked = false;
    this.onChange();
  }

  /** Presents from now on, whoever did before. */
  present() {
    this.#turn += 1;
    this.role = 'presents';
    this.presenter = null;
    this.#sent = '';
    this.onChange();
  }

  follow() {
    this.role = 'follows';
    this.#sent = '';
    if (this.presenter) this.look(this.presenter.view);
    this.onChange();
  }

  /** Neither presents nor follows any more. */
  stop() {
    this.willing = false;
    if (this.role === 'looks') return;
    this.role = 'looks';
    this.#say('stops');
    this.onChange();
  }

  /** @param {string} to who presents from now on */
  hand(to) {
    this.#say('hands', { to });
  }

  /** To be called several times a second. @param {string} view what this window sees */
  async tick(view) {
    if (this.role === 'looks' || this.#sending || !this.linked) return;
    const said = this.role === 'presents' ? `?${view}` : this.role;
    const since_ms = this.now() - this.#sent_ms;
    if (said === this.#sent && since_ms < (this.role === 'presents' ? REPEAT_MS : FOLLOW_MS)) return;
    this.#sending = true;
    this.#sent_ms = this.now();
    const done = await this.#say(this.role, this.role === 'presents' ? { view } : {});
    this.#sent = done ? said : '';
    setTimeout(
      () => {
        this.#sending = false;
      },
      done ? 0 : this.#again_ms,
    );
    this.#again_ms = done ? AGAIN_MS : Math.min(2 * this.#again_ms, AWAY_MS);
  }

  /** @param {string} does @param {{view?: string, to?: string}} [more] */
  async #say(does, more = {}) {
    try {
      await this.send({ who: this.who, does, turn: this.#turn, ...more });
      return true;
    } catch {
      return false;
    }
  }
}
