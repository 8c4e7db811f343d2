/** What the faults in a copy of the modules ask: is it I who am on? Loaded before a test (`node --import`). */
import { appendFileSync } from 'node:fs';

const active = Number(process.env.MUTANT_ACTIVE ?? '-1');
const reached = new Set();

globalThis.__mutant__ = (/** @type {number} */ number) => {
  reached.add(number);
  return number === active;
};

process.on('exit', () => {
  if (process.env.MUTANTS_REACHED)
    appendFileSync(process.env.MUTANTS_REACHED, [...reached].map((number) => `${number}\n`).join(''));
});
