/** Compares produced readings with stored ones and reported gaps: produced = stored + reported as missing, for each component. */
import type { LedgerReading } from './ledger.ts';

export interface Produced extends LedgerReading {
  readonly atMs: number;
}

/** A report that readings of a component are missing. */
export interface ReportedGap {
  readonly component: string;
  readonly reason: string;
  readonly startMs: number;
  readonly endMs: number;
  readonly readings: number;
  /** Whether `readings` is an upper bound instead of the exact number. */
  readonly isBound: boolean;
}

export interface Account {
  /** Produced, not stored, and in no gap that has room for it. */
  readonly unexplained: readonly Produced[];
  /** Gaps of exact reasons that report more than is missing, with the surplus. */
  readonly overstated: readonly (ReportedGap & { readonly surplus: number })[];
  /** The longest time from the first to the last reading that one bounded gap accounts for. */
  readonly longestMs: number;
  /** Missing readings by the reason that accounts for them. */
  readonly byReason: Readonly<Record<string, number>>;
}

export interface AccountOptions {
  readonly produced: readonly Produced[];
  readonly stored: Iterable<LedgerReading>;
  /** Only gaps with reasons for which a produced reading is missing. */
  readonly gaps: readonly ReportedGap[];
  /** The maximum time from the production of a reading to its time in reported gaps. */
  readonly slackMs: number;
}

export function accountFor({ produced, stored, gaps, slackMs }: AccountOptions): Account {
  const kept = new Set([...stored].map(keyOf));
  const missing = produced.filter((reading) => !kept.has(keyOf(reading)));
  const unexplained: Produced[] = [];
  const taken = new Map<ReportedGap, Produced[]>();
  // Earliest end first: a reading never takes the room of a gap that a later one needs.
  const byEnd = gaps.toSorted((a, b) => a.endMs - b.endMs);
  for (const reading of missing.toSorted((a, b) => a.atMs - b.atMs)) {
    const gap = byEnd.find((each) => fits(each, reading, slackMs) && (taken.get(each)?.length ?? 0) < each.readings);
    if (gap === undefined) unexplained.push(reading);
    else taken.set(gap, [...(taken.get(gap) ?? []), reading]);
  }
  const byReason: Record<string, number> = {};
  let longestMs = 0;
  for (const [{ reason, isBound }, readings] of taken) {
    byReason[reason] = (byReason[reason] ?? 0) + readings.length;
    if (isBound) longestMs = Math.max(longestMs, (readings.at(-1)?.atMs ?? 0) - (readings[0]?.atMs ?? 0));
  }
  const overstated = gaps.flatMap((gap) => {
    const surplus = gap.readings - (taken.get(gap)?.length ?? 0);
    return gap.isBound || surplus === 0 ? [] : [{ ...gap, surplus }];
  });
  return { unexplained, overstated, longestMs, byReason };
}

function fits(gap: ReportedGap, reading: Produced, slackMs: number): boolean {
  return (
    gap.component === reading.component && reading.atMs >= gap.startMs - slackMs && reading.atMs <= gap.endMs + slackMs
  );
}

function keyOf({ machine, component, seq }: LedgerReading): string {
  return `${machine}\0${component}\0${seq}`;
}
