/** Checks the lines of a file in a thread that is replaced if a case hangs or crashes it, so that every case ends. */

import { Worker } from 'node:worker_threads';
import { readCase } from './case.ts';
import type { CheckedCase } from './check-case.ts';
import { kindOf } from './compare-outcome.ts';
import { operatorLabels, stageLabels } from './label.ts';

/** Input of a thread. */
export interface CaseThreadData {
  readonly lines: readonly string[];
  readonly selfTest: boolean;
}

export interface CheckLinesOptions {
  readonly selfTest: boolean;
  /** A case without a result for this long is stopped. The executor's own deadline comes first. Default 15 s. */
  readonly silenceMs?: number;
}

const threadHeapMb = 2048;

/** In the order of the lines. */
export async function* checkLines(lines: readonly string[], options: CheckLinesOptions): AsyncGenerator<CheckedCase> {
  let done = 0;
  while (done < lines.length) {
    let ended: string | undefined;
    for await (const checked of oneThread(lines.slice(done), options)) {
      if (typeof checked === 'string') {
        ended = checked;
        break;
      }
      done++;
      yield checked;
    }
    if (ended === undefined) continue;
    yield endedCase(lines[done]!, ended);
    done++;
  }
}

/** The cases that a thread completes, and finally, as a text, why it ended early. */
async function* oneThread(
  lines: readonly string[],
  { selfTest, silenceMs = 15_000 }: CheckLinesOptions,
): AsyncGenerator<CheckedCase | string> {
  const workerData: CaseThreadData = { lines, selfTest };
  const resourceLimits = { maxOldGenerationSizeMb: threadHeapMb };
  const worker = new Worker(new URL('./case-thread.ts', import.meta.url), { workerData, resourceLimits });
  const queue: (CheckedCase | string)[] = [];
  let wake = (): void => {};
  const put = (each: CheckedCase | string): void => {
    queue.push(each);
    wake();
  };
  worker.on('message', put);
  worker.on('error', (error: Error) => put(`it brought its thread down: ${error.message}`));
  try {
    for (let left = lines.length; left > 0; left--) {
      if (queue.length === 0) {
        const { promise, resolve } = Promise.withResolvers<void>();
        wake = resolve;
        const timer = setTimeout(() => put(`it was ended after ${silenceMs} ms`), silenceMs);
        await promise;
        clearTimeout(timer);
      }
      yield queue.shift()!;
    }
  } finally {
    await worker.terminate();
  }
}

function endedCase(line: string, why: string): CheckedCase {
  const given = readCase(line);
  const { name, msg, source, group } = given;
  return {
    ...{ name, msg, source, group },
    stages: stageLabels(given),
    operators: operatorLabels(given),
    kind: kindOf(given),
    verdict: 'failed',
    details: { docs: '', query: line, expected: 'an end', actual: why },
    actualJson: `"broken":${JSON.stringify(why)}`,
    alterations: [],
  };
}
