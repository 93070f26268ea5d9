/**
 * For a process that handles images: V8 counts their memory, and would collect a small heap every second. The heap may grow to 2.5 times its
 * live objects first; `trimWhenIdle` gives the memory back.
 */
import { setFlagsFromString } from 'node:v8';
import type { Clock } from '../async/clock.ts';

/** As long as until the compile cache is written first. A process has usually loaded the modules that it needs by then. */
const afterMs = 5_000;

/**
 * Not a flag of the start: V8 accepts compiled code only with the flag that it was compiled with, so it would compile all of Node's own
 * modules again, and ours could not share a compile cache with other processes (ADR-0033).
 */
export function letHeapGrow(clock: Clock): Disposable {
  const waiting = clock.every(afterMs, () => {
    waiting[Symbol.dispose]();
    setFlagsFromString('--heap-growing-percent=150');
  });
  return waiting;
}
