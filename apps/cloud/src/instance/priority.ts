/** CPU priorities (`nice`, −20 to 19; lower runs first) of the process that acknowledges readings and of the one that answers queries. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

const acknowledging = -10;
const querying = 10;

/**
 * Raises the priority of the calling thread and of those that it starts, so that an acknowledgement does not wait for other programs. The
 * threads that Node has started already, which mark garbage meanwhile, keep the default: at the same priority they would take turns with
 * this one. Nor does it wait for them: beside busy programs, a scavenge of 1 ms took up to 30 ms.
 *
 * The priority stays as it is if someone chose another than the default, or if the system forbids it: without root, CAP_SYS_NICE or
 * RLIMIT_NICE.
 */
export function runForAcknowledgements(): void {
  if (getPriority() === 0) trySetPriority(0, acknowledging);
  for (const flag of ['--no-parallel-scavenge', '--no-parallel-compaction', '--no-parallel-pointer-update'])
    setFlagsFromString(flag);
}

/** Lowers the priority of the calling process, so that queries and sealing use the CPU that acknowledgements leave, and a share of what they want. */
export function runForQueries(): void {
  const priority = Math.max(getPriority(), querying);
  for (const thread of threads()) trySetPriority(thread, priority);
}

/** @param thread 0: the calling one; elsewhere than on Linux, its process */
function trySetPriority(thread: number, priority: number): void {
  try {
    setPriority(thread, priority);
  } catch {
    // The thread has ended, or it is forbidden: readings are acknowledged all the same, on a busy computer later.
  }
}

/**
 * The ids of the threads of this process. On Linux, a priority is that of one thread, and those that Node has started before this call
 * would keep the one that they inherited: that of acknowledgements.
 */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}
