/** Worker thread: checks lines one after another and posts each as it is done, so that its starter sees which one hangs. */

import { parentPort, workerData } from 'node:worker_threads';
import { checkCase } from './check-case.ts';
import type { CaseThreadData } from './check-lines.ts';

const { lines, selfTest } = workerData as CaseThreadData;
for (const line of lines) parentPort?.postMessage(await checkCase(line, selfTest));
