/**
 * Makes PDFs in a thread of their own: one takes up to half a second of processor time, during which the cloud would answer nobody (D48).
 * The thread starts with a request, and ends when it has had none for a while, because its libraries and fonts take some 100 MB.
 */
import { Worker } from 'node:worker_threads';
import { errorText, PlatformError, siblingEntry, systemClock, unavailable } from '@platform/base';
import type { PdfAnswer, PdfRequest } from './pdf-thread.ts';

const idleMs = 30_000;

interface Thread {
  readonly worker: Worker;
  readonly waiting: PromiseWithResolvers<Uint8Array>[];
}

let running: Thread | undefined;
let ending: Disposable | undefined;

/** @throws internal if it cannot be made; unavailable if the thread was stopped: the next request starts another */
export function makePdf(request: PdfRequest): Promise<Uint8Array> {
  ending?.[Symbol.dispose]();
  running ??= start();
  const answered = Promise.withResolvers<Uint8Array>();
  running.waiting.push(answered);
  running.worker.postMessage(request);
  return answered.promise;
}

function start(): Thread {
  const worker = new Worker(siblingEntry(import.meta.url, './pdf-thread'));
  const thread: Thread = { worker, waiting: [] };
  const leave = (error: PlatformError): void => {
    if (running === thread) running = undefined;
    for (const { reject } of thread.waiting.splice(0)) reject(error);
  };
  worker.on('message', (answer: PdfAnswer) => {
    const next = thread.waiting.shift();
    if ('pdf' in answer) next?.resolve(answer.pdf);
    else next?.reject(failed(answer.error));
    if (thread.waiting.length > 0) return;
    ending = systemClock.after(idleMs, () => {
      if (running === thread) running = undefined;
      void worker.terminate();
    });
  });
  worker.on('error', (caught) => leave(failed(errorText(caught), caught)));
  worker.on('exit', () => leave(unavailable('the thread that makes PDFs was stopped; try again')));
  return thread;
}

function failed(reason: string, cause?: unknown): PlatformError {
  return new PlatformError('internal', `the PDF could not be made: ${reason}`, cause);
}
