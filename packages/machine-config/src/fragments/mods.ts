import { formatValue } from '../format-value.ts';
import { isObject } from '../is-object.ts';
import type { Json, JsonObject } from '../schema.ts';
import { type Budget, maxDepth } from './budget.ts';
import { isListKey, type Layer, listKeys, type Piece } from './layer.ts';
import { operators } from './operators.ts';
import { ModFault, type Slot, slotIn } from './slot.ts';
import type { FragmentProblem } from './types.ts';

/** One entry of a document's `fragment_mods`: overrides of one fragment's content. */
export interface Mods {
  readonly fragmentId: string;
  /** Each is an object of operators. */
  readonly mods: readonly JsonObject[];
  /** `fragment_mods[0]`. */
  readonly path: string;
}

/** The overrides of one document, and which of them have found their fragment. */
export interface Scope {
  readonly mods: readonly Mods[];
  readonly applied: Set<Mods>;
}

export function readMods(document: JsonObject): { mods: readonly Mods[]; problems: readonly FragmentProblem[] } {
  const problems: FragmentProblem[] = [];
  const wrong = (path: string, expected: string, found: unknown): never[] => {
    problems.push({ path, level: 'error', message: `expected ${expected}, found ${formatValue(found)}` });
    return [];
  };
  const list = isObject(document) ? document['fragment_mods'] : undefined;
  if (list === undefined || list === null) return { mods: [], problems };
  if (!Array.isArray(list)) return { mods: wrong('fragment_mods', 'a list', list), problems };
  const mods = list.flatMap((entry: Json, index): Mods[] => {
    const path = `fragment_mods[${index}]`;
    if (!isObject(entry)) return wrong(path, 'an object with "fragment_id" and "mods"', entry);
    const { fragment_id: fragmentId, mods: given = [] } = entry;
    if (typeof fragmentId !== 'string' || fragmentId === '')
      return wrong(`${path}.fragment_id`, 'the id of a fragment', fragmentId);
    if (!Array.isArray(given)) return wrong(`${path}.mods`, 'a list of objects of operators', given);
    const kept = given.flatMap((mod: Json, at) =>
      isObject(mod) ? [mod] : wrong(`${path}.mods[${at}]`, 'an object of operators such as {"$set": {…}}', mod),
    );
    return [{ fragmentId, mods: kept, path }];
  });
  return { mods, problems };
}

/**
 * A fragment's content with `mods` applied: all of them, or none if one fails.
 *
 * An entry is addressed by its name in the fragment, even if the overrides change that name, or by its name with the import's prefix.
 */
export function applyMod(layer: Layer, mods: Mods, prefix: string, budget: Budget): Layer | FragmentProblem {
  const work: Layer = {
    lists: new Map([...layer.lists].map(([key, pieces]) => [key, pieces.map((piece) => copied(piece, budget))])),
    values: new Map([...layer.values].map(([key, piece]) => [key, copied(piece, budget)])),
  };
  const names = new Map<string, NameIndex>();
  const indexOf = (key: string): NameIndex => {
    const index = names.get(key) ?? indexNames(key, work.lists.get(key) ?? []);
    names.set(key, index);
    return index;
  };
  const removed = new Set<Piece>();
  const slot = (path: string): Slot => {
    budget.takeCharacters(path.length);
    const [key = '', ...rest] = path.split('.');
    if (path === '' || [key, ...rest].some((step) => step === '' || step === '__proto__' || step.startsWith('$')))
      throw new ModFault(
        `expected a dotted path such as components.<name>.attributes.<key>, found ${formatValue(path)}`,
      );
    if (rest.length >= maxDepth) throw new ModFault(`expected a path of at most ${maxDepth} steps, found more`);
    if (!isListKey(key)) return slotIn(() => rootOf(work, key), [key, ...rest], path);
    const found = addressed(rest, prefix, indexOf(key), budget);
    if (found === undefined)
      throw new ModFault(`expected the name of one of the fragment's ${key}, found ${formatValue(rest.join('.'))}`);
    const holder = { entry: found.piece.value };
    const inner = slotIn(() => holder, ['entry', ...rest.slice(found.steps)], path);
    return {
      read: inner.read,
      write: (value) => {
        inner.write(value);
        found.piece.value = holder.entry;
      },
      remove: () => {
        if (rest.length > found.steps) inner.remove();
        else removed.add(found.piece);
      },
    };
  };
  for (const [index, mod] of mods.mods.entries())
    for (const [operator, fields] of Object.entries(mod)) {
      const at = `${mods.path}.mods[${index}].${operator}`;
      const fault = (path: string, message: string): FragmentProblem => ({
        path,
        level: 'error',
        message: `${message}: none of the overrides of fragment ${mods.fragmentId} is applied`,
        fragmentId: mods.fragmentId,
      });
      const apply = Object.hasOwn(operators, operator) ? operators[operator] : undefined;
      if (apply === undefined)
        return fault(at, `expected one of ${Object.keys(operators).join(', ')}, found "${operator.slice(0, 64)}"`);
      if (!isObject(fields)) return fault(at, `expected an object of dotted paths, found ${formatValue(fields)}`);
      for (const [path, operand] of Object.entries(fields)) {
        try {
          apply(slot(path), budget.copy(operand), slot, budget);
        } catch (caught) {
          if (!(caught instanceof ModFault)) throw caught;
          return fault(`${at}.${path}`, caught.message);
        }
      }
    }
  if (removed.size > 0)
    for (const [key, pieces] of work.lists)
      work.lists.set(
        key,
        pieces.filter((piece) => !removed.has(piece)),
      );
  return work;
}

