/** Which partition of `__consumer_offsets` holds a group, and the command that copies its folder. */

import { part } from '../shared/dom.js';
import { toast } from '../shared/toast.js';
import { copy } from '../shared/url.js';

/**
 * The partition as Kafka finds it: Java's hash of the name, without its sign, modulo the number of partitions.
 * @param {string} group @param {number} partitions
 */
export function partitionOf(group, partitions) {
  let hash = 0;
  for (let at = 0; at < group.length; at++) hash = (Math.imul(31, hash) + group.charCodeAt(at)) | 0;
  // The least number has no opposite: Kafka takes 0 for it.
  return hash === -(2 ** 31) ? 0 : Math.abs(hash) % partitions;
}

/** What packs the folder on its leader, in one line of a shell. @param {string} group @param {number} partitions */
export const commandFor = (group, partitions) =>
  `tar -C /path/of/log.dirs -czf offsets.tar.gz __consumer_offsets-${partitionOf(group, partitions)}`;

/** Wires the field, where the page has it. */
export function partitionField() {
  const group = /** @type {HTMLInputElement} */ (part('of-group'));
  const partitions = /** @type {HTMLInputElement} */ (part('of-partitions'));
  const command = part('of-command');
  const draw = () => {
    const count = Number(partitions.value);
    const known = group.value !== '' && Number.isInteger(count) && count > 0;
    command.textContent = known ? commandFor(group.value, count) : '';
    part('of-copy').hidden = !known;
  };
  group.addEventListener('input', draw);
  partitions.addEventListener('input', draw);
  part('of-copy').addEventListener('click', async () => {
    toast((await copy(command.textContent ?? '')) ? 'The command is in the clipboard' : 'The browser refused to copy');
  });
  part('of').hidden = false;
  draw();
}
