/** What is over the fields: the title and size of what is open, and the sentence about it. */

import { part } from '../shared/dom.js';
import { basisOf, sentence, titleOfTwo } from './paste.js';
import { counted, grouped } from '../shared/numbers.js';

/** @param {import('./sheet.js').Sheet} sheet */
export function titleSheet({ current, steps }) {
  part('title').textContent = current.title;
  part('subtitle').textContent = current.version === null ? '' : `version ${current.version}`;
  part('size').textContent = counted(current.length, 'byte');
  part('undo').hidden = steps === 0;
  part('undo').textContent = steps > 1 ? `Undo edit (${steps})` : 'Undo edit';
  part('says').replaceChildren(...sentence(current.says));
  part('basis').textContent = basisOf(current);
  part('basis').classList.toggle('problem', current.problem !== null);
}

/** @param {import('./types').Compared} answer */
export function titlePair({ first, second, rows, says: text }) {
  const differ = rows.filter(({ same }) => !same).length;
  part('title').textContent = titleOfTwo(first.title, second.title);
  part('subtitle').textContent = `${differ} of ${counted(rows.length, 'field')} differ`;
  part('undo').hidden = true;
  part('size').textContent = `${grouped(first.length)} and ${counted(second.length, 'byte')}`;
  part('says').replaceChildren(...sentence(text));
}
