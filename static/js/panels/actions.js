/**
 * What a board's page can do, as one table: its keys, the list of keys and the palette of commands are made of it. Pure.
 *
 * An action is done by the handler of its id, or it presses the button or link of the page that `presses` names. What the page
 * has no handler and no part for is no action of it.
 *
 * @typedef {'Go to' | 'Play' | 'Tracks' | 'View' | 'Do'} Group
 * @typedef {{id: string, says: string, keys: string[], group: Group, presses?: string}} Action
 */

/** @param {Group} group @param {[id: string, says: string, keys?: string, presses?: string][]} some */
const rows = (group, some) =>
  some.map(([id, says, keys = '', presses]) => ({
    id,
    says,
    keys: keys.split(' ').filter(Boolean),
    group,
    ...(presses ? { presses } : {}),
  }));

/** @type {readonly Action[]} */
export const ACTIONS = [
  ...rows('Go to', [
    ['event-on', 'One event forward', 'ArrowRight'],
    ['event-back', 'One event back', 'ArrowLeft'],
    ['epoch-on', 'One epoch forward', 'Shift+ArrowRight'],
    ['epoch-back', 'One epoch back', 'Shift+ArrowLeft'],
    ['problem-on', 'Next incident', 'n'],
    ['problem-back', 'Previous incident', 'p'],
    ['first', 'Before the first event', 'Home'],
    ['last', 'The last event', 'End'],
    ['find', 'Find a member, a partition, an event', '/'],
  ]),
  ...rows('Play', [
    ['play', 'Play, pause', 'Space'],
    ['slower', 'Slower', '['],
    ['faster', 'Faster', ']'],
    ['pace', 'Even steps, real time, or real time without long pauses', 't'],
    ['loop', 'Loop', 'l'],
  ]),
  ...rows('Tracks', [
    ['tracks-w', 'Zoom in on time', 'w'],
    ['tracks-s', 'Zoom out of time', 's'],
    ['tracks-a', 'Earlier', 'a'],
    ['tracks-d', 'Later', 'd'],
    ['tracks-f', 'Fit the range, or all', 'f'],
    ['range-mark', 'Begin a range here, or end it', 'm'],
    ['select-range', 'Drag to select a range (or Shift and drag)'],
    ['range-clear', 'Clear the range'],
  ]),
  ...rows('View', [
    ['axis-events', 'Axis: each event equally wide', '', 'axis [data-value=events]'],
    ['axis-time', 'Axis: time, to scale', '', 'axis [data-value=time]'],
    ['hue-member', 'Colour by member', '', 'hue [data-value=member]'],
    ['hue-partition', 'Colour by partition', '', 'hue [data-value=partition]'],
    ['reader', 'Reader: the story alone', '', 'view [data-value=reader]'],
    ['investigator', 'Investigator: everything', '', 'view [data-value=investigator]'],
    ['commits', 'Commits in the list, or not', '', 'commits'],
    ['exchange', 'Details: requests and responses', '', 'detail [data-value=exchange]'],
    ['records', 'Details: records', '', 'detail [data-value=records]'],
    ['state', 'Details: the state, and what changed in it', '', 'detail [data-value=state]'],
    ['legend', 'Legend', '', 'legend summary'],
    ['lag', 'Lag and rebalances', '', 'lag-panel summary'],
    ['next-assignment', 'Next assignment', '', 'assignment-panel summary'],
    ['metrics', 'Kafka’s metrics', '', 'metrics-panel summary'],
    ['others', 'More than twelve members: open the row of the others', 'o'],
    ['fold', 'More than twelve members: fold quiet columns', 'x'],
    ['unpick', 'Clear the selection', 'Escape'],
  ]),
  ...rows('Do', [
    ['copy', 'Copy a link to this moment', 'c'],
    ['together', 'Look together', '', 'together-open'],
    ['share', 'Share', '', 'share-open'],
    ['fork', 'Fork here', '', 'fork-open'],
    ['laboratory', 'Try assignors here', '', 'laboratory'],
    ['rebalances', 'Table of rebalances', '', 'rebalances'],
    ['report', 'Report to print, or as Markdown', '', 'report'],
    ['rehearsal', 'Rehearse its upgrade', '', 'rehearsal'],
    ['rename', 'Rename', '', 'rename'],
    ['palette', 'All commands', 'Ctrl+k'],
    ['help', 'All keys', '?', 'help-open'],
  ]),
];

/** What only has its keys within a part of the page. @type {readonly {keys: string[], says: string}[]} */
export const WITHIN = [
  {
    keys: ['Tab', 'Enter'],
    says: 'reach a partition and pick it: its owners, in order; reach a member and pick it: its events alone',
  },
  { keys: ['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight'], says: 'within the board, from cell to cell' },
  { keys: ['ArrowUp', 'ArrowDown', 'Enter', 'p'], says: 'in the map: a row, open it, pin it on top' },
  { keys: ['+', '-'], says: 'in the map: higher and lower rows' },
];

/** @type {{[key: string]: string}} */
const CAPS = { ArrowLeft: '←', ArrowRight: '→', ArrowUp: '↑', ArrowDown: '↓', Escape: 'Esc', '-': '−', Shift: '⇧' };

/** What is on the key: `⇧ ←`, `Ctrl K`. @param {string} key a name as bindings have it */
export const keyCap = (key) =>
  key
    .split(/(?<=.)\+(?=.)/)
    .map((one) => CAPS[one] ?? (one.length === 1 ? one.toUpperCase() : one))
    .join(' ');

/** The handlers by key. @param {{[id: string]: () => void}} handlers by the action's id */
export function bindingsOf(handlers) {
  return Object.fromEntries(
    ACTIONS.flatMap(({ id, keys }) => (handlers[id] ? keys.map((key) => [key, handlers[id]]) : [])),
  );
}

/**
 * The actions whose words have these beginnings of words, in the table's order.
 *
 * @template {{says: string, words?: string}} T
 * @param {readonly T[]} some
 * @param {string} query
 * @returns {T[]}
 */
export function matching(some, query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  return some.filter(({ says: text, words: more = '' }) => {
    const lower = `${text} ${more}`.toLowerCase();
    return words.every((word) => lower.includes(word));
  });
}