function copied(piece: Piece, budget: Budget): Piece {
  return { value: budget.copy(piece.value), origin: piece.origin };
}

/** The entries of one list by name; of several with the same name, the first. */
interface NameIndex {
  readonly entries: ReadonlyMap<string, { readonly piece: Piece; readonly position: number }>;
  /** The possible lengths of names in steps of a dotted path, each once, the greatest first. */
  readonly steps: readonly number[];
}

function indexNames(key: string, pieces: readonly Piece[]): NameIndex {
  const entries = new Map<string, { piece: Piece; position: number }>();
  for (const [position, piece] of pieces.entries()) {
    const name = isObject(piece.value) ? piece.value[listKeys[key] ?? 'name'] : undefined;
    if (typeof name === 'string' && !entries.has(name)) entries.set(name, { piece, position });
  }
  return { entries, steps: greatestFirst([...entries.keys()].map(stepsOf)) };
}

/** The entry whose name, with or without the prefix, matches the longest part of `path`; on a tie, the first. */
function addressed(
  path: readonly string[],
  prefix: string,
  { entries, steps }: NameIndex,
  budget: Budget,
): { piece: Piece; steps: number } | undefined {
  const before = prefix === '' ? undefined : `${prefix}-`;
  const more = before === undefined ? 0 : stepsOf(before) - 1;
  for (const count of before === undefined ? steps : greatestFirst(steps.flatMap((each) => [each, each + more]))) {
    if (count > path.length) continue;
    const address = path.slice(0, count).join('.');
    budget.takeCharacters(address.length);
    const plain = entries.get(address);
    const behind = before !== undefined && address.startsWith(before) ? address.slice(before.length) : undefined;
    const other = behind === undefined ? undefined : entries.get(behind);
    const found = plain !== undefined && (other === undefined || plain.position <= other.position) ? plain : other;
    if (found !== undefined) return { piece: found.piece, steps: count };
  }
  return undefined;
}

const stepsOf = (name: string): number => name.split('.').length;
const greatestFirst = (counts: readonly number[]): number[] => [...new Set(counts)].toSorted((a, b) => b - a);

/** The values of a layer as one object that writes through. */
function rootOf(layer: Layer, key: string): { [key: string]: Json } {
  const piece = layer.values.get(key);
  const origin = piece?.origin;
  const root: { [key: string]: Json } = {};
  Object.defineProperty(root, key, {
    enumerable: true,
    configurable: true,
    get: () => layer.values.get(key)?.value,
    set: (value: Json) => layer.values.set(key, { value, origin }),
  });
  return root;
}
