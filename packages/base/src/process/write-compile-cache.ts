/**
 * Writes Node's compile cache while a process runs. Node itself writes it only when a process exits normally. A process that is killed
 * would compile its modules at every start, and strip their types with a compiler of 25 MB. Until the cache is written, Node also keeps a
 * copy of what it read.
 */
import { flushCompileCache } from 'node:module';
import type { Clock } from '../async/clock.ts';

/**
 * Modules that are loaded later (the first query, the first merge) are written at the next turn; a turn without new modules does nothing.
 */
const turnMs = 5_000;

/** Runs until it is disposed. Does nothing if the compile cache is off (NODE_COMPILE_CACHE). */
export function writeCompileCache(clock: Clock): Disposable {
  return clock.every(turnMs, flushCompileCache);
}
