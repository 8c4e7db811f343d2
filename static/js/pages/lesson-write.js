/** Writing a lesson: its text on the left, mistakes at their lines, and on the right the lesson as it is played. */

import { submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { beatAt, filledIn, membersAfter, questionAt, withBeat } from '../lesson/drafting.js';
import { LessonPlayer } from '../lesson/player.js';
import { isMereCommit } from '../shared/key-steps.js';
import { explain } from '../shared/terms.js';
import { messageOf } from '../shared/errors.js';
import { keep, kept } from '../shared/kept.js';
import { NumberedText } from '../shared/numbered-text.js';
import { counted } from '../shared/numbers.js';
import { handOver } from '../sharing/saving.js';

/** Who types is not asked at each letter. */
const REST_MS = 350;
/** A list of more is not read; a lesson of so long a run would be cut. */
const MOMENTS_MOST = 300;
const DRAFT = 'lesson draft';

const editor = /** @type {HTMLTextAreaElement} */ (part('text-of-lesson'));
const numbered = new NumberedText(editor, part('gutter'));
const original = editor.value;
/** @type {LessonPlayer | null} */
let player = null;
/** @type {import('../lesson/types').Done} */
let done = { beat: 0, reached: 0, done: false, answers: {} };
let asked = 0;
let timer = /** @type {any} */ (null);

async function check() {
  asked += 1;
  const mine = asked;
  part('checked').textContent = 'Playing…';
  try {
    const { sheet, problems } = await submit('/api/lessons/check', 'POST', { text: editor.value });
    if (mine !== asked) return;
    if (fill(problems)) return;
    showProblems(problems);
    if (sheet) preview(sheet);
  } catch (error) {
    if (mine === asked) part('checked').textContent = messageOf(error, 'It could not be played.');
  }
}

/** @param {{line: number, field: string, message: string}[]} problems */
function showProblems(problems) {
  numbered.wrong = new Set(problems.map((problem) => problem.line));
  numbered.number();
  part('checked').textContent = problems.length
    ? counted(problems.length, 'mistake')
    : 'No mistakes: the run bears out every fact.';
  part('problems').replaceChildren(
    ...problems.map((problem) =>
      h(
        'li',
        h('button.btn.sm.bare', { onclick: () => numbered.go(problem.line) }, `line ${problem.line}`),
        ` ${problem.field ? `${problem.field}: ` : ''}${problem.message}`,
      ),
    ),
  );
}

/**
 * Writes the run's values where the author wrote "?"; returns whether there was any.
 * @param {{line: number, field: string, message: string}[]} problems
 */
function fill(problems) {
  const text = filledIn(editor.value, problems);
  if (text === editor.value) return false;
  const { selectionStart, scrollTop } = editor;
  editor.value = text;
  editor.setSelectionRange(selectionStart, selectionStart);
  editor.scrollTop = scrollTop;
  editor.dispatchEvent(new Event('input'));
  return true;
}

/** Each moment of the run, with presses that write a beat of it, or a question. @param {import('../lesson/types').Sheet} sheet */
function list(sheet) {
  const moments = (sheet.run?.chunk.moments ?? []).filter((moment) => !isMereCommit(moment));
  const cast = sheet.run?.summary.cast ?? [];
  const name = (/** @type {string} */ id) => cast.find((member) => member.id === id)?.name ?? id;
  const members = sheet.run ? membersAfter(sheet.run.chunk, moments) : [];
  const start = moments[0]?.at_ms ?? 0;
  const press = (/** @type {string} */ text, /** @type {() => void} */ onclick) =>
    h('button.btn.sm', { onclick }, text);
  part('moments').replaceChildren(
    ...moments.slice(0, MOMENTS_MOST).map((moment, at) =>
      h(
        'li',
        press('Add a beat', () => write(beatAt(moments, moment, name), moment.sequence, sheet)),
        at > 0
          ? press('Ask what comes', () =>
              write(questionAt(moments, moment, name, members[at].map(name)), moments[at - 1].sequence, sheet),
            )
          : null,
        h('span.num.quiet', `${((moment.at_ms - start) / 1000).toFixed(1)} s`),
        h('span', moment.says),
      ),
    ),
  );
}

/** @param {string} beat @param {number} sequence of the moment at which it is @param {import('../lesson/types').Sheet} sheet */
function write(beat, sequence, sheet) {
  const sequences = sheet.beats.map((one) => one.sequence);
  editor.value = withBeat(editor.value, beat, sequence, sequences);
  editor.dispatchEvent(new Event('input'));
  const at = editor.value.indexOf(beat.trimEnd());
  numbered.go(editor.value.slice(0, Math.max(0, at)).split('\n').length + 1);
}

/** @param {import('../lesson/types').Sheet} sheet */
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
  keep(DRAFT, editor.value);
  clearTimeout(timer);
  timer = setTimeout(check, REST_MS);
});
part('save').addEventListener('click', () => {
  handOver({ name: 'lesson.yaml', blob: new Blob([editor.value], { type: 'application/yaml' }) });
});
part('draft').addEventListener('click', () => {
  editor.value = kept(DRAFT) ?? editor.value;
  numbered.number();
  check();
});
part('draft').hidden = [null, original].includes(kept(DRAFT));
explain();
numbered.number();
check();
document.documentElement.dataset.alive = 'true';
