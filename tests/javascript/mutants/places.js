/**
 * Where a small fault can be put into a module of the browser, over TypeScript's syntax tree, and the module with faults in it.
 *
 * Reads `{"texts": {file: text}, "chosen": {file: {place: switch}}}` from its input. Without `chosen` it prints the places of
 * each file; with it the texts, in which each fault that was chosen stands behind `__mutant__(switch)`.
 */
import { readFileSync } from 'node:fs';
import ts from 'typescript';

const { SyntaxKind: Kind } = ts;

const OTHER_COMPARISON = new Map([
  [Kind.LessThanToken, '<='],
  [Kind.LessThanEqualsToken, '<'],
  [Kind.GreaterThanToken, '>='],
  [Kind.GreaterThanEqualsToken, '>'],
  [Kind.EqualsEqualsToken, '!='],
  [Kind.ExclamationEqualsToken, '=='],
  [Kind.EqualsEqualsEqualsToken, '!=='],
  [Kind.ExclamationEqualsEqualsToken, '==='],
]);
const OTHER_OPERATOR = new Map([
  [Kind.PlusToken, '-'],
  [Kind.MinusToken, '+'],
  [Kind.AsteriskToken, '/'],
  [Kind.SlashToken, '*'],
  [Kind.PercentToken, '*'],
]);
const OTHER_ASSIGNMENT = new Map([
  [Kind.PlusEqualsToken, '-='],
  [Kind.MinusEqualsToken, '+='],
]);
const OTHER_LOGIC = new Map([
  [Kind.AmpersandAmpersandToken, '||'],
  [Kind.BarBarToken, '&&'],
]);

/** @typedef {{number: number, line: number, where: string, begin: number, end: number, old: string, new: string, statement: boolean}} Place */

/** @param {string} text @returns {Place[]} Every fault that can be put into a module, in one order. */
export function placesOf(text) {
  const source = ts.createSourceFile('module.js', text, ts.ScriptTarget.ES2023, true, ts.ScriptKind.JS);
  /** @type {Place[]} */
  const found = [];

  /** @param {ts.Node} node @param {string} new_ @param {boolean} [statement] */
  const put = (node, new_, statement = false) => {
    const begin = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(begin).line + 1;
    const old = node.getText(source);
    found.push({ number: 0, line, where: inside(node), begin, end: node.getEnd(), old, new: new_, statement });
  };

  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isImportDeclaration(node)) return;
    if (ts.isBinaryExpression(node)) {
      const [left, right] = [node.left.getText(source), node.right.getText(source)];
      const kind = node.operatorToken.kind;
      const other =
        OTHER_COMPARISON.get(kind) ?? (isText(node.left) || isText(node.right) ? null : OTHER_OPERATOR.get(kind));
      if (other) put(node, `(${left}) ${other} (${right})`);
      if (OTHER_ASSIGNMENT.has(kind) && !isText(node.right))
        put(node, `${left} ${OTHER_ASSIGNMENT.get(kind)} ${right}`);
      if (OTHER_LOGIC.has(kind)) {
        put(node, `(${left}) ${OTHER_LOGIC.get(kind)} (${right})`);
        put(node, `(${left})`);
        put(node, `(${right})`);
      }
      if (kind === Kind.QuestionQuestionToken) put(node, `(${left})`);
    } else if (ts.isPrefixUnaryExpression(node) && node.operator === Kind.ExclamationToken) {
      put(node, `(${node.operand.getText(source)})`);
    } else if (ts.isConditionalExpression(node)) {
      const [test, yes, no] = [node.condition, node.whenTrue, node.whenFalse].map((part) => part.getText(source));
      put(node, `(${test}) ? (${no}) : (${yes})`);
    } else if (ts.isIfStatement(node)) {
      put(node.expression, `!(${node.expression.getText(source)})`);
    } else if (ts.isNumericLiteral(node) && !isName(node)) {
      put(node, `(${node.text} + 1)`);
    } else if (node.kind === Kind.TrueKeyword) {
      put(node, 'false');
    } else if (node.kind === Kind.FalseKeyword) {
      put(node, 'true');
    } else if (ts.isExpressionStatement(node) && isCall(node.expression)) {
      put(node, ';', true);
    } else if (ts.isContinueStatement(node) && !node.label) {
      put(node, 'break;', true);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  // The sort is stable: what begins together stays as it was found.
  found.sort((a, b) => a.begin - b.begin);
  return found.map((place, number) => ({ ...place, number }));
}

/**
 * @param {string} text @param {Record<string, number>} chosen By a place's number, the number of its switch.
 * @returns {string} The module with these faults, each of them off.
 */
export function withFaults(text, chosen) {
  const places = placesOf(text).filter((place) => place.number in chosen);
  // The outer ones first, those of one node together.
  places.sort((a, b) => a.begin - b.begin || b.end - a.end);

  /** @param {number} begin @param {number} end @param {Place[]} within @returns {string} */
  const rendered = (begin, end, within) => {
    let out = '';
    let at = begin;
    while (within.length > 0) {
      const [outer] = within;
      const same = within.filter((place) => place.begin === outer.begin && place.end === outer.end);
      const inner = within.filter((place) => place.begin < outer.end && !same.includes(place));
      let piece = rendered(outer.begin, outer.end, inner);
      for (const place of same) {
        const asked = `globalThis.__mutant__(${chosen[place.number]})`;
        piece = place.statement
          ? `if (${asked}) { ${place.new} } else { ${piece} }`
          : `(${asked} ? ${place.new} : ${piece})`;
      }
      out += text.slice(at, outer.begin) + piece;
      at = outer.end;
      within = within.filter((place) => place.begin >= outer.end);
    }
    return out + text.slice(at, end);
  };
  return rendered(0, text.length, places);
}

/** @param {ts.Node} node */
function isText(node) {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** @param {ts.Node} node A number that names a property. */
function isName(node) {
  return ts.isPropertyAssignment(node.parent) && node.parent.name === node;
}

/** @param {ts.Expression} node */
function isCall(node) {
  const called = ts.isAwaitExpression(node) ? node.expression : node;
  return ts.isCallExpression(called) && called.expression.kind !== Kind.SuperKeyword;
}

/** @param {ts.Node} node The functions and classes that it is in. */
function inside(node) {
  const names = [];
  for (let at = node.parent; at; at = at.parent) {
    const named = ts.isVariableDeclaration(at) ? at.initializer && ts.isArrowFunction(at.initializer) : 'name' in at;
    if (named && (ts.isFunctionLike(at) || ts.isClassLike(at) || ts.isVariableDeclaration(at))) {
      if (at.name) names.unshift(at.name.getText());
    }
  }
  return names.join('.') || 'module';
}

if (process.argv[1] === import.meta.filename) {
  const { texts, chosen } = JSON.parse(readFileSync(0, 'utf8'));
  const answer = Object.entries(texts).map(([file, text]) => [
    file,
    chosen ? withFaults(text, chosen[file] ?? {}) : placesOf(text),
  ]);
  process.stdout.write(JSON.stringify(Object.fromEntries(answer)));
}
