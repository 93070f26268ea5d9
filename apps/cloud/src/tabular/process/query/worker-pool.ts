/**
 * Threads that run plans. A query that exceeds its time or memory ends only its own thread, not the process or other queries.
 *
 * States of a thread: none → (requested) running → idle → running … → gone. A thread is terminated after `idleMs` without a query, when a
 * cancelled run does not return within `graceMs`, or by V8 when its heap is full. The next query starts another one.
 */
import { addAbortListener } from 'node:events';
import { Worker } from 'node:worker_threads';
import { type Clock, errorText, PlatformError, siblingEntry, unavailable } from '@platform/base';
import type { Batch, SourceBatch } from '@platform/query';
import { errorOf, outOfMemory } from './query-failure.ts';
import { startWatchdog } from './watchdog.ts';
import type { FromWorker, ToWorker } from './worker-protocol.ts';

export interface WorkerPoolOptions {
  /** Maximum number of threads; more queries wait. */
  readonly threads: number;
  /** Heap of one thread. */
  readonly memoryBytes: number;
  readonly clock: Clock;
}

export interface WorkerPool {
  /** Runs a plan (as encodePlan writes it) over the input. Throws PlatformError, or the signal's reason when it is aborted. */
  run(plan: Uint8Array, input: AsyncIterator<SourceBatch>, signal: AbortSignal): AsyncGenerator<Batch>;
}

/**
 * Young generation of a thread: three times 8 MB. If the process has its own limit (--max-semi-space-size, set by `platform up`), that
 * limit applies instead; it is the same (ADR-0033).
 */
const youngMegabytes = 24;

/** An idle thread holds about 15 MB. */
const idleMs = 10_000;
const graceMs = 200;

interface Thread {
  readonly worker: Worker;
  /** Messages not yet read; an error once the thread is gone. */
  readonly said: (FromWorker | PlatformError)[];
  wake: () => void;
  gone: boolean;
  idleSince: number;
}

export function createWorkerPool({ threads, memoryBytes, clock }: WorkerPoolOptions): WorkerPool {
  const idle: Thread[] = [];
  const waiting: (() => void)[] = [];
  let used = 0;
  let runs = 0;

  const start = (): Thread => {
    const worker = new Worker(siblingEntry(import.meta.url, './worker-thread'), {
      resourceLimits: {
        maxOldGenerationSizeMb: Math.ceil(memoryBytes / (1 << 20)),
        maxYoungGenerationSizeMb: youngMegabytes,
      },
    });
    const thread: Thread = { worker, said: [], wake: () => {}, gone: false, idleSince: 0 };
    const say = (message: FromWorker | PlatformError): void => {
      thread.said.push(message);
      thread.wake();
    };
    const leave = (error: PlatformError): void => {
      if (thread.gone) return;
      thread.gone = true;
      say(error);
    };
    worker.on('message', say);
    worker.on('error', (error: Error & { code?: string }) =>
      leave(
        error.code === 'ERR_WORKER_OUT_OF_MEMORY'
          ? outOfMemory(error)
          : new PlatformError('internal', `the executor of the query failed: ${errorText(error)}`, error),
      ),
    );
    worker.on('exit', () => leave(unavailable('the executor of the query ended; try again')));
    return thread;
  };

  const acquire = async (signal: AbortSignal): Promise<Thread> => {
    while (used >= threads) {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.push(resolve);
      signal.addEventListener('abort', () => resolve(), { once: true });
      await promise;
      signal.throwIfAborted();
    }
    used++;
    for (let thread = idle.pop(); thread !== undefined; thread = idle.pop()) if (!thread.gone) return thread;
    return start();
  };

  const release = (thread: Thread, reusable: boolean): void => {
    used--;
    if (reusable && !thread.gone) {
      thread.said.length = 0;
      const since = clock.monotonic();
      thread.idleSince = since;
      idle.push(thread);
      void clock.sleep(idleMs).then(() => {
        const at = idle.indexOf(thread);
        if (at < 0 || thread.idleSince !== since) return;
        idle.splice(at, 1);
        void thread.worker.terminate();
      });
    } else void thread.worker.terminate();
    // A waiter that gave up passes its turn to the next.
    for (const wake of waiting.splice(0)) wake();
  };

  const heard = async (thread: Thread, signal: AbortSignal): Promise<FromWorker | PlatformError> => {
    for (;;) {
      const message = thread.said.shift();
      if (message !== undefined) return message;
      signal.throwIfAborted();
      const { promise, resolve } = Promise.withResolvers<void>();
      thread.wake = resolve;
      using _listener = addAbortListener(signal, () => resolve());
      await promise;
    }
  };

  /** Cancels the run; returns whether the thread ends the run itself. */
  const hasEnded = async (thread: Thread, run: number): Promise<boolean> => {
    const tell: ToWorker = { kind: 'cancel', run };
    thread.worker.postMessage(tell);
    const late = new AbortController();
    using _timer = clock.after(graceMs, () => late.abort());
    try {
      for (;;) {
        const message = await heard(thread, late.signal);
        if (message instanceof PlatformError) return false;
        if (message.run === run && (message.kind === 'done' || message.kind === 'failed')) return true;
      }
    } catch {
      return false;
    }
  };

  return {
    async *run(plan, input, signal) {
      const thread = await acquire(signal);
      const run = ++runs;
      const tell = (message: ToWorker, move: ArrayBuffer[] = []): void => thread.worker.postMessage(message, move);
      using work = startWatchdog(thread.worker, clock);
      const either = AbortSignal.any([signal, work.signal]);
      let ended = false;
      try {
        tell({ kind: 'run', run, plan });
        let inputEnded = false;
        for (;;) {
          const message = await heard(thread, either);
          either.throwIfAborted();
          if (message instanceof PlatformError) throw message;
          if (message.run !== run) continue;
          work.went();
          if (message.kind === 'rows') yield message.batch;
          else if (message.kind === 'more') {
            if (inputEnded) continue;
            const next = await input.next();
            inputEnded = next.done === true;
            const given = next.done === true ? null : next.value;
            work.given(given?.batch.bytes.length ?? 0);
            tell(
              { kind: 'input', run, input: given },
              given === null ? [] : [given.batch.bytes.buffer as ArrayBuffer, given.batch.ends.buffer as ArrayBuffer],
            );
          } else {
            ended = true;
            if (message.kind === 'done') return;
            throw errorOf(message);
          }
        }
      } finally {
        release(thread, ended || (!thread.gone && (await hasEnded(thread, run))));
      }
    },
  };
}
