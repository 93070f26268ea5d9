import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `ms`; false as soon as the signal is aborted. The one place of the command line that waits. */
export async function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal }).catch(() => false);
}
