/**
 * Ends of this cloud by its watchdog, and the callers that are refused because of them: those whose call held the loop at three ends
 * within a day, for an hour after the last.
 *
 * They are in the file `watchdog.ndjson` of the data directory, one line for each end; the watchdog's thread appends, and a start drops
 * lines that are older than a day. Deleting the file and restarting the cloud ends every refusal.
 */
import { readFileSync } from 'node:fs';
import { PlatformError } from '@platform/base';
import type { StuckCall, StuckEnd } from '@platform/base/watchdog';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';

export const endsFileName = 'watchdog.ndjson';

const keptMs = 24 * 3_600_000;
const refusedMs = 3_600_000;
const endsUntilRefusal = 3;

export interface Refusal {
  readonly caller: string;
  readonly untilMs: number;
  readonly ends: number;
  /** The calls that held the loop. */
  readonly methods: readonly string[];
}

/** Returns the refusals by caller. */
export function readRefusals(file: string, nowMs: number): ReadonlyMap<string, Refusal> {
  const text = readText(file);
  const ends = text.split('\n').flatMap(parsed);
  // A time in the future comes from a clock that has been set back since.
  const recent = ends.filter(({ atMs }) => atMs <= nowMs && nowMs - atMs < keptMs);
  const kept = recent.map((end) => `${JSON.stringify(end)}\n`).join('');
  if (kept !== text) writeFileAtomic(file, kept);
  const refusals = new Map<string, Refusal>();
  for (const [caller, calls] of Map.groupBy(recent.filter(hasCall), ({ call }) => call.caller)) {
    const untilMs = Math.max(...calls.map(({ atMs }) => atMs)) + refusedMs;
    if (calls.length < endsUntilRefusal || untilMs <= nowMs) continue;
    const methods = [...new Set(calls.map(({ call }) => call.method))];
    refusals.set(caller, { caller, untilMs, ends: calls.length, methods });
  }
  return refusals;
}

/**
 * Callers without credentials are known only by their address, behind which there may be many people: for them, only the calls that held
 * the loop are refused.
 *
 * @throws resource_exhausted with the reason and the time until which the caller is refused
 */
export function requireAllowed(refusals: ReadonlyMap<string, Refusal>, call: StuckCall, nowMs: number): void {
  const refusal = refusals.get(call.caller);
  if (refusal === undefined || refusal.untilMs <= nowMs) return;
  if (call.caller.startsWith('address:') && !refusal.methods.includes(call.method)) return;
  throw new PlatformError('resource_exhausted', refusalText(refusal), undefined, {
    retryAfterMs: refusal.untilMs - nowMs,
  });
}

export function refusalText({ caller, untilMs, ends, methods }: Refusal): string {
  return `calls of ${caller.replace(':', ' ')} are refused until ${new Date(untilMs).toISOString()}: the cloud was stuck in a call of this caller ${ends} times within a day and had to be restarted (${methods.join(', ')}); the log of the cloud shows where`;
}

function hasCall(end: StuckEnd): end is StuckEnd & { readonly call: StuckCall } {
  return end.call !== undefined;
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw caught;
  }
}

/** A line that a full disk cut off is dropped. */
function parsed(line: string): StuckEnd[] {
  try {
    const { atMs, call } = JSON.parse(line) as Partial<StuckEnd>;
    if (typeof atMs !== 'number') return [];
    const isCall = typeof call?.method === 'string' && typeof call.caller === 'string';
    return [{ atMs, ...(isCall && { call: { method: call.method, caller: call.caller } }) }];
  } catch {
    return [];
  }
}
