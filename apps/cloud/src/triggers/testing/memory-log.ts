/** The parts of an ingest log that followers use, in memory, for tests. */
import type { LogRow } from '../../ingest/log/log.ts';

export class MemoryLog {
  readonly rows: LogRow[] = [];
  /** Positions of rows that could not be read. */
  readonly damaged: number[] = [];
  readonly #listeners = new Set<(position: number) => void>();

  append(batch: Uint8Array, partId = 'part'): number {
    const position = this.rows.length + 1;
    this.rows.push({ position, partId, batch });
    for (const listener of this.#listeners) listener(position);
    return position;
  }

  async recordLoss(): Promise<void> {}

  async markDamaged(position: number): Promise<void> {
    this.damaged.push(position);
  }

  async follow(after: number, limit: { readonly rows: number; readonly bytes: number }): Promise<LogRow[]> {
    return this.rows.slice(after, after + limit.rows);
  }

  /** Like `follow`: no row is ever missing. */
  read(after: number, limit: { readonly rows: number; readonly bytes: number }): Promise<LogRow[]> {
    return this.follow(after, limit);
  }

  lastPosition(): number {
    return this.rows.length;
  }

  onCommit(listener: (position: number) => void): Disposable {
    this.#listeners.add(listener);
    return { [Symbol.dispose]: () => void this.#listeners.delete(listener) };
  }
}
