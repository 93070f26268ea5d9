/**
 * The thread that runs plans over batches. It keeps no state between runs and may be terminated at any moment; DuckDB is never loaded here.
 */
import { parentPort } from 'node:worker_threads';
import { decodePlan, executeSplit, type SourceBatch, splitPlan } from '@platform/query';
import { failureOf } from './query-failure.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

/** Batches requested ahead, so that the scan continues while the executor works. */
const aheadBatches = 2;

interface Run {
  readonly number: number;
  readonly cancel: AbortController;
  readonly arrived: (SourceBatch | null)[];
  wake: () => void;
}

function start(): void {
  const port = parentPort;
  if (!port) throw new Error('worker-thread.ts is a thread; start it through createWorkerPool');
  const say = (message: FromWorker, move: ArrayBuffer[] = []): void => port.postMessage(message, move);
  let current: Run | null = null;

  async function* input(run: Run): AsyncGenerator<SourceBatch> {
    for (let i = 0; i < aheadBatches; i++) say({ kind: 'more', run: run.number });
    for (;;) {
      const batch = run.arrived.shift();
      if (batch === null || run.cancel.signal.aborted) return;
      if (batch === undefined) {
        await new Promise<void>((resolve) => {
          run.wake = resolve;
        });
        continue;
      }
      say({ kind: 'more', run: run.number });
      yield batch;
    }
  }

  const answer = async (run: Run, plan: Uint8Array): Promise<void> => {
    const { signal } = run.cancel;
    try {
      const { pre, post } = splitPlan(decodePlan(plan));
      for await (const batch of executeSplit(pre, post, input(run), { signal })) {
        if (batch.count === 0) continue;
        const { count } = batch;
        const bytes = new Uint8Array(batch.bytes);
        const ends = new Uint32Array(batch.ends);
        say({ kind: 'rows', run: run.number, batch: { count, bytes, ends } }, [bytes.buffer, ends.buffer]);
      }
      signal.throwIfAborted();
      say({ kind: 'done', run: run.number });
    } catch (caught) {
      say({ kind: 'failed', run: run.number, ...failureOf(caught) });
    }
  };

  port.on('message', (message: ToWorker) => {
    if (message.kind === 'run') {
      current = { number: message.run, cancel: new AbortController(), arrived: [], wake: () => {} };
      void answer(current, message.plan);
      return;
    }
    if (current?.number !== message.run) return;
    if (message.kind === 'cancel') current.cancel.abort();
    else current.arrived.push(message.input);
    current.wake();
  });
}

start();
