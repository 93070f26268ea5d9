/** Which keys of a document the paths of a condition can lead through, so that readings need not be decoded whole (D20). */

/** By key: what lies below it is looked at through these keys alone; `all`: through any. */
export type KeyTree = ReadonlyMap<string, KeyTree | 'all'>;

type Tree = Map<string, Tree | 'all'>;

/** Longer paths have too many ways to be read. */
const mostParts = 8;
/** Below this many documents all keys are looked at. */
const treeLevels = 3;

/** As field-path.ts looks for them: a key may hold several parts with its dots, and all of it may stand below `readings`. */
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
