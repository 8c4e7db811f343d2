/**
 * Writing a lesson: its text on the left, mistakes at their lines, and on the right the lesson as it is played.
 */

import { tell } from './api.js';
import { h, part } from './dom.js';
import { beatAt, withBeat } from './lesson/drafting.js';
import { LessonPlayer } from './lesson/player.js';
import { explain } from './terms.js';

/** Who types is not asked at each letter. */
const REST_MS = 350;
const LINE_PX = 18;
/** A list of more is not read; a lesson of so long a run would be cut. */
const MOMENTS_MOST = 300;
const DRAFT = 'lesson draft';

const editor = /** @type {HTMLTextAreaElement} */ (part('text-of-lesson'));
const gutter = part('gutter');
const original = editor.value;
/** @type {LessonPlayer | null} */
let player = null;
/** @type {import('./lesson/types').Done} */
let done = { beat: 0, reached: 0, done: false, answers: {} };
let asked = 0;
let timer = /** @type {any} */ (null);
/** @type {Set<number>} */
let wrong = new Set();

function number() {
  const count = editor.value.split('\n').length;
  gutter.replaceChildren(
    ...Array.from({ length: count }, (_, index) =>
      wrong.has(index + 1) ? h('b', {}, `${index + 1}\n`) : `${index + 1}\n`,
    ),
  );
  gutter.scrollTop = editor.scrollTop;
}

/** Puts the cursor on a line. @param {number} line */
function go(line) {
  const lines = editor.value.split('\n');
  const before = lines.slice(0, line - 1).join('\n').length + (line > 1 ? 1 : 0);
  editor.focus({ preventScroll: true });
  editor.setSelectionRange(before, before + (lines[line - 1] ?? '').length);
  editor.scrollTop = (line - 1) * LINE_PX - editor.clientHeight / 2;
}

async function check() {
  asked += 1;
  const mine = asked;
  part('checked').textContent = 'Playing…';
  try {
    const { sheet, problems } = await tell('/api/lessons/check', 'POST', { text: editor.value });
    if (mine !== asked) return;
    tellProblems(problems);
    if (sheet) preview(sheet);
  } catch (error) {
    if (mine === asked)
      part('checked').textContent = error instanceof Error ? error.message : 'It could not be played.';
  }
}

/** @param {{line: number, field: string, message: string}[]} problems */
function tellProblems(problems) {
  wrong = new Set(problems.map((problem) => problem.line));
  number();
  part('checked').textContent = problems.length
    ? `${problems.length} mistake${problems.length > 1 ? 's' : ''}`
    : 'No mistakes: the run bears out every fact.';
  part('problems').replaceChildren(
    ...problems.map((problem) =>
      h(
        'li',
        {},
        h('button', { type: 'button', class: 'btn sm bare', onclick: () => go(problem.line) }, `line ${problem.line}`),
        ` ${problem.field ? `${problem.field}: ` : ''}${problem.message}`,
      ),
    ),
  );
}

/** Each moment of the run, and a press that writes a beat of it. @param {import('./lesson/types').Sheet} sheet */
function list(sheet) {
  const moments = (sheet.run?.chunk.moments ?? []).filter((moment) => moment.shape !== 'commit');
  const cast = sheet.run?.summary.cast ?? [];
  const name = (/** @type {string} */ id) => cast.find((member) => member.id === id)?.name ?? id;
  const start = moments[0]?.at_ms ?? 0;
  part('moments').replaceChildren(
    ...moments
      .slice(0, MOMENTS_MOST)
      .map((moment) =>
        h(
          'li',
          {},
          h(
            'button',
            { type: 'button', class: 'btn sm', onclick: () => write(beatAt(moments, moment, name)) },
            'Add a beat',
          ),
          h('span', { class: 'num quiet' }, `${((moment.at_ms - start) / 1000).toFixed(1)} s`),
          ` ${moment.says}`,
        ),
      ),
  );
}

/** @param {string} beat */
function write(beat) {
  editor.value = withBeat(editor.value, beat);
  editor.dispatchEvent(new Event('input'));
  go(editor.value.trimEnd().split('\n').length);
}

/** @param {import('./lesson/types').Sheet} sheet */
function preview(sheet) {
  list(sheet);
  const at = player?.beat ?? 0;
  part('preview').hidden = false;
  done = { ...done, answers: {} };
  if (player) player.load(sheet);
  else {
    player = new LessonPlayer(sheet, {
      get of() {
        return { text: editor.value };
      },
      kept: () => done,
      keeps: (change) => {
        done = { ...done, ...change, answers: { ...done.answers, ...change.answers } };
      },
      onBeat: () => {},
    });
  }
  player.of = { text: editor.value };
  // A question is open again with each change; to see what comes after it, answer it.
  player.show(at);
}

editor.addEventListener('input', () => {
  number();
  try {
    localStorage.setItem(DRAFT, editor.value);
  } catch {
    // Nothing is kept; the text is still here.
  }
  clearTimeout(timer);
  timer = setTimeout(check, REST_MS);
});
editor.addEventListener(
  'scroll',
  () => {
    gutter.scrollTop = editor.scrollTop;
  },
  { passive: true },
);
part('save').addEventListener('click', () => {
  const url = URL.createObjectURL(new Blob([editor.value], { type: 'application/yaml' }));
  const link = h('a', { href: url, download: 'lesson.yaml' });
  link.click();
  URL.revokeObjectURL(url);
});
part('draft').addEventListener('click', () => {
  const kept = localStorage.getItem(DRAFT);
  if (kept === null) return;
  editor.value = kept;
  number();
  check();
});
part('draft').hidden = localStorage.getItem(DRAFT) === null || localStorage.getItem(DRAFT) === original;
explain();
number();
check();
document.documentElement.dataset.alive = 'true';
