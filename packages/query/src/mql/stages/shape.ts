/** $project, $addFields (also called $set) and $unset: which fields a row has afterwards. */
import { describe } from '../../bson/describe.ts';
import { isNumeric } from '../../bson/type.ts';
import { BsonDocument, type BsonValue } from '../../bson/value.ts';
import { isTruthy } from '../../execute/expressions/truth.ts';
import { operators } from '../../functions/registry.ts';
import { type Expr, literal } from '../../plan/expr.ts';
import type { ShapeLeaf, ShapeTree, Stage } from '../../plan/stage.ts';
import { QueryError } from '../../query-error.ts';
import { parseExpression } from '../expression.ts';
import { parseFieldPath } from '../path.ts';

export function parseProject(spec: BsonValue): Stage {
  if (!(spec instanceof BsonDocument)) throw new QueryError(15969, `$project takes an object, found ${describe(spec)}`);
  if (spec.size === 0) throw new QueryError(51272, '$project needs at least one field');
  const tree = new TreeBuilder();
  let mode: 'include' | 'exclude' | undefined;
  let [namesId, dropsId] = [false, false];
  for (const found of leavesOf(spec, [], '$project', true)) {
    const { path, leaf, text, operator } = found;
    tree.add(path, leaf, text, 31249, 31250);
    namesId ||= path[0] === '_id';
    if (isId(path) && leaf.k !== 'set') dropsId = leaf.k === 'drop';
    else if (operator !== '$meta') {
      const wanted = leaf.k === 'drop' ? 'exclude' : 'include';
      mode ??= wanted;
      if (wanted !== mode) throw mixed(found);
    }
  }
  mode ??= dropsId ? 'exclude' : 'include';
  if (mode === 'exclude') return { k: 'shape', mode, tree: tree.build((leaf) => leaf.k !== 'keep') };
  if (!namesId) tree.add(['_id'], { k: 'keep' }, '_id', 31249, 31250);
  return { k: 'shape', mode, tree: tree.build((leaf) => leaf.k !== 'drop') };
}

function mixed({ leaf, text, operator }: Leaf): QueryError {
  if (leaf.k === 'keep') return new QueryError(31253, `cannot include the field ${text} in an exclusion projection`);
  if (leaf.k === 'drop') return new QueryError(31254, `cannot exclude the field ${text} in an inclusion projection`);
  const code = operator === undefined ? 31310 : 31252;
  return new QueryError(code, `cannot compute the field ${text} in an exclusion projection`);
}

export function parseAddFields(spec: BsonValue, stage: string): Stage {
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
    refusePositional(name);
    tree.add(parseFieldPath(name), { k: 'drop' }, name, 31249, 31250);
  }
  return { k: 'shape', mode: 'exclude', tree: tree.build(() => true) };
}

interface Leaf {
  readonly path: readonly string[];
  readonly leaf: ShapeLeaf;
  readonly text: string;
  /** Set if the value is an expression object. */
  readonly operator?: string;
}

function isId(path: readonly string[]): boolean {
  return path.length === 1 && path[0] === '_id';
}

function* leavesOf(spec: BsonDocument, above: readonly string[], stage: string, flags: boolean): Generator<Leaf> {
  for (const [name, value] of spec) {
    if (above.length > 0 && name.includes('.') && !flags) {
      throw new QueryError(40183, `a nested field name must not contain a dot: '${name}'`);
    }
    if (flags) refusePositional(name);
    if (flags && above.length > 0 && name.startsWith('$')) {
      throw new QueryError(31325, `unknown expression ${name}`, { path: `${stage}.${above.join('.')}` });
    }
    const path = [...above, ...parseFieldPath(name)];
    const text = path.join('.');
    const [operator] = value instanceof BsonDocument ? value.keys() : [];
    if (value instanceof BsonDocument && !operator?.startsWith('$')) {
      if (value.size === 0 && flags) throw new QueryError(51270, `an empty object is not a valid value for ${text}`);
      if (value.size === 0) yield { path, leaf: { k: 'set', value: literal(value) }, text };
      yield* leavesOf(value, path, stage, flags);
    } else if (flags && (typeof value === 'boolean' || isNumeric(value))) {
      yield { path, leaf: isTruthy(value) ? { k: 'keep' } : { k: 'drop' }, text };
    } else {
      const known = !flags || !(value instanceof BsonDocument) || (value.size === 1 && operators.has(operator!));
      const leaf: ShapeLeaf = { k: 'set', value: parseValue(value, `${stage}.${text}`, known) };
      yield operator === undefined ? { path, leaf, text } : { path, leaf, text, operator };
    }
  }
}

/** $project has its own code for an unknown operator directly in its specification. */
function parseValue(value: BsonValue, at: string, known: boolean): Expr {
  try {
    return parseExpression(value, at);
  } catch (error) {
    if (known || !(error instanceof QueryError)) throw error;
    const { reason, path = at, hint } = error;
    throw new QueryError(31325, reason, hint === undefined ? { path } : { path, hint });
  }
}

/** The `$` of updates and of find's projections. */
function refusePositional(name: string): void {
  if (name.endsWith('.$')) throw new QueryError(31324, `a positional path is not allowed in a pipeline: '${name}'`);
  if (name.includes('.$.')) throw new QueryError(31394, `a path must not have a '$' in the middle: '${name}'`);
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

/** $replaceRoot and $replaceWith: replace a row by the document that an expression gives. */
export function parseReplace(spec: BsonValue, stage: string): Stage {
  if (stage === '$replaceWith') return { k: 'replace', with: parseExpression(spec, '$replaceWith') };
  if (!(spec instanceof BsonDocument)) {
    throw new QueryError(40229, `$replaceRoot takes an object with the field newRoot, found ${describe(spec)}`);
  }
  for (const name of spec.keys()) {
    if (name !== 'newRoot') throw new QueryError(40415, `$replaceRoot has only the field newRoot, found '${name}'`);
  }
  const root = spec.get('newRoot');
  if (root === undefined) throw new QueryError(40414, '$replaceRoot needs the field newRoot');
  return { k: 'replace', with: parseExpression(root, '$replaceRoot.newRoot') };
}
