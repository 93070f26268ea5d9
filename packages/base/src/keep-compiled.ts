/**
 * Writes Node's compile cache while a process runs. Node does so when a process ends by itself: one that is killed would compile its
 * modules at every start, and strip their types by a compiler of 25 MB. Until it is written Node also keeps a copy of what it read.
 */
import { flushCompileCache } from 'node:module';
import type { Clock } from './clock.ts';

/** Modules that come later (the first query, the first merge) are written at the next turn; without new ones it does nothing. */
const turnMs = 5_000;

/** Until it is disposed. Does nothing where the compile cache is not on (NODE_COMPILE_CACHE). */
export function keepCompiled(clock: Clock): Disposable {
  return clock.every(turnMs, flushCompileCache);
}
