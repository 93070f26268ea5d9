/** The names in the documents of one file, as a tree below `data`: possible leaves, and the order in which names follow each other. */

/** A field somewhere below data. */
export interface Leaf {
  /** Its index in the tree's list. */
  readonly number: number;
  readonly name: string;
  /** UTF-8 with the closing NUL, as in a document. */
  readonly key: Uint8Array;
  readonly parent: Leaf | undefined;
  readonly depth: number;
  /** By key, with each byte as a character. */
  readonly children: Map<string, Leaf>;
  /** As of the last occurrence: the first child, and the next sibling. */
  first: Leaf | undefined;
  next: Leaf | undefined;
  /** Every sibling that has ever directly followed it. */
  readonly followers: Set<Leaf>;
  /** The last document that contained it. */
  seenIn: number;
  /** Whether the tree contains every child that occurs. */
  complete: boolean;
  /** Cleared when the children occur in too many different orders to record. */
  ordered: boolean;
}

/** Names beyond these limits stay only in the document, so that a sender that keeps inventing names does not burden the store. */
export const leafLimits = { leaves: 2_048, depth: 32, keyBytes: 255, orders: 8_192 } as const;

export interface LeafTree {
  readonly root: Leaf;
  /** Parents before their children. */
  readonly leaves: readonly Leaf[];
  /** Number of documents walked so far. */
  documents: number;
  /** Some document could not be read to its end, so nothing is known of any leaf. */
  unreadable: boolean;
  /** The child with a key; undefined when the key cannot be a leaf, and the parent is then incomplete. */
  child(parent: Leaf, key: Uint8Array): Leaf | undefined;
  /** Records that `leaf` directly followed its sibling `before`, or came first if that is undefined. */
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
      // Copied, so that it does not retain the surrounding documents.
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

/** Whether a path in a query can name the field. */
function isPlain(key: Uint8Array): boolean {
  return key.length > 1 && key.length <= leafLimits.keyBytes && key[0] !== 0x24 && !key.includes(0x2e);
}

/** The children, ordered so that each comes after all that it ever followed; undefined if there is no such order. */
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
