/** How much a part may still log: an allowance that refills every minute, and one per UTC day. Pure except for its memory. */
import {
  bytesPerDay,
  bytesPerMinute,
  linesPerMinute,
  ownLinesPerMinute,
  reservedShare,
  summaryEveryMs,
} from './limits.ts';

export interface Allowance {
  readonly linesPerMinute: number;
  readonly bytesPerMinute: number;
  readonly bytesPerDay: number;
}

export const machineAllowance: Allowance = { linesPerMinute, bytesPerMinute, bytesPerDay };
export const ownAllowance: Allowance = { linesPerMinute: ownLinesPerMinute, bytesPerMinute, bytesPerDay };

export interface LeftOut {
  readonly lines: number;
  readonly bytes: number;
  /** The allowance that ran out last. */
  readonly allowance: 'minute' | 'day';
  /** The part's allowance at that time. */
  readonly allowed: Allowance;
}

const severeLevels: ReadonlySet<string> = new Set(['warn', 'error', 'dpanic', 'panic', 'fatal', 'critical']);

/** The allowance of one part. Times are monotonic ms; days count from 1970. */
export class LogQuota {
  readonly #allowanceOf: () => Allowance;
  #lines: number;
  #bytes: number;
  #refilledMs: number;
  #day: number;
  #dayBytes: number;
  #leftOut = { lines: 0, bytes: 0, allowance: 'minute' as LeftOut['allowance'] };
  #toldMs = Number.NEGATIVE_INFINITY;

  /**
   * @param allowanceOf read for each line: a changed limit applies from the next one on.
   * @param dayBytes already stored on `day`.
   */
  constructor(allowanceOf: () => Allowance, nowMs: number, day: number, dayBytes: number) {
    this.#allowanceOf = allowanceOf;
    const allowance = allowanceOf();
    this.#lines = allowance.linesPerMinute;
    this.#bytes = allowance.bytesPerMinute;
    this.#refilledMs = nowMs;
    this.#day = day;
    this.#dayBytes = dayBytes;
  }

  /** Whether a line may be stored; if not, it is counted as dropped. */
  admits(level: string, bytes: number, nowMs: number, day: number): boolean {
    this.#refill(nowMs, day);
    const reserved = severeLevels.has(level) ? 0 : reservedShare;
    const { linesPerMinute: lines, bytesPerMinute: perMinute, bytesPerDay: perDay } = this.#allowanceOf();
    const minute = this.#lines - 1 >= lines * reserved && this.#bytes - bytes >= perMinute * reserved;
    const inDay = this.#dayBytes + bytes <= perDay * (1 - reserved);
    if (minute && inDay) {
      this.#lines -= 1;
      this.#bytes -= bytes;
      this.#dayBytes += bytes;
      return true;
    }
    this.#leftOut.lines += 1;
    this.#leftOut.bytes += bytes;
    this.#leftOut.allowance = inDay ? 'minute' : 'day';
    return false;
  }

  /** Lines dropped since the last report, if it is time for another one. */
  takeLeftOut(nowMs: number): LeftOut | undefined {
    if (this.#leftOut.lines === 0 || nowMs - this.#toldMs < summaryEveryMs) return undefined;
    const told = { ...this.#leftOut, allowed: this.#allowanceOf() };
    this.#leftOut = { lines: 0, bytes: 0, allowance: 'minute' };
    this.#toldMs = nowMs;
    return told;
  }

  /** Nothing remains to be reported and the minute's allowance is full: the quota may be discarded and loaded again. */
  isIdle(nowMs: number): boolean {
    return this.#leftOut.lines === 0 && nowMs - this.#refilledMs >= 60_000;
  }

  #refill(nowMs: number, day: number): void {
    const minutes = Math.max(0, nowMs - this.#refilledMs) / 60_000;
    const { linesPerMinute: lines, bytesPerMinute: bytes } = this.#allowanceOf();
    this.#lines = Math.min(lines, this.#lines + lines * minutes);
    this.#bytes = Math.min(bytes, this.#bytes + bytes * minutes);
    this.#refilledMs = nowMs;
    if (day !== this.#day) {
      this.#day = day;
      this.#dayBytes = 0;
    }
  }
}
