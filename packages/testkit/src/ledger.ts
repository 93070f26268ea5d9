/** Keeps the books of a test: which readings were made and acknowledged, and what came out at the other end. */
import { createHash } from 'node:crypto';

/** A reading that can be recognised anywhere: its hash covers all the rest. */
export interface LedgerReading {
  readonly machine: string;
  readonly component: string;
  readonly seq: number;
  readonly hash: string;
}

/** What was read back; `hash` as it came. */
export type LedgerRow = LedgerReading;

export interface LedgerReport {
  /** Acknowledged and not there. */
  readonly lost: readonly LedgerReading[];
  /** There more than once. */
  readonly duplicated: readonly LedgerRow[];
  /** There, but with a hash that does not fit. */
  readonly bad: readonly LedgerRow[];
  /** There, but never made. */
  readonly phantom: readonly LedgerRow[];
  readonly acknowledged: number;
  readonly found: number;
}

export class Ledger {
  /** Distinguishes this ledger's readings from those of an earlier run over the same store. */
  readonly #run: string;
  readonly #made = new Map<string, LedgerReading>();
  readonly #acknowledged = new Set<string>();
  readonly #lastSeq = new Map<string, number>();

  constructor(run = '') {
    this.#run = run;
  }

  /** The next reading of a component, counted from 1. */
  next(machine: string, component: string): LedgerReading {
    const series = `${machine}\0${component}`;
    const seq = (this.#lastSeq.get(series) ?? 0) + 1;
    this.#lastSeq.set(series, seq);
    const reading = { machine, component, seq, hash: hashOf(this.#run, machine, component, seq) };
    this.#made.set(keyOf(reading), reading);
    return reading;
  }

  /** The far end has said that it has them. */
  acknowledge(readings: Iterable<LedgerReading>): void {
    for (const reading of readings) this.#acknowledged.add(keyOf(reading));
  }

  /** Readings that were made but not acknowledged may be there or not, once. */
  check(rows: Iterable<LedgerRow>): LedgerReport {
    const seen = new Set<string>();
    const duplicated: LedgerRow[] = [];
    const bad: LedgerRow[] = [];
    const phantom: LedgerRow[] = [];
    let found = 0;
    for (const row of rows) {
      found++;
      const key = keyOf(row);
      const made = this.#made.get(key);
      if (!made) phantom.push(row);
      else if (made.hash !== row.hash) bad.push(row);
      else if (seen.has(key)) duplicated.push(row);
      else seen.add(key);
    }
    const lost = [...this.#acknowledged]
      .filter((key) => !seen.has(key))
      .map((key) => this.#made.get(key) as LedgerReading);
    return { lost, duplicated, bad, phantom, acknowledged: this.#acknowledged.size, found };
  }
}

function keyOf({ machine, component, seq }: LedgerReading): string {
  return `${machine}\0${component}\0${seq}`;
}

function hashOf(run: string, machine: string, component: string, seq: number): string {
  return createHash('sha256').update(`${run}\0${machine}\0${component}\0${seq}`).digest('hex').slice(0, 32);
}
