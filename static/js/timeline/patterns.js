/** What spans, cuts and stretches without an owner are filled with. */

import { s } from '../shared/dom.js';

export function patterns() {
  return s(
    'defs',
    ['0', '1', '2', '3', '4', '5', 'x'].map((hue) =>
      s(
        'pattern',
        { id: `hatch-${hue}`, width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
        s('rect', { width: 2.2, height: 5, fill: `var(--m${hue})` }),
      ),
    ),
    s(
      'pattern',
      { id: 'cut', width: 5, height: 5, patternUnits: 'userSpaceOnUse' },
      s('rect', { width: 3, height: 5, fill: 'var(--warn-arc)' }),
    ),
    s(
      'pattern',
      { id: 'bare', width: 5, height: 5, patternUnits: 'userSpaceOnUse' },
      s('rect', { width: 1.4, height: 5, fill: 'var(--bad-line)' }),
    ),
  );
}
