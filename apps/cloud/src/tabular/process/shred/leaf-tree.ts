/** The names that occur in documents of one file, as a tree below `data`: what can become a leaf, and in which order names follow each other. */

/** A field at a place below data. */
export interface Leaf {
  /** Its place in the tree's list. */
  readonly number: number;
  readonly name: string;
  /** UTF-8 with the closing NUL, as it is in a document. */
  readonly key: Uint8Array;
  readonly parent: Leaf | undefined;
  readonly depth: number;
  /** By key, each byte a character. */
  readonly children: Map<string, Leaf>;
  /** The child that came first, and the sibling that came next, when it was seen last. */
  first: Leaf | undefined;
  next: Leaf | undefined;
  /** Every sibling that ever came next. */
  readonly followers: Set<Leaf>;
  /** The document in which it was seen last. */
  seenIn: number;
  /** Every child that occurs is in the tree. */
  complete: boolean;
  /** Cleared when too many orders of the children occur to be kept. */
  ordered: boolean;
}

/** Names beyond these stay in the document only: whoever sends ever new ones pays for it, not the store. */
export const leafLimits = { leaves: 2_048, depth: 32, keyBytes: 255, orders: 8_192 } as const;

export interface LeafTree {
  readonly root: Leaf;
  /** Parents before their children. */
  readonly leaves: readonly Leaf[];
  /** Documents that were walked so far. */
  documents: number;
  /** Documents occur that could not be read to their end: nothing is known of any leaf. */
  unreadable: boolean;
  /** The child with a key; undefined when it is none that has an entry of its own, and then the parent is not complete. */
  child(parent: Leaf, key: Uint8Array): Leaf | undefined;
  /** `leaf` came right behind `before`, a sibling of it, or first when that is undefined. */
  follow(parent: Leaf, before: Leaf | undefined, leaf: Leaf): void;
}

export function createLeafTree(): LeafTree {
  const root = newLeaf(0, '', new Uint8Array(1), undefined);
  const leaves = [root];
  let orders = 0;
  return {
    root,
    leaves,
    documents: 0,
    unreadable: false,
    child(parent, key) {
      const text = Buffer.from(key.buffer, key.byteOffset, key.length).toString('latin1');
      let leaf = parent.children.get(text);
      if (leaf !== undefined) return leaf;
      if (leaves.length >= leafLimits.leaves || parent.depth >= leafLimits.depth || !isPlain(key)) {
        parent.complete = false;
        return undefined;
      }
      // A copy, so that it does not keep the documents around it.
      const own = new Uint8Array(key);
      const name = Buffer.from(own.buffer, 0, own.length - 1).toString('utf8');
      leaf = newLeaf(leaves.length, name, own, parent);
      leaves.push(leaf);
      parent.children.set(text, leaf);
      return leaf;
    },
    follow(parent, before, leaf) {
      if (before === undefined) {
        parent.first = leaf;
        return;
      }
      before.next = leaf;
      if (before.followers.has(leaf)) return;
      if (orders++ < leafLimits.orders) before.followers.add(leaf);
      else parent.ordered = false;
    },
  };
}

function newLeaf(number: number, name: string, key: Uint8Array, parent: Leaf | undefined): Leaf {
  return {
    number,
    name,
    key,
    parent,
    depth: parent === undefined ? 0 : parent.depth + 1,
    children: new Map(),
    first: undefined,
    next: undefined,
    followers: new Set(),
    seenIn: -1,
    complete: true,
    ordered: true,
  };
}

/** Whether a path of a query can name the field. */
function isPlain(key: Uint8Array): boolean {
  return key.length > 1 && key.length <= leafLimits.keyBytes && key[0] !== 0x24 && !key.includes(0x2e);
}

/** The children so that each comes behind all that it ever followed; undefined when there is no such order. */
export function orderedChildren(leaf: Leaf): Leaf[] | undefined {
  const waitsFor = new Map<Leaf, number>();
  for (const child of leaf.children.values())
    for (const follower of child.followers) waitsFor.set(follower, (waitsFor.get(follower) ?? 0) + 1);
  const ready = [...leaf.children.values()].filter((child) => !waitsFor.has(child)).reverse();
  const sorted: Leaf[] = [];
  for (let child = ready.pop(); child !== undefined; child = ready.pop()) {
    sorted.push(child);
    for (const follower of child.followers) {
      const left = (waitsFor.get(follower) as number) - 1;
      waitsFor.set(follower, left);
      if (left === 0) ready.push(follower);
    }
  }
  return sorted.length === leaf.children.size ? sorted : undefined;
}
