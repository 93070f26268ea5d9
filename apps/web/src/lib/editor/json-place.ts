/** Places in a JSON text: the path of keys and positions at a character, and the characters of a path. */
import { syntaxTree } from '@codemirror/language';
import type { EditorState } from '@codemirror/state';

type SyntaxNode = ReturnType<typeof syntaxTree>['topNode'];

export type Path = readonly (string | number)[];

export interface Place {
  /** The path of the value or object at the character; for the name of a property, of the object that has it. */
  readonly path: Path;
  /** What is there. */
  readonly at: 'name' | 'value';
  /** The range of the string or word at the character; if there is none, an empty range. */
  readonly from: number;
  readonly to: number;
}

const values = ['String', 'Number', 'True', 'False', 'Null', 'Object', 'Array'];

export function placeAt(state: EditorState, pos: number): Place {
  const node = syntaxTree(state).resolveInner(pos, -1);
  const isWhole = ['String', 'PropertyName', 'Number', 'True', 'False', 'Null', '⚠'].includes(node.name);
  const range = isWhole && node.to > node.from ? { from: node.from, to: node.to } : { from: pos, to: pos };
  if (node.name === 'PropertyName') return { path: pathTo(state, node.parent?.parent ?? null), at: 'name', ...range };
  // After a colon, or inside of a property that has no value yet.
  const property = node.name === 'Property' ? node : node.parent?.name === 'Property' ? node.parent : null;
  if (property && node.name !== 'Object' && node.name !== 'Array')
    return { path: pathTo(state, property), at: 'value', ...range };
  if (node.name === 'Object' || node.parent?.name === 'Object') {
    const object = node.name === 'Object' ? node : (node.parent as SyntaxNode);
    return { path: pathTo(state, object), at: 'name', ...range };
  }
  return { path: pathTo(state, node), at: 'value', ...range };
}

/** Characters of the value at a path, or of the nearest one above it that exists. */
export function rangeOf(state: EditorState, path: Path): { readonly from: number; readonly to: number } {
  let node: SyntaxNode | null = syntaxTree(state).topNode.firstChild;
  let found = { from: 0, to: Math.min(1, state.doc.length) };
  for (const step of path) {
    const child: SyntaxNode | undefined = node ? childAt(state, node, step) : undefined;
    if (child === undefined) break;
    found = { from: child.from, to: child.to };
    node = valueNodeOf(child);
  }
  // A whole object would be underlined line by line.
  return { from: found.from, to: Math.min(found.to, state.doc.lineAt(found.from).to) };
}

function pathTo(state: EditorState, from: SyntaxNode | null): Path {
  const path: (string | number)[] = [];
  for (let node = from; node?.parent; node = node.parent) {
    if (node.name === 'Property') path.unshift(nameOf(state, node));
    else if (node.parent.name === 'Array')
      path.unshift(childrenOf(node.parent).findIndex((one) => one.from === node.from));
  }
  return path;
}

function childAt(state: EditorState, node: SyntaxNode, step: string | number): SyntaxNode | undefined {
  if (typeof step === 'number') return childrenOf(node)[step];
  return node.getChildren('Property').find((one) => nameOf(state, one) === step);
}

function valueNodeOf(node: SyntaxNode): SyntaxNode | null {
  return node.name === 'Property' ? (childrenOf(node).at(-1) ?? null) : node;
}

function childrenOf(node: SyntaxNode): SyntaxNode[] {
  const children: SyntaxNode[] = [];
  for (let child = node.firstChild; child; child = child.nextSibling)
    if (values.includes(child.name)) children.push(child);
  return children;
}

function nameOf(state: EditorState, property: SyntaxNode): string {
  const name = property.getChild('PropertyName');
  if (!name) return '';
  const text = state.sliceDoc(name.from, name.to);
  try {
    return String(JSON.parse(text));
  } catch {
    return text.replaceAll('"', '');
  }
}
