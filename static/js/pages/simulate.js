/**
 * The form that starts a run. Without this module, or where the editor does not come, it is a text area whose mistakes are shown
 * when it is sent.
 */

import { submit } from '../shared/api.js';
import { h, part } from '../shared/dom.js';
import { messageOf } from '../shared/errors.js';
import { keep, kept } from '../shared/kept.js';
import { choicesAt, repaired } from '../scenario/places.js';

/** @typedef {import('../scenario/places.js').Problem} Problem */

/** Who types is not checked at each letter. */
const REST_MS = 350;

const text = /** @type {HTMLTextAreaElement} */ (part('scenario'));
const form = /** @type {HTMLFormElement} */ (part('run'));
const study = /** @type {HTMLSelectElement} */ (part('study'));
const box = part('editor');
const original = text.value;
/** Of this tab and of what the page began with: two tabs keep two texts. */
const draft = `scenario ${location.pathname}${location.search}`;

/** @type {import('../scenario/editor.js').TextEditor | null} */
let editor = null;
/** @type {import('../scenario/builder.js').Builder | null} */
let builder = null;
let asked = 0;
let timer = /** @type {any} */ (null);

async function check() {
  asked += 1;
  const mine = asked;
  if (builder) builder.text = text.value;
  keep(draft, text.value === original ? null : text.value, 'sessionStorage');
  const most = Number(box.dataset.most);
  if (text.value.length > most)
    return show([{ line: null, field: null, message: `The scenario is longer than ${most / 1024} KB.` }]);
  const chosen = (/** @type {string} */ name) => new FormData(form).get(name) || null;
  try {
    const body = { scenario: text.value, semantics: chosen('semantics'), release: chosen('release') };
    const { problems } = await submit('/api/runs/check', 'POST', body);
    if (mine === asked) show(problems);
  } catch (error) {
    if (mine === asked) show([{ line: null, field: null, message: messageOf(error, 'It could not be checked.') }]);
  }
}

/** @param {Problem[]} problems */
function show(problems) {
  box.classList.toggle('wrong', problems.length > 0);
  if (editor) editor.problems = problems;
  const [problem] = problems;
  const instead = problem && repaired(problem);
  part('checked').classList.toggle('bad', Boolean(problem));
  part('checked').replaceChildren(
    ...(problem
      ? [
          problem.line
            ? h(
                'button.btn.sm.bare',
                { type: 'button', onclick: () => editor?.go(problem.line ?? 1) },
                `Line ${problem.line}`,
              )
            : '',
          h('span', problem.message),
          instead && editor
            ? h('button.btn.sm', { type: 'button', onclick: () => editor?.repair(problem) }, `Use ${instead}`)
            : '',
        ]
      : ['No mistake.']),
  );
}

async function begin() {
  study.addEventListener('change', () => {
    // What the reader wrote is not thrown away by a choice in a list; the button's text warns that it would be.
    if (text.value === original && !box.dataset.wrong) study.form?.requestSubmit();
  });
  const written = box.dataset.wrong === undefined && kept(draft, 'sessionStorage');
  if (written) text.value = written;
  part('as-begun').hidden = text.value === original;
  text.addEventListener('input', () => {
    part('as-begun').hidden = text.value === original;
    clearTimeout(timer);
    timer = setTimeout(check, REST_MS);
  });
  addEventListener('pagehide', () => keep(draft, text.value === original ? null : text.value, 'sessionStorage'));
  part('as-begun').addEventListener('click', () => {
    text.value = original;
    if (editor) editor.value = original;
    else text.dispatchEvent(new Event('input'));
  });
  try {
    const { TextEditor } = await import('../scenario/editor.js');
    const vocabulary = JSON.parse(part('vocabulary').textContent ?? '{}');
    editor = new TextEditor(text, {
      nonce: box.nonce ?? '',
      described: 'checked',
      choices: (all, at) => choicesAt(all, at, vocabulary),
      onRun: () => form.requestSubmit(),
    });
    const { Builder } = await import('../scenario/builder.js');
    builder = new Builder(part('builder'), {
      vocabulary,
      read: () => text.value,
      write: (all) => editor && (editor.value = all),
      go: (line) => editor?.go(line),
    });
  } catch {
    // The text area stays.
  }
  if (box.dataset.wrong) editor?.go(Number(box.dataset.wrong));
  for (const name of ['semantics', 'release']) part(name).addEventListener('change', check);
  await check();
  document.documentElement.dataset.alive = 'true';
}

void begin();
