/**
 * What the palette finds on a board: members, partitions, motifs, and the events that are here.
 *
 * @typedef {{kind: string, sequences: number[], at_ms: number, text: string}} Motif as `GET …/motifs` has it
 * @typedef {{is_known: boolean, motifs: Motif[]}} Motifs
 *
 * @import {Section} from './palette.js'
 * @import {Stage} from './board-controls.js'
 */

import { columnsOf } from '../frame/view.js';
import { when } from '../frame/words.js';
import { matching } from './actions.js';
import { grouped } from '../shared/numbers.js';

/** Of each kind; more are a list that nobody reads, and another letter finds fewer. */
const SHOWN_MOST = 12;

/**
 * @param {object} parts
 * @param {Stage} parts.stage
 * @param {import('../timeline/timeline.js').Timeline} parts.timeline
 * @param {{all: Motif[]}} parts.motifs
 * @param {(sequence: number) => void} parts.go
 * @param {(key: string) => void} parts.pick a partition
 * @param {number} parts.start_ms
 * @returns {(query: string) => Section[]}
 */
export function finderOf({ stage, timeline, motifs, go, pick, start_ms }) {
  const members = stage.cast.lanes.map((lane) => ({
    says: lane.name,
    note: '',
    act: () => ('map' in stage ? stage.map.go('members', lane.key) : stage.events.only(lane.key)),
  }));
  const keys = 'spans' in stage ? columnsOf(stage.spans.counts).map(({ key }) => key) : [];
  const partitions = keys.map((key) => ({ says: stage.labels.partition(key), note: '', act: () => pick(key) }));
  const events = timeline.steps.map((step) => ({
    says: step.says,
    note: when(step.at_ms, start_ms),
    act: () => go(step.sequence),
  }));
  const repeated = motifs.all.map(({ sequences, at_ms, text }) => ({
    says: text,
    note: when(at_ms, start_ms),
    words: 'motif',
    act: () => go(sequences[sequences.length - 1]),
  }));
  const sections = [
    { name: 'Members', choices: members },
    { name: 'Partitions', choices: partitions },
    { name: 'Motifs', choices: repeated },
    { name: 'Events', choices: events },
  ];
  return (query) =>
    sections.map(({ name, choices }) => {
      const all = matching(choices, query);
      const more = all.length - SHOWN_MOST;
      return {
        name: more > 0 ? `${name}, the first ${SHOWN_MOST} of ${grouped(all.length)}` : name,
        choices: all.slice(0, SHOWN_MOST),
      };
    });
}
