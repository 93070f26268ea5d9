/** Which fields of the input rows a plan reads, so that only these are decoded, or rebuilt from columns. */

import type { Mask } from '../bson/field-names.ts';
import { type Expr, type Path, partsOf } from './expr.ts';
import type { ShapeTree, Stage } from './stage.ts';

type Tree = Map<string, Tree | true>;

/** One field that a plan reads. A path through arrays reads its value in all of their elements. */
export interface FieldRead {
  /** Field names from the outside in; never empty. */
  readonly path: Path;
  /**
   * `value`: the value at the path, or its absence; an object or array there with all its content, in its order. The fields around it,
   * their order, and whether the objects on the path exist without it make no difference. `place`: results copy the field, so its position
   * counts as well. The fields of these paths must be in the row's order, in the row and in each object on the path. An object on the path
   * must exist even if it has none of these fields.
   */
  readonly as: 'value' | 'place';
}

export interface FieldsRead {
  readonly mask: Mask;
  /** All stages pass rows on unchanged, so the answer repeats the input's bytes: rows must be whole. */
  readonly passThrough: boolean;
  /** Everything that is read from a row; `all` for the whole row, in its order. A path may occur twice. */
  readonly fields: readonly FieldRead[] | 'all';
}

/** Decodes rows completely. */
export const wholeRows: FieldsRead = { mask: true, passThrough: false, fields: 'all' };

/** @param stages the stages that rows pass; nothing after a `group` reads more of them. */
export function fieldsRead(stages: readonly Stage[]): FieldsRead {
  const read: FieldRead[] = [];
  let passThrough = true;
  for (const stage of stages) {
    if (stage.k === 'filter') collect(stage.where, read);
    else if (stage.k === 'sort') collectPaths(stage.by, read);
    else if (stage.k === 'slice' || stage.k === 'sample') continue;
    else if (stage.k === 'values') return reading([]);
    else if (stage.k === 'unwind') {
      read.push({ path: stage.path, as: 'place' });
      if (stage.index !== undefined) read.push({ path: stage.index, as: 'place' });
      passThrough = false;
    } else if (stage.k === 'group' || stage.k === 'bucketAuto') {
      collect(stage.key, read);
      for (const [, { arg, by }] of stage.accumulators) {
        collect(arg, read);
        collectPaths(by ?? [], read);
      }
      return reading(read);
    } else if (stage.k === 'replace') {
      collect(stage.with, read);
      return reading(read);
    } else if (stage.k === 'shape' && stage.mode === 'include') {
      collectTree(stage.tree, [], read);
      return reading(read);
    } else {
      // The rest of the row stays in the row. Fields added by joins, subqueries and unions are kept outside it.
      return wholeRows;
    }
  }
  return passThrough ? { mask: maskOf(read), passThrough, fields: 'all' } : wholeRows;
}

function reading(fields: readonly FieldRead[]): FieldsRead {
  const mask = maskOf(fields);
  return { mask, passThrough: false, fields: mask === true ? 'all' : fields };
}

export function collectPaths(by: readonly { readonly path: Path }[], into: FieldRead[]): void {
  for (const { path } of by) into.push({ path, as: 'value' });
}

export function collectTree(tree: ShapeTree, above: Path, into: FieldRead[]): void {
  for (const [name, node] of tree.fields) {
    const path = [...above, name];
    if (node.k === 'tree') collectTree(node, path, into);
    // A value computed below other fields is put into the existing object, or into the elements of the existing array.
    else if (node.k === 'keep' || (node.k === 'set' && above.length > 0)) into.push({ path, as: 'place' });
    if (node.k === 'set') collect(node.value, into);
  }
}

export function collect(expr: Expr, into: FieldRead[]): void {
  if (expr.k === 'field' || (expr.k === 'var' && expr.name === 'ROOT')) into.push({ path: expr.path, as: 'value' });
  for (const part of expr.k === 'bind' && expr.fn === 'match.elem' ? expr.args : partsOf(expr)) collect(part, into);
}

function maskOf(fields: readonly FieldRead[]): Mask {
  const root: Tree = new Map();
  for (const { path } of fields) {
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
