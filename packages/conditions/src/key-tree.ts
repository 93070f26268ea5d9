/** Which keys of a document the paths of a condition can pass through, so that readings need not be decoded completely (D20). */

/** By key: the keys to look at below it; `all`: every key. */
export type KeyTree = ReadonlyMap<string, KeyTree | 'all'>;

type Tree = Map<string, Tree | 'all'>;

/** Longer paths can be interpreted in too many ways. */
const mostParts = 8;
/** Deeper than this many documents, all keys are looked at. */
const treeLevels = 3;

/** Mirrors the search in field-path.ts: a key may contain several parts with its dots, and the whole path may be below `readings`. */
export function keysOf(paths: readonly (readonly string[])[]): KeyTree | undefined {
  if (paths.some((parts) => parts.length > mostParts)) return undefined;
  const root: Tree = new Map();
  for (const parts of paths) add(root, parts, treeLevels);
  const readings = root.get('readings');
  if (readings === 'all') return root;
  const below = readings ?? new Map();
  for (const parts of paths) add(below, parts, treeLevels - 1);
  return root.set('readings', below);
}

function add(tree: Tree, parts: readonly string[], levels: number): void {
  for (let to = 1; to <= parts.length; to++) {
    const key = parts.slice(0, to).join('.');
    const known = tree.get(key);
    if (known === 'all') continue;
    if (to === parts.length || levels === 1) {
      tree.set(key, 'all');
      continue;
    }
    const below = known ?? new Map();
    tree.set(key, below);
    add(below, parts.slice(to), levels - 1);
  }
}
