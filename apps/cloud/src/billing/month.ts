/** Months and hours of UTC, by which usage is counted and billed. */
import { hourMs, invalidArgument } from '@platform/base';

export interface Month {
  /** YYYY-MM. */
  readonly name: string;
  readonly startMs: number;
  /** When the next month begins. */
  readonly endMs: number;
  readonly hours: bigint;
}

export function monthOf(ms: number): Month {
  const at = new Date(ms);
  return monthAt(at.getUTCFullYear(), at.getUTCMonth());
}

/** @throws invalid_argument */
export function monthNamed(name: string): Month {
  const [, year, month] = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(name) ?? [];
  if (year !== undefined && month !== undefined) return monthAt(Number(year), Number(month) - 1);
  throw invalidArgument(`month: expected YYYY-MM, found ${JSON.stringify(name.slice(0, 40))}`);
}

export function hourOf(ms: number): number {
  return Math.floor(ms / hourMs) * hourMs;
}

/** Start of the first whole hour after a time, or the time itself, if an hour begins then. */
export function nextHourOf(ms: number): number {
  return hourOf(ms - 1) + hourMs;
}

function monthAt(year: number, index: number): Month {
  const [startMs, endMs] = [Date.UTC(year, index), Date.UTC(year, index + 1)];
  const name = `${String(year).padStart(4, '0')}-${String(index + 1).padStart(2, '0')}`;
  return { name, startMs, endMs, hours: BigInt((endMs - startMs) / hourMs) };
}
