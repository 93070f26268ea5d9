/** CPU priorities (`nice`, −20 to 19; lower runs first) of the process that acknowledges readings and of the one that answers queries. */
import { readdirSync } from 'node:fs';
import { getPriority, setPriority } from 'node:os';
import { setFlagsFromString } from 'node:v8';

const acknowledging = -10;
const querying = 10;

/**
 * Raises the priority of the calling thread and of those that it starts, so that an acknowledgement does not wait for other programs.
 * Threads that Node has already started, such as those that mark garbage, keep the default: at the same priority they would alternate with
 * this one. Other programs must not delay them either: beside busy programs, a scavenge of 1 ms took up to 30 ms.
 *
 * The priority does not change if someone chose another than the default, or if the system forbids it: without root, CAP_SYS_NICE or
 * RLIMIT_NICE.
 */
export function runForAcknowledgements(): void {
  if (getPriority() === 0) trySetPriority(0, acknowledging);
  for (const flag of ['--no-parallel-scavenge', '--no-parallel-compaction', '--no-parallel-pointer-update'])
    setFlagsFromString(flag);
}

/**
 * Lowers the priority of the calling process, so that queries and sealing use the CPU time that acknowledgements leave, and share it with
 * other programs.
 */
export function runForQueries(): void {
  const priority = Math.max(getPriority(), querying);
  for (const thread of threads()) trySetPriority(thread, priority);
}

/** @param thread 0: the calling one; on systems other than Linux, its process */
function trySetPriority(thread: number, priority: number): void {
  try {
    setPriority(thread, priority);
  } catch {
    // The thread has ended, or changing its priority is forbidden: readings are still acknowledged, but later on a busy computer.
  }
}

/**
 * The ids of the threads of this process. On Linux, each thread has its own priority, and those that Node started before this call would
 * keep the inherited one: that of acknowledgements.
 */
function threads(): readonly number[] {
  try {
    return readdirSync('/proc/self/task').map(Number);
  } catch {
    return [0];
  }
}
