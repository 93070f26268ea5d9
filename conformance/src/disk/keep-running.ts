import type { ExitStatus } from '@platform/testkit';
import { pauseMs } from '../crash/cloud-under-load.ts';

export interface KeptProcess {
  /** Resolves when the process of the latest start ends. */
  readonly exited: () => Promise<ExitStatus | undefined>;
  readonly start: () => Promise<unknown>;
  readonly isOver: () => boolean;
  readonly ended: (exit: ExitStatus | undefined) => void;
}

/** Starts a process again whenever it ends, as `platform up` and a service manager do. */
export async function keepRunning({ exited, start, isOver, ended }: KeptProcess): Promise<void> {
  while (!isOver()) {
    const exit = await Promise.race([exited(), pauseMs(100).then(() => 'running' as const)]);
    if (exit === 'running' || isOver()) continue;
    ended(exit);
    await start().catch(() => pauseMs(300));
  }
}
