/** CPU priorities (`nice`, −20 to 19; lower runs first) of the process that acknowledges readings and of the one that answers queries. */
import { getPriority, setPriority } from 'node:os';

const acknowledging = -10;
const querying = 10;

/**
 * Raises the priority of the calling process, so that an acknowledgement does not wait for other programs. Call it before threads start,
 * because they inherit it. Changes nothing if someone chose another priority than the default, or if the system forbids it: without root,
 * CAP_SYS_NICE or RLIMIT_NICE.
 */
export function runForAcknowledgements(): void {
  if (getPriority() === 0) trySetPriority(acknowledging);
}

/** Lowers the priority of the calling process, so that queries and sealing use the CPU that acknowledgements leave, and a share of what they want. */
export function runForQueries(): void {
  trySetPriority(Math.max(getPriority(), querying));
}

function trySetPriority(priority: number): void {
  try {
    setPriority(priority);
  } catch {
    // Forbidden. Readings are acknowledged all the same, on a busy computer later.
  }
}
