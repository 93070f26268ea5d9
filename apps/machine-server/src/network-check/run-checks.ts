/** Runs checks one after the other and prints a line for each. */
import { type Clock, errorText, type PlatformError, unavailable } from '@platform/base';
import { withTimeout } from '../graph/with-timeout.ts';

export interface Check {
  readonly name: string;
  /** Why it is skipped here. */
  readonly skip?: string | undefined;
  /** The check that must succeed first. */
  readonly needs?: string;
  /** @returns the findings. @throws an error that says what is wrong, and what to do */
  readonly run: (signal: AbortSignal) => Promise<string>;
}

/** @returns whether no check failed. @param limitMs the longest time for each */
export async function runChecks(
  checks: readonly Check[],
  limitMs: number,
  clock: Clock,
  print: (line: string) => void,
): Promise<boolean> {
  const passed = new Set<string>();
  let failures = 0;
  const say = (outcome: string, name: string, ms: number | undefined, text: string): void => {
    const took = ms === undefined ? '' : `${Math.round(ms)} ms`;
    print(`${outcome.padEnd(8)}${name.padEnd(14)}${took.padStart(9)}  ${text.trim().replaceAll(/\s+/g, ' ')}\n`);
  };
  for (const { name, skip, needs, run } of checks) {
    const reason = skip ?? (needs !== undefined && !passed.has(needs) ? `needs ${needs}` : undefined);
    if (reason !== undefined) {
      say('skipped', name, undefined, reason);
      continue;
    }
    const startedMs = clock.monotonic();
    const stop = new AbortController();
    try {
      const found = await withTimeout(run(stop.signal), limitMs, `no answer within ${limitMs} ms`, clock);
      say('ok', name, clock.monotonic() - startedMs, found);
      passed.add(name);
    } catch (caught) {
      failures++;
      say('failed', name, clock.monotonic() - startedMs, errorText(caught));
    } finally {
      stop.abort();
    }
  }
  print(failures === 0 ? 'all checks passed\n' : `${failures} of ${checks.length} checks failed\n`);
  return failures === 0;
}

/** The error of a check: what was found, and what to do. */
export function trouble(what: string, remedy: string, cause?: unknown): PlatformError {
  return unavailable(`${what}: ${remedy}`, cause);
}
