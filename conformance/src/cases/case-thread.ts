/** Worker thread: checks lines one by one and posts each result, so that the main thread sees which one hangs. */

import { parentPort, workerData } from 'node:worker_threads';
import { checkCase } from './check-case.ts';
import type { CaseThreadData } from './check-lines.ts';

const { lines, selfTest } = workerData as CaseThreadData;
for (const line of lines) parentPort?.postMessage(await checkCase(line, selfTest));
