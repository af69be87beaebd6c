/// <reference types="vite/client" />
import ts from 'typescript';

const SOURCES = import.meta.glob<string>(
  ['../../ui/src/**/*.ts', '../src/**/*.ts'],
  { query: '?raw', import: 'default', eager: true }
);

/**
 * A text that is translated where it stands.
 */
export interface IText {
  readonly text: string;

  /**
   * How it reads for several; null: it counts nothing.
   */
  readonly plural: string | null;
}

const TRANSLATORS = new Set(['t', 'mark', '__']);
const COUNTING = '_n';

/**
 * Return all texts of ours, sorted; each once.
 */
export function textsInSources(): readonly IText[] {
  const found = new Map<string, IText>();
  for (const [path, text] of Object.entries(SOURCES)) {
    collect(ts.createSourceFile(path, text, ts.ScriptTarget.ES2022), found);
  }
  return [...found.values()].sort((a, b) => (a.text < b.text ? -1 : 1));
}

function collect(node: ts.Node, found: Map<string, IText>): void {
  if (ts.isCallExpression(node)) {
    const name = nameOf(node.expression);
    const [first, second] = node.arguments.map(literal);
    if (name === COUNTING && typeof first === 'string') {
      found.set(first, { text: first, plural: second ?? null });
    } else if (TRANSLATORS.has(name) && typeof first === 'string') {
      found.set(first, found.get(first) ?? { text: first, plural: null });
    }
  }
  ts.forEachChild(node, child => {
    collect(child, found);
  });
}

function nameOf(callee: ts.Expression): string {
  if (ts.isPropertyAccessExpression(callee)) {
    return callee.name.text;
  }
  return ts.isIdentifier(callee) ? callee.text : '';
}

/**
 * Return a text that is written out, also over several lines; null: it is not.
 */
function literal(node: ts.Expression): string | null {
  if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
    return node.text;
  }
  if (
    ts.isBinaryExpression(node) &&
    node.operatorToken.kind === ts.SyntaxKind.PlusToken
  ) {
    const [left, right] = [literal(node.left), literal(node.right)];
    return left === null || right === null ? null : left + right;
  }
  return null;
}
