/** Measures each second how much memory a process and all its descendants use, counting shared pages once. */
import { setTimeout as sleep } from 'node:timers/promises';
import { processTree, proportionalBytes } from '@platform/testkit';

export interface MemoryWatch extends AsyncDisposable {
  readonly peakBytes: number;
  /** The composition of the peak: bytes by command. */
  readonly peakByCommand: Readonly<Record<string, number>>;
}

export function watchMemory(pid: number, nameOf: (pid: number) => string): MemoryWatch {
  const over = new AbortController();
  let peakBytes = 0;
  let peakByCommand: Record<string, number> = {};
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const held = processTree(pid).map((member) => [nameOf(member), heldBytes(member)] as const);
      const sum = held.reduce((total, [, bytes]) => total + bytes, 0);
      if (sum > peakBytes) [peakBytes, peakByCommand] = [sum, Object.fromEntries(held)];
      await sleep(1_000, undefined, { signal: over.signal }).catch(() => {});
    }
  };
  const finished = watch();
  return {
    get peakBytes() {
      return peakBytes;
    },
    get peakByCommand() {
      return peakByCommand;
    },
    async [Symbol.asyncDispose]() {
      over.abort();
      await finished;
    },
  };
}

/** 0 for a process that has just ended. */
function heldBytes(pid: number): number {
  try {
    return proportionalBytes(pid);
  } catch {
    return 0;
  }
}
