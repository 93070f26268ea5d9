/** Records which readings a test made and which were acknowledged, and compares them with those read back. */
import { createHash } from 'node:crypto';

/** A reading that can be recognised anywhere: its hash covers all other fields. */
export interface LedgerReading {
  readonly machine: string;
  readonly component: string;
  readonly seq: number;
  readonly hash: string;
}

/** A reading as it was read back, including its `hash`. */
export type LedgerRow = LedgerReading;

export interface LedgerReport {
  /** Acknowledged but missing. */
  readonly lost: readonly LedgerReading[];
  /** Present more than once. */
  readonly duplicated: readonly LedgerRow[];
  /** Present, but with a wrong hash. */
  readonly bad: readonly LedgerRow[];
  /** Present, but never made. */
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

  /** Records that the receiver has acknowledged them. */
  acknowledge(readings: Iterable<LedgerReading>): void {
    for (const reading of readings) this.#acknowledged.add(keyOf(reading));
  }

  /** Readings that were made but not acknowledged may be present at most once. */
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
