/** Cache of fragment revisions, which never change, with their decoded configurations; the least recently used ones are dropped. */
import type { Json, JsonObject } from '@platform/machine-config/schema';
import type { RevisionRow } from './source.ts';

export interface KnownRevision {
  readonly row: RevisionRow;
  readonly config: JsonObject;
}

/** Approximate memory of the values. */
const maxCachedBytes = 64 * 1024 * 1024;
const valueBytes = 16;
const containerBytes = 48;

export class RevisionCache {
  readonly #known = new Map<string, KnownRevision & { readonly bytes: number }>();
  readonly #maxBytes: number;
  #bytes = 0;

  constructor(maxBytes: number = maxCachedBytes) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get(key: string): KnownRevision | undefined {
    const found = this.#known.get(key);
    if (found === undefined) return undefined;
    this.#known.delete(key);
    this.#known.set(key, found);
    return found;
  }

  set(key: string, revision: KnownRevision): void {
    this.forget(key);
    const bytes = revision.row.config.length + memoryOf(revision.config);
    this.#known.set(key, { ...revision, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#known.keys()) {
      if (this.#bytes <= this.#maxBytes) return;
      this.forget(oldest);
    }
  }

  forget(key: string): void {
    this.#bytes -= this.#known.get(key)?.bytes ?? 0;
    this.#known.delete(key);
  }
}

/** Decoded, a text of many small values takes a multiple of its length. */
function memoryOf(value: Json): number {
  if (typeof value === 'string') return valueBytes + value.length;
  if (typeof value !== 'object' || value === null) return valueBytes;
  let bytes = containerBytes;
  for (const [key, inner] of Object.entries(value)) bytes += key.length + valueBytes + memoryOf(inner);
  return bytes;
}
