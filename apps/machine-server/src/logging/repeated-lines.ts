/**
 * Holds back repeated lines. A line is noisy while it was logged more than 3 times within the past minute. It is then only counted, and a
 * minute after the first one held back, one line says how often it was repeated.
 *
 * States of a line (`same-line.ts` says which are the same): written → noisy, with a timer for its summary → written again once it is rare.
 */
import type { Clock, LogLine } from '@platform/base';
import { sameLineKey } from './same-line.ts';

const noisyAfter = 3;
const windowMs = 60_000;
/** How many different lines are remembered; beyond that, the one written first is forgotten. */
const maxLines = 1_000;

interface Repeated {
  /** Monotonic ms of the last ones logged, at most `noisyAfter`, oldest first. */
  readonly times: number[];
  /** The last one held back. */
  line: LogLine | undefined;
  heldBack: number;
  summary: Disposable | undefined;
}

export class RepeatedLines implements Disposable {
  readonly #clock: Clock;
  readonly #emit: (line: LogLine) => void;
  readonly #lines = new Map<string, Repeated>();

  /** @param emit gets the summaries. */
  constructor(clock: Clock, emit: (line: LogLine) => void) {
    this.#clock = clock;
    this.#emit = emit;
  }

  /** Whether the line is noisy; if so, counts it. */
  holdsBack(line: LogLine): boolean {
    const now = this.#clock.monotonic();
    const repeated = this.#of(sameLineKey(line));
    const { times } = repeated;
    const [first = Number.NEGATIVE_INFINITY] = times;
    const noisy = times.length === noisyAfter && now - first < windowMs;
    if (times.push(now) > noisyAfter) times.shift();
    if (!noisy) return false;
    repeated.line = line;
    repeated.heldBack++;
    repeated.summary ??= this.#clock.after(windowMs, () => this.#summarize(repeated));
    return true;
  }

  /** Writes the summaries that are still due. */
  [Symbol.dispose](): void {
    for (const repeated of this.#lines.values()) this.#summarize(repeated);
    this.#lines.clear();
  }

  #of(key: string): Repeated {
    const known = this.#lines.get(key);
    if (known !== undefined) return known;
    const [oldest] = this.#lines;
    if (oldest !== undefined && this.#lines.size >= maxLines) {
      this.#lines.delete(oldest[0]);
      this.#summarize(oldest[1]);
    }
    const repeated: Repeated = { times: [], line: undefined, heldBack: 0, summary: undefined };
    this.#lines.set(key, repeated);
    return repeated;
  }

  #summarize(repeated: Repeated): void {
    const { line, heldBack, summary } = repeated;
    summary?.[Symbol.dispose]();
    Object.assign(repeated, { line: undefined, heldBack: 0, summary: undefined });
    if (line === undefined) return;
    const times = heldBack === 1 ? 'once more' : `${heldBack} more times`;
    this.#emit({
      ...line,
      timeMs: this.#clock.now(),
      message: `repeated ${times} in the past minute: ${line.message}`,
    });
  }
}
