/** Flags that the cloud gets from `platform up`, in addition to those of the command line (ADR-0033). */
import { availableParallelism } from 'node:os';

/**
 * Calls of a fleet should end before the young generation is full. A smaller young generation promoted their objects, which made a heap of
 * 650 MB whose collection paused 10,000 machines for more than a second. It may grow only once the cloud is ready: otherwise loading
 * modules would enlarge it for good.
 */
const youngGeneration = '--max-semi-space-size=8';

/** Node's usual four helper threads of V8, but no more than there are processors beside that of the main thread. */
const helperThreads = Math.min(4, Math.max(1, availableParallelism() - 1));

export const cloudFlags: readonly string[] = [youngGeneration, `--v8-pool-size=${helperThreads}`];
