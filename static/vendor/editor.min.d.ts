/** What of CodeMirror and `yaml` our modules use: `npm run vendor` builds `editor.min.js` of this list. */
export {
  acceptCompletion,
  autocompletion,
  closeBrackets,
  closeBracketsKeymap,
  completionKeymap,
} from '@codemirror/autocomplete';
export { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
export { yaml as yamlLanguage } from '@codemirror/lang-yaml';
export {
  bracketMatching,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  syntaxHighlighting,
} from '@codemirror/language';
export { lintGutter, lintKeymap, setDiagnostics } from '@codemirror/lint';
export { EditorState } from '@codemirror/state';
export {
  drawSelection,
  EditorView,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from '@codemirror/view';
export { tags } from '@lezer/highlight';
export { isMap, isScalar, isSeq, parseDocument } from 'yaml';
