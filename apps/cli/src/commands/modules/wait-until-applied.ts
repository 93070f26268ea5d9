/** Waits until a part runs its saved configuration. */
import { type Cloud, systemClock } from '@platform/sdk/cloud';

export interface Applied {
  /** `waiting`: the part is offline, or postpones the change. */
  readonly state: 'applied' | 'waiting';
  /** Errors that the part reports about its configuration; empty if there are none. */
  readonly error: string;
}

const askEveryMs = 500;

/** @param limitMs longest wait */
export async function waitUntilApplied(
  fleet: Cloud['fleet'],
  partId: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<Applied> {
  const startMs = systemClock.monotonic();
  for (;;) {
    const { saved, applied, lastError } = await fleet.getPartStatus({ partId });
    if (applied !== undefined && applied.revision === saved?.revision) return { state: 'applied', error: lastError };
    if (systemClock.monotonic() - startMs >= limitMs) return { state: 'waiting', error: '' };
    await systemClock.sleep(askEveryMs, signal);
  }
}
