/**
 * Recognises lines that a machine sends again because the answer was lost. Machines number their lines; the last number of each part is
 * kept in memory, and numbered calls of a part are stored one after another. After a restart of the cloud, one repeated call is not
 * recognised.
 */

/** Header `platform-log-position`: the machine's stream of lines, and the number of the first line of the call. */
export interface SentPosition {
  readonly stream: string;
  readonly first: number;
}

/** Maximum number of parts remembered; beyond it, the one that sent lines least recently is forgotten. */
const maxParts = 20_000;

/** Undefined: the machine does not number its lines. */
export function sentPositionOf(header: string | null): SentPosition | undefined {
  const [, stream, first] = /^([\w-]{1,64}) (\d{1,16})$/.exec(header ?? '') ?? [];
  return stream === undefined ? undefined : { stream, first: Number(first) };
}

export class SentPositions {
  readonly #parts = new Map<string, { readonly stream: string; readonly last: number }>();
  readonly #running = new Map<string, Promise<unknown>>();

  /** Stores those entries that were not stored before. @param store rejects if nothing was stored */
  async once<T>(
    partId: string,
    position: SentPosition | undefined,
    entries: readonly T[],
    store: (entries: readonly T[]) => Promise<void>,
  ): Promise<void> {
    if (position === undefined) return store(entries);
    const before = this.#running.get(partId) ?? Promise.resolve();
    const done = before.then(() => this.#store(partId, position, entries, store));
    const settled = done.catch(() => {});
    this.#running.set(partId, settled);
    try {
      await done;
    } finally {
      if (this.#running.get(partId) === settled) this.#running.delete(partId);
    }
  }

  async #store<T>(
    partId: string,
    { stream, first }: SentPosition,
    entries: readonly T[],
    store: (entries: readonly T[]) => Promise<void>,
  ): Promise<void> {
    const known = this.#parts.get(partId);
    const last = known?.stream === stream ? known.last : -1;
    const fresh = entries.slice(Math.max(0, last + 1 - first));
    if (fresh.length > 0) await store(fresh);
    this.#parts.delete(partId);
    this.#parts.set(partId, { stream, last: Math.max(last, first + entries.length - 1) });
    const [oldest] = this.#parts.keys();
    if (this.#parts.size > maxParts && oldest !== undefined) this.#parts.delete(oldest);
  }
}
