/**
 * An editor of YAML in the place of a text area, which keeps the text: what listens to its `input` need not know of the editor.
 *
 * @typedef {{line: number | null, field: string | null, message: string}} Problem as the server reports it
 * @typedef {import('../../vendor/editor.min.js').EditorView} EditorView
 */

import {
  acceptCompletion,
  autocompletion,
  bracketMatching,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
  defaultKeymap,
  drawSelection,
  EditorView as View,
  foldGutter,
  foldKeymap,
  highlightActiveLine,
  highlightActiveLineGutter,
  HighlightStyle,
  history,
  historyKeymap,
  indentOnInput,
  keymap,
  lineNumbers,
  lintGutter,
  lintKeymap,
  setDiagnostics,
  syntaxHighlighting,
  tags,
  yamlLanguage,
} from '../../vendor/editor.min.js';
import { repaired, wrongIn } from './places.js';

/** A hue means a member, and nothing else: words differ by weight and ink. Amber and red are signals. */
const HIGHLIGHT = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--ink)', fontWeight: '600' },
  { tag: tags.comment, color: 'var(--ink-3)', fontStyle: 'italic' },
  { tag: [tags.string, tags.content, tags.number, tags.bool], color: 'var(--ink-2)' },
]);

const THEME = View.theme({
  '&': { color: 'var(--ink)', backgroundColor: 'var(--panel)', fontSize: '.75rem' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', lineHeight: '1.125rem', minHeight: '13.75rem', maxHeight: '70vh' },
  '.cm-content': { caretColor: 'var(--ink)', paddingBlock: '9px' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--sunk)', color: 'var(--ink-3)', borderRight: '1px solid var(--line)' },
  '.cm-activeLine, .cm-activeLineGutter': { backgroundColor: 'var(--shade)' },
  '.cm-matchingBracket, &.cm-focused .cm-matchingBracket': {
    backgroundColor: 'var(--shade)',
    outline: '1px solid var(--line-2)',
  },
  '.cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--ink) 24%, transparent)',
  },
  '.cm-foldPlaceholder': { backgroundColor: 'var(--sunk)', borderColor: 'var(--line-2)', color: 'var(--ink-2)' },
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad-line)',
    color: 'var(--bad)',
  },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad-line)' },
  '.cm-diagnosticAction': { backgroundColor: 'var(--ink)', color: 'var(--on-ink)' },
  '.cm-tooltip': {
    backgroundColor: 'var(--raise)',
    borderColor: 'var(--line-2)',
    boxShadow: 'var(--pop)',
    maxWidth: '92vw',
  },
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { fontFamily: 'var(--mono)', maxWidth: '92vw' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--ink)', color: 'var(--on-ink)' },
  '.cm-completionDetail': { fontFamily: 'var(--font)', fontStyle: 'normal', color: 'var(--ink-3)' },
  'li[aria-selected] .cm-completionDetail': { color: 'inherit' },
});

/** Characters of a text that is read at each letter; the server runs none that is longer. */
const COMPLETED_MOST = 262_144;

export class TextEditor {
  /**
   * @param {HTMLTextAreaElement} text that is hidden from now on
   * @param {object} more
   * @param {string} more.nonce of the page's style elements
   * @param {string} more.described the id of what a screen reader reads next to the label
   * @param {(text: string, at: number) => {choices: import('./places.js').Choice[], word: string}} [more.choices] what may come at the cursor
   * @param {() => void} [more.onRun] Ctrl Enter
   */
  constructor(text, { nonce, described, choices, onRun }) {
    this.text = text;
    /** @type {Problem[]} */
    this.shown = [];
    const complete = (/** @type {import('@codemirror/autocomplete').CompletionContext} */ { state, pos, explicit }) => {
      if (state.doc.length > COMPLETED_MOST) return null;
      const found = choices?.(state.sliceDoc(), pos);
      if (!found?.choices.length || (!explicit && !found.word && !/[{[,:-] $|[{[]$/.test(state.sliceDoc(pos - 2, pos))))
        return null;
      return {
        from: pos - found.word.length,
        validFor: /^[\w.:-]*$/,
        options: found.choices.map(({ label: name, detail, key }) => ({
          label: name,
          detail,
          apply: `${/^[\w.:-]+$/.test(name) ? name : JSON.stringify(name)}${key ? ': ' : ''}`,
        })),
      };
    };
    this.view = new View({
      doc: text.value,
      extensions: [
        View.cspNonce.of(nonce),
        View.contentAttributes.of({
          'aria-label': text.ariaLabel ?? text.labels[0]?.textContent ?? '',
          'aria-describedby': described,
          spellcheck: 'false',
          tabindex: '0',
        }),
        keymap.of([
          { key: 'Mod-Enter', run: () => (onRun?.(), Boolean(onRun)) },
          // Tab leaves the text, unless it takes what is offered: Escape closes that.
          { key: 'Tab', run: acceptCompletion },
          ...closeBracketsKeymap,
          ...completionKeymap,
          ...defaultKeymap,
          ...historyKeymap,
          ...foldKeymap,
          ...lintKeymap,
        ]),
        lineNumbers(),
        foldGutter(),
        lintGutter(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        autocompletion({ override: [complete], icons: false }),
        yamlLanguage(),
        syntaxHighlighting(HIGHLIGHT),
        THEME,
        View.lineWrapping,
        View.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return;
          text.value = state.sliceDoc();
          text.dispatchEvent(new Event('input'));
        }),
      ],
    });
    text.hidden = true;
    text.after(this.view.dom);
    text.labels[0]?.addEventListener('click', () => this.view.focus());
  }

  /** @param {string} value */
  set value(value) {
    const old = this.view.state.sliceDoc();
    // Between the first letter that differs and the last: the cursor stays in its line.
    let from = 0;
    while (from < old.length && old[from] === value[from]) from += 1;
    let end = 0;
    const most = Math.min(old.length, value.length) - from;
    while (end < most && old.at(-1 - end) === value.at(-1 - end)) end += 1;
    if (value !== old)
      this.view.dispatch({ changes: { from, to: old.length - end, insert: value.slice(from, value.length - end) } });
  }

  /** @param {Problem[]} problems */
  set problems(problems) {
    this.shown = problems;
    const { state } = this.view;
    const found = problems.map((problem) => {
      const line = state.doc.line(Math.min(problem.line ?? 1, state.doc.lines));
      const { from, to } = wrongIn(line.text, problem);
      const instead = repaired(problem);
      return {
        from: line.from + from,
        to: line.from + to,
        severity: /** @type {const} */ ('error'),
        message: problem.message,
        actions: instead ? [{ name: `Use ${instead}`, apply: () => this.repair(problem) }] : [],
      };
    });
    this.view.dispatch(setDiagnostics(state, found));
  }

  /** Writes what the server thinks was meant. @param {Problem} problem */
  repair(problem) {
    const line = this.view.state.doc.line(problem.line ?? 1);
    const { from, to } = wrongIn(line.text, problem);
    this.view.dispatch({ changes: { from: line.from + from, to: line.from + to, insert: repaired(problem) ?? '' } });
    this.view.focus();
  }

  /** Puts the cursor on a line. @param {number} number */
  go(number) {
    const { doc } = this.view.state;
    const { from } = doc.line(Math.min(Math.max(1, number), doc.lines));
    this.view.dispatch({ selection: { anchor: from }, effects: View.scrollIntoView(from, { y: 'center' }) });
    this.view.focus();
  }
}
