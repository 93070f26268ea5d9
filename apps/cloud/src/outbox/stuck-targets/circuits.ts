/**
 * Circuit breakers, one for each target: a target that fails repeatedly gets single attempts at growing intervals instead of all waiting
 * messages, so that it occupies few slots and wastes little work.
 *
 * closed → (five failures in a row) open for 10 s → trying: one message at a time → closed after a success, or open for twice as long, up
 * to five minutes. While a circuit is open, messages wait and use up no attempts. The state is not stored: after a restart all circuits are
 * closed.
 */

const failuresToOpen = 5;
const firstOpenMs = 10_000;
const longestOpenMs = 300_000;
/** Beyond this number, the target that began to fail first is forgotten. */
const maxTargets = 10_000;

interface Failing {
  /** Failures in a row. */
  failures: number;
  openUntilMs: number;
}

export class Circuits {
  readonly #failing = new Map<string, Failing>();
  readonly #now: () => number;

  /** @param now wall clock, ms */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Targets that get nothing now. */
  open(): string[] {
    return [...this.#failing.keys()].filter((target) => this.isOpen(target));
  }

  isOpen(target: string): boolean {
    const waitMs = (this.#failing.get(target)?.openUntilMs ?? 0) - this.#now();
    // Setting the clock back must not keep it open.
    return waitMs > 0 && waitMs <= longestOpenMs;
  }

  /** When the target gets something again, ms; undefined: it is not failing. */
  waitsUntilMs(target: string): number | undefined {
    const one = this.#failing.get(target);
    if (one === undefined || one.failures < failuresToOpen) return undefined;
    return this.isOpen(target) ? one.openUntilMs : this.#now();
  }

  /** How many messages the target gets at a time: `most`, or one as a trial. */
  placesOf(target: string, most: number): number {
    return (this.#failing.get(target)?.failures ?? 0) >= failuresToOpen ? 1 : most;
  }

  succeeded(target: string): void {
    this.#failing.delete(target);
  }

  /** Records a failure that may be temporary. */
  failed(target: string): void {
    const one = this.#failing.get(target) ?? { failures: 0, openUntilMs: 0 };
    // Messages sent before the circuit opened give no new information.
    if (this.isOpen(target)) return;
    one.failures++;
    if (one.failures >= failuresToOpen) {
      const doublings = Math.min(one.failures - failuresToOpen, 10);
      one.openUntilMs = this.#now() + Math.min(firstOpenMs * 2 ** doublings, longestOpenMs);
    }
    this.#failing.set(target, one);
    if (this.#failing.size <= maxTargets) return;
    for (const oldest of this.#failing.keys()) {
      this.#failing.delete(oldest);
      break;
    }
  }
}
