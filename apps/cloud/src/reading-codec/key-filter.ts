/** The keys of a document to read, matched by their bytes. */

/** Maps each key to the keys to read below it. */
export type Keys = ReadonlyMap<string, Keys | 'all'>;

export interface KeyEntry {
  readonly key: string;
  /** Undefined: all keys. */
  readonly below: KeyNode | undefined;
}

export interface KeyNode {
  /** Undefined: the key in bytes[start..end) is not wanted. */
  find(bytes: Uint8Array, start: number, end: number): KeyEntry | undefined;
}

export function compileKeys(keys: Keys): KeyNode {
  const entries = [...keys].map(([key, below]) => ({
    key,
    bytes: Buffer.from(key),
    below: below === 'all' ? undefined : compileKeys(below),
  }));
  return {
    find(bytes, start, end) {
      for (const entry of entries) {
        const own = entry.bytes;
        if (own.length !== end - start) continue;
        let same = 0;
        while (same < own.length && own[same] === bytes[start + same]) same++;
        if (same === own.length) return entry;
      }
      return undefined;
    },
  };
}
