/** Waits until a part runs its saved configuration. */
import { type Cloud, systemClock } from '@platform/sdk/cloud';

/** `restarted` is the one of a local machine-server. docs/specs/states.md says what makes each true. */
export const reloadStates = ['applied', 'waiting', 'restarted'] as const;

export interface Applied {
  /** `waiting`: the part is offline, or postpones the change. */
  readonly state: (typeof reloadStates)[number];
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
