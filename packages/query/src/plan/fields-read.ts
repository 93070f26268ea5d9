/** Which fields of the input rows a plan reads, so that only these are decoded. */

import type { Mask } from '../bson/decode.ts';
import type { Expr, Path } from './expr.ts';
import type { ShapeTree, Stage } from './stage.ts';

type Tree = Map<string, Tree | true>;

export interface FieldsRead {
  readonly mask: Mask;
  /** All stages hand rows on unchanged, so that the answer can repeat the input's bytes. */
  readonly passThrough: boolean;
}

export function fieldsRead(stages: readonly Stage[]): FieldsRead {
  const paths: Path[] = [];
  let passThrough = true;
  for (const stage of stages) {
    if (stage.k === 'filter') collect(stage.where, paths);
    else if (stage.k === 'sort') paths.push(...stage.by.map((key) => key.path));
    else if (stage.k === 'slice' || stage.k === 'sample') continue;
    // What joins, subqueries and unions add stands beside the whole row.
    else if (stage.k === 'values') return { mask: maskOf([]), passThrough: false };
    else if (stage.k === 'unwind') {
      paths.push(stage.path);
      passThrough = false;
    } else if (
      stage.k === 'join' ||
      stage.k === 'lookup' ||
      stage.k === 'union' ||
      stage.k === 'redact' ||
      stage.k === 'geoNear' ||
      stage.k === 'window' ||
      stage.k === 'densify'
    )
      return { mask: true, passThrough: false };
    else if (stage.k === 'group' || stage.k === 'bucketAuto') {
      collect(stage.key, paths);
      for (const [, { arg, by }] of stage.into) {
        collect(arg, paths);
        for (const key of by ?? []) paths.push(key.path);
      }
      return { mask: maskOf(paths), passThrough: false };
    } else if (stage.k === 'replace') {
      collect(stage.with, paths);
      return { mask: maskOf(paths), passThrough: false };
    } else {
      if (stage.mode !== 'include') return { mask: true, passThrough: false };
      collectTree(stage.tree, [], paths);
      return { mask: maskOf(paths), passThrough: false };
    }
  }
  return { mask: passThrough ? maskOf(paths) : true, passThrough };
}

function collectTree(tree: ShapeTree, above: Path, into: Path[]): void {
  for (const [name, node] of tree.fields) {
    const path = [...above, name];
    if (node.k !== 'drop') into.push(path);
    if (node.k === 'tree') collectTree(node, path, into);
    if (node.k === 'set') collect(node.value, into);
  }
}

function collect(expr: Expr, into: Path[]): void {
  switch (expr.k) {
    case 'field':
      into.push(expr.path);
      return;
    case 'var':
      if (expr.name === 'ROOT') into.push(expr.path);
      return;
    case 'call':
      for (const arg of expr.args) collect(arg, into);
      return;
    case 'doc':
      for (const [, value] of expr.fields) collect(value, into);
      return;
    case 'bind':
      for (const arg of expr.args) collect(arg, into);
      if (expr.fn !== 'match.elem') collect(expr.body, into);
      return;
    case 'lit':
      return;
  }
}

function maskOf(paths: readonly Path[]): Mask {
  const root: Tree = new Map();
  for (const path of paths) {
    if (path.length === 0) return true;
    let tree = root;
    for (const [index, name] of path.entries()) {
      const below = tree.get(name);
      if (below === true) break;
      if (index === path.length - 1) tree.set(name, true);
      else {
        const next: Tree = below ?? new Map();
        tree.set(name, next);
        tree = next;
      }
    }
  }
  return root;
}
