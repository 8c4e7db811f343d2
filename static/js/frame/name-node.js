import { h } from '../shared/dom.js';
import { parted } from './names.js';

/** A name of which the middle goes where it does not fit; it is read whole. @param {string} name */
export function nameNode(name) {
  const { head, tail } = parted(name);
  return h(
    'bdi.mname',
    { dir: 'auto', title: name },
    h('span.sr', name),
    h('span.mfront', { 'aria-hidden': 'true' }, head),
    tail ? h('span.mback', { 'aria-hidden': 'true' }, tail) : null,
  );
}
