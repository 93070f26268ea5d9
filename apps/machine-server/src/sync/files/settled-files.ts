/** Decides whether a file has been unmodified for long enough to be sent, even when the clock or the file's time is wrong. */
import type { Clock } from '@platform/base';
import { fingerprintOf, fingerprintText } from './fingerprint.ts';
import type { ListedFile } from './list-files.ts';

const maxWatched = 10_000;

export class SettledFiles {
  readonly #clock: Clock;
  /** Files whose time is in the future: since when (monotonic ms) they have been unchanged. */
  readonly #watched = new Map<string, { readonly text: string; readonly since: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** @param forMs `file_last_modified_millis` */
  isSettled({ path, stats }: ListedFile, forMs: number): boolean {
    const ageMs = this.#clock.now() - Number(stats.mtimeMs);
    if (ageMs >= forMs) {
      this.#watched.delete(path);
      return true;
    }
    if (ageMs >= 0) return false;
    const [now, text] = [this.#clock.monotonic(), fingerprintText(fingerprintOf(stats))];
    const seen = this.#watched.get(path);
    if (seen?.text === text) return now - seen.since >= forMs;
    if (this.#watched.size >= maxWatched) this.#watched.clear();
    this.#watched.set(path, { text, since: now });
    return forMs === 0;
  }
}
