/**
 * Walks documents and records entries: which leaf of which kind is where in the bytes. It expects BSON as written by struct-to-bson.
 * Anything else makes the whole tree unreadable, which loses columns but never rows.
 *
 * Documents of a series have the same names in the same order, so a name is first compared with the one that followed last time.
 */
import { kind } from '../files/file-facts.ts';
import { readInt32 } from '../rows/bson-bytes.ts';
import { twiceAsLong } from '../rows/row-buffer.ts';
import type { Leaf, LeafTree } from './leaf-tree.ts';

/** Indexed by entry; only the first `count` are valid. */
export interface Entries {
  count: number;
  /** Number of the leaf. */
  leaf: Int32Array;
  /** A bit of `kind`. */
  kind: Uint8Array;
  /** Offset of its value. */
  at: Int32Array;
  row: Int32Array;
}

export interface Walker {
  readonly entries: Entries;
  /** Adds the entries of the document at [start, end) of `bytes`; the document itself, the tree's root, has none. */
  walk(bytes: Uint8Array, start: number, end: number, row: number): void;
}

export function createWalker(tree: LeafTree): Walker {
  const entries: Entries = {
    count: 0,
    leaf: new Int32Array(4_096),
    kind: new Uint8Array(4_096),
    at: new Int32Array(4_096),
    row: new Int32Array(4_096),
  };
  let bytes: Uint8Array = new Uint8Array();
  let row = 0;

  const enter = (leaf: Leaf, kindBit: number, at: number): void => {
    if (entries.count === entries.leaf.length) grow(entries);
    const entry = entries.count++;
    entries.leaf[entry] = leaf.number;
    entries.kind[entry] = kindBit;
    entries.at[entry] = at;
    entries.row[entry] = row;
  };

  const walkObject = (parent: Leaf, start: number, limit: number): number => {
    const end = start + lengthAt(bytes, start, limit);
    let before: Leaf | undefined;
    let expected = parent.first;
    let at = start + 4;
    while (at < end - 1) {
      const type = bytes[at++];
      let leaf = expected;
      let keyEnd: number;
      if (leaf !== undefined && isAt(bytes, at, leaf.key)) {
        keyEnd = at + leaf.key.length;
      } else {
        keyEnd = bytes.indexOf(0, at) + 1;
        if (keyEnd === 0) throw unreadable;
        leaf = tree.child(parent, bytes.subarray(at, keyEnd));
        if (leaf !== undefined && leaf !== expected) tree.follow(parent, before, leaf);
      }
      at = keyEnd;
      const value = at;
      let bit: number;
      switch (type) {
        case 0x01:
          bit = kind.double;
          at += 8;
          break;
        case 0x02:
          bit = kind.string;
          at += 4 + lengthAt(bytes, at + 4, end, readInt32(bytes, at));
          break;
        case 0x08:
          bit = kind.bool;
          at += 1;
          break;
        case 0x0a:
          bit = kind.null;
          break;
        case 0x03:
          bit = kind.object;
          at += lengthAt(bytes, at, end);
          break;
        case 0x04:
          bit = kind.array;
          at += lengthAt(bytes, at, end);
          break;
        default:
          throw unreadable;
      }
      if (leaf === undefined) continue;
      // A repeated name has no single value.
      if (leaf.seenIn === tree.documents) throw unreadable;
      leaf.seenIn = tree.documents;
      enter(leaf, bit, value);
      if (bit === kind.object) walkObject(leaf, value, at);
      before = leaf;
      expected = leaf.next;
    }
    if (at !== end - 1 || bytes[at] !== 0) throw unreadable;
    return end;
  };

  return {
    entries,
    walk(source, start, end, number) {
      if (tree.unreadable) return;
      bytes = source;
      row = number;
      try {
        tree.documents++;
        if (walkObject(tree.root, start, end) !== end) throw unreadable;
      } catch (caught) {
        if (caught !== unreadable) throw caught;
        tree.unreadable = true;
        entries.count = 0;
      }
    },
  };
}

const unreadable: Error = new Error('not a document as struct-to-bson writes it');

/** Reads the length at `at`; it must fit before `limit`. */
function lengthAt(bytes: Uint8Array, at: number, limit: number, length = readInt32(bytes, at)): number {
  if (length < 1 || at + length > limit) throw unreadable;
  return length;
}

function isAt(bytes: Uint8Array, at: number, key: Uint8Array): boolean {
  for (let i = 0; i < key.length; i++) if (bytes[at + i] !== key[i]) return false;
  return true;
}

function grow(entries: Entries): void {
  entries.kind = twiceAsLong(entries.kind);
  entries.leaf = twiceAsLong(entries.leaf);
  entries.at = twiceAsLong(entries.at);
  entries.row = twiceAsLong(entries.row);
}
