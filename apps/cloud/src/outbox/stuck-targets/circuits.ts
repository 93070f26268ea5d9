/**
 * Circuit breakers, one for each target: a target that fails again and again gets single attempts at growing intervals instead of all that
 * waits for it, so that it holds few places and little work is in vain.
 *
 * closed → (five failures in a row) open for 10 s → trying: one message at a time → closed after a success, or open for twice as long, up
 * to five minutes. An open circuit makes messages wait and uses up no attempts. It is not stored: after a restart all are closed.
 */

const failuresToOpen = 5;
const firstOpenMs = 10_000;
const longestOpenMs = 300_000;
/** Beyond this, the target that began to fail first is forgotten. */
const maxTargets = 10_000;

interface Failing {
  /** In a row. */
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
    // A clock that was set back must not keep it open.
    return waitMs > 0 && waitMs <= longestOpenMs;
  }

  /** How many messages it gets at a time: `most`, or one to try it. */
  placesOf(target: string, most: number): number {
    return (this.#failing.get(target)?.failures ?? 0) >= failuresToOpen ? 1 : most;
  }

  succeeded(target: string): void {
    this.#failing.delete(target);
  }

  /** It may work later. */
  failed(target: string): void {
    const one = this.#failing.get(target) ?? { failures: 0, openUntilMs: 0 };
    // What was sent before it opened says nothing new.
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
