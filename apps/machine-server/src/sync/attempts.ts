/** When each failed file may be tried again (D15). Files that have never failed are not listed. */
import { backoffMs, type CodeName } from '@platform/base';

/** Problems of the connection or the credentials, not of the file. They end for all files at once, so the wait stays short. */
const ofEveryone: ReadonlySet<CodeName> = new Set([
  'unavailable',
  'unauthenticated',
  'permission_denied',
  'resource_exhausted',
  'deadline_exceeded',
  'canceled',
]);

const firstMs = 200;
const maxOfEveryoneMs = 30_000;
const maxOfFileMs = 3_600_000;
const maxListed = 100_000;

export class Attempts {
  readonly #byPath = new Map<string, { failures: number; at: number }>();
  readonly #random: () => number;

  constructor(random: () => number = Math.random) {
    this.#random = random;
  }

  /** Whether the file may be tried at `now` (monotonic ms). */
  due(path: string, now: number): boolean {
    return (this.#byPath.get(path)?.at ?? now) <= now;
  }

  /** Records a failure; returns the wait in ms, jittered. */
  failed(path: string, code: CodeName, now: number): number {
    const failures = (this.#byPath.get(path)?.failures ?? 0) + 1;
    const maxMs = ofEveryone.has(code) ? maxOfEveryoneMs : maxOfFileMs;
    const waitMs = backoffMs(failures, { firstMs, maxMs }, this.#random);
    if (this.#byPath.size < maxListed || this.#byPath.has(path)) this.#byPath.set(path, { failures, at: now + waitMs });
    return waitMs;
  }

  done(path: string): void {
    this.#byPath.delete(path);
  }
}
