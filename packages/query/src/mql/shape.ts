/** $project, $addFields (also called $set) and $unset: which fields a row has afterwards. */

import { isNumeric } from '../bson/type.ts';
import { BsonDocument, type BsonValue, Int32 } from '../bson/value.ts';
import { literal } from '../plan/expr.ts';
import type { ShapeLeaf, ShapeTree, Stage } from '../plan/stage.ts';
import { QueryError } from '../query-error.ts';
import { describe } from './describe.ts';
import { parseExpression } from './expression.ts';
import { parseFieldPath } from './path.ts';

export function parseProject(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15969, `$project takes an object, found ${describe(spec)}`);
  if (spec.size === 0) throw new QueryError(51272, '$project needs at least one field');
  const leaves = [...leavesOf(spec, [], '$project', true)];
  const decisive = leaves.find(({ path, leaf }) => leaf.k !== 'set' && !isId(path));
  const computed = leaves.find(({ leaf }) => leaf.k === 'set');
  const id = leaves.find(({ path }) => isId(path));
  const excludes = decisive
    ? decisive.leaf.k === 'drop' && leaves.indexOf(decisive) <= indexOr(leaves, computed)
    : !computed && id?.leaf.k === 'drop';
  const tree = new TreeBuilder();
  for (const { path, leaf, text } of leaves) {
    if (!isId(path)) {
      if (excludes && leaf.k === 'keep') {
        throw new QueryError(31253, `cannot do inclusion on field ${text} in an exclusion projection`);
      }
      if (excludes && leaf.k === 'set') {
        throw new QueryError(
          leaf.value.k === 'call' ? 31252 : 31310,
          `cannot use an expression for ${text} in an exclusion projection`,
        );
      }
      if (!excludes && leaf.k === 'drop') {
        throw new QueryError(31254, `cannot do exclusion on field ${text} in an inclusion projection`);
      }
    } else if (excludes && leaf.k === 'set') {
      throw new QueryError(31252, `cannot use an expression for ${text} in an exclusion projection`);
    }
    tree.add(path, leaf, text, 31249, 31250);
  }
  if (excludes) return { k: 'shape', mode: 'exclude', tree: tree.build((leaf) => leaf.k === 'drop') };
  if (!leaves.some(({ path }) => path[0] === '_id')) tree.add(['_id'], { k: 'keep' }, '_id', 31249, 31250);
  return { k: 'shape', mode: 'include', tree: tree.build((leaf) => leaf.k !== 'drop') };
}

export function parseAddFields(spec: BsonValue, stage: '$addFields' | '$set'): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(40272, `${stage} takes an object, found ${describe(spec)}`);
  if (spec.size === 0) throw new QueryError(40177, `${stage} needs at least one field`);
  const tree = new TreeBuilder();
  for (const { path, leaf, text } of leavesOf(spec, [], stage, false)) tree.add(path, leaf, text, 40176, 40176);
  return { k: 'shape', mode: 'set', tree: tree.build(() => true) };
}

export function parseUnset(spec: BsonValue): Stage {
  const names = Array.isArray(spec) ? spec : [spec];
  if (!Array.isArray(spec) && typeof spec !== 'string') {
    throw new QueryError(31002, `$unset takes a field or an array of fields, found ${describe(spec)}`);
  }
  if (names.length === 0) throw new QueryError(31119, '$unset takes at least one field, found an empty array');
  const tree = new TreeBuilder();
  const texts = names.map((name) => {
    if (typeof name === 'string') return name;
    throw new QueryError(31120, `$unset takes names of fields, found ${describe(name)}`);
  });
  for (const name of texts) {
    if (name.includes('\0')) throw new QueryError(9527900, 'a field of $unset must not contain a null byte');
    tree.add(parseFieldPath(name), { k: 'drop' }, name, 31249, 31250);
  }
  return { k: 'shape', mode: 'exclude', tree: tree.build(() => true) };
}

interface Leaf {
  readonly path: readonly string[];
  readonly leaf: ShapeLeaf;
  readonly text: string;
}

function isId(path: readonly string[]): boolean {
  return path.length === 1 && path[0] === '_id';
}

function indexOr(leaves: readonly Leaf[], leaf: Leaf | undefined): number {
  return leaf === undefined ? Number.POSITIVE_INFINITY : leaves.indexOf(leaf);
}

function* leavesOf(spec: BsonDocument, above: readonly string[], stage: string, flags: boolean): Generator<Leaf> {
  for (const [name, value] of spec) {
    if (above.length > 0 && name.includes('.') && !flags) {
      throw new QueryError(40183, `a nested field name must not contain a dot: '${name}'`);
    }
    const path = [...above, ...parseFieldPath(name)];
    const text = path.join('.');
    if (value instanceof BsonDocument && ![...value.keys()][0]?.startsWith('$')) {
      if (value.size === 0 && flags) throw new QueryError(51270, `an empty object is not a valid value for ${text}`);
      if (value.size === 0) yield { path, leaf: { k: 'set', value: literal(value) }, text };
      yield* leavesOf(value, path, stage, flags);
    } else if (flags && (typeof value === 'boolean' || isNumeric(value))) {
      yield { path, leaf: isTrue(value) ? { k: 'keep' } : { k: 'drop' }, text };
    } else {
      yield { path, leaf: { k: 'set', value: parseExpression(value, `${stage}.${text}`) }, text };
    }
  }
}

function isTrue(value: BsonValue): boolean {
  if (value instanceof Int32) return value.value !== 0;
  return typeof value === 'number' ? value !== 0 : typeof value === 'bigint' ? value !== 0n : value !== false;
}

type Branch = Map<string, Branch | ShapeLeaf>;

/** Collects paths into a tree and refuses a path that is given twice or lies inside another one. */
class TreeBuilder {
  readonly #root: Branch = new Map();

  add(path: readonly string[], leaf: ShapeLeaf, text: string, inside: number, above: number): void {
    let branch = this.#root;
    for (const name of path.slice(0, -1)) {
      const next = branch.get(name) ?? new Map();
      if (!(next instanceof Map)) throw new QueryError(inside, `path collision at ${text}: ${name} is given as well`);
      branch.set(name, next);
      branch = next;
    }
    const last = path.at(-1)!;
    if (branch.has(last)) throw new QueryError(above, `path collision at ${text}`);
    branch.set(last, leaf);
  }

  build(wanted: (leaf: ShapeLeaf) => boolean): ShapeTree {
    const tree = (branch: Branch): ShapeTree => ({
      k: 'tree',
      fields: [...branch].flatMap(([name, node]): [string, ShapeTree | ShapeLeaf][] => {
        if (node instanceof Map) return [[name, tree(node)]];
        return wanted(node) ? [[name, node]] : [];
      }),
    });
    return tree(this.#root);
  }
}
