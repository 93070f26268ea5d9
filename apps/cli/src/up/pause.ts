import { setTimeout as sleep } from 'node:timers/promises';

/** Waits `ms`; false as soon as the signal is aborted. The only timer of `platform up`. */
export async function pause(ms: number, signal?: AbortSignal): Promise<boolean> {
  return sleep(ms, true, { signal }).catch(() => false);
}
