/** Tracks when each failed file may be tried again (D15). Files that have never failed are not listed. */
import { backoffMs, type CodeName } from '@platform/base';

/** Problems of the connection or the credentials, not of the file. They end for all files together, so the wait stays short. */
const ofEveryone: ReadonlySet<CodeName> = new Set([
  'unavailable',
  'unauthenticated',
  'resource_exhausted',
  'deadline_exceeded',
  'canceled',
  // Damaged on the way.
  'aborted',
]);

const firstMs = 200;
const maxOfEveryoneMs = 30_000;
const maxOfFileMs = 3_600_000;
const maxListed = 100_000;

export interface Failure {
  readonly failures: number;
  /** Monotonic ms from which it may be tried again. */
  readonly at: number;
  readonly code: CodeName;
  readonly message: string;
}

export class Attempts {
  readonly #byPath = new Map<string, Failure>();

  /** Whether the file may be tried at `now` (monotonic ms). */
  due(path: string, now: number): boolean {
    return (this.#byPath.get(path)?.at ?? now) <= now;
  }

  /** Records a failure; returns the wait in ms, jittered, and not shorter than the cloud requested. */
  failed(path: string, now: number, error: Pick<Failure, 'code' | 'message'>, askedMs = 0): number {
    const failures = (this.#byPath.get(path)?.failures ?? 0) + 1;
    const maxMs = ofEveryone.has(error.code) ? maxOfEveryoneMs : maxOfFileMs;
    const waitMs = Math.max(backoffMs(failures, { firstMs, maxMs }), askedMs);
    const { code, message } = error;
    if (this.#byPath.size < maxListed || this.#byPath.has(path))
      this.#byPath.set(path, { failures, at: now + waitMs, code, message });
    return waitMs;
  }

  /** The connection is back: files that waited for it may be tried now. */
  retry(now: number): void {
    for (const [path, failure] of this.#byPath)
      if (failure.at > now && failure.code === 'unavailable') this.#byPath.set(path, { ...failure, at: now });
  }

  done(path: string): void {
    this.#byPath.delete(path);
  }

  /** The failed files, by path. */
  get failures(): ReadonlyMap<string, Failure> {
    return this.#byPath;
  }

  /** When the first of the failed files may be tried again; undefined if none has failed. */
  earliest(): number | undefined {
    let first: number | undefined;
    for (const { at } of this.#byPath.values()) if (first === undefined || at < first) first = at;
    return first;
  }
}
