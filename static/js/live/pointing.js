/** Where a presenter points in the tracks: at a step, and how far down. It goes with what the presenter looks at. */
export class Pointing {
  /** As `point=12-40` of a view: the step that ends with entry 12, 40 hundredths down. Empty: nowhere. */
  at = '';
  #shown = '';

  /** @param {import('../timeline/view.js').TimelineView} tracks */
  constructor(tracks) {
    this.tracks = tracks;
    tracks.root.addEventListener('pointermove', (event) => {
      this.at = tracks.pointed(event);
    });
    tracks.root.addEventListener('pointerleave', () => {
      this.at = '';
    });
  }

  /** @param {string} view of a presenter; empty: of none @param {string} name */
  show(view, name) {
    const point = new URLSearchParams(view).get('point') ?? '';
    if (point === this.#shown) return;
    this.#shown = point;
    const [, sequence, down] = /^(\d{1,15})-(\d{1,3})$/.exec(point) ?? [];
    this.tracks.pointer = sequence ? { sequence: Number(sequence), down: Number(down) / 100, name } : null;
    this.tracks.draw();
  }
}
