/**
 * The caller's side of a thread that writes one SQLite file: a promise for each request.
 *
 * States: open → closed | failed. Once it is closed or has failed, all waiting and later requests are refused.
 */
import { Worker } from 'node:worker_threads';
import { failedPrecondition, type Log, ownFault, type PlatformError } from '@platform/base';
import { faultError } from './sqlite-fault.ts';
import type { ThreadAnswer, ThreadMessage } from './thread-protocol.ts';

export interface ThreadOptions<Request, Result> {
  /** The thread's module, which uses ThreadMessage. */
  readonly entry: URL;
  /** The thread's workerData. */
  readonly setup: unknown;
  /** `file` and `name` (what the thread writes) are for error texts. */
  readonly file: string;
  readonly name: string;
  /** Describes what a request stores, for the error text. */
  readonly what: (request: WithoutId<Request>) => string;
  readonly log: Log;
  /** Called when a disk write fails: nothing more may be acknowledged, and the process must exit (I2). */
  readonly onFatal: (error: Error) => void;
  /** Sees committed results before the callers waiting for them do. */
  readonly beforeAnswers?: (answers: readonly ThreadAnswer<Result>[]) => void;
}

export interface Thread<Request, Result, Opened> extends AsyncDisposable {
  /** What the thread found in the file. */
  readonly opened: Opened;
  /** Closed or failed. */
  readonly ended: boolean;
  /** Throws the result of faultError for a fault; unavailable after the end. */
  ask(request: WithoutId<Request>): Promise<Result>;
}

/** Distributes over a union. */
export type WithoutId<Request> = Request extends unknown ? Omit<Request, 'id'> : never;

interface Waiting<Result> {
  readonly what: string;
  readonly resolve: (result: Result) => void;
  readonly reject: (error: Error) => void;
}

/** Resolves when the file is open; throws failed_precondition if the thread refused it, which then has closed it. */
export async function openThread<Request, Result, Opened>(
  options: ThreadOptions<Request, Result>,
): Promise<Thread<Request, Result, Opened>> {
  const { file, name, log, onFatal } = options;
  const worker = new Worker(options.entry, { workerData: options.setup });
  const waiting = new Map<number, Waiting<Result>>();
  let lastId = 0;
  let ended: PlatformError | null = null;
  let closing = false;

  const end = (error: PlatformError): void => {
    if (ended) return;
    ended = error;
    for (const { reject } of waiting.values()) reject(error);
    waiting.clear();
  };
  const endClosed = (): void =>
    end(ownFault('unavailable', 'the cloud is stopping; try again in a moment', `${file} is closed`));
  const die = (message: string): void => {
    if (ended) return;
    const error = faultError({ kind: 'fatal', message }, name, file);
    log.error(`${name}: the disk failed`, { file, error: message });
    end(error);
    onFatal(error);
  };
  const settle = (answer: ThreadAnswer<Result>): void => {
    const waiter = waiting.get(answer.id);
    if (!waiter) return;
    waiting.delete(answer.id);
    if ('result' in answer) waiter.resolve(answer.result);
    else waiter.reject(faultError(answer.fault, waiter.what, file));
  };

  const opened = await new Promise<Opened>((resolve, reject) => {
    worker.on('message', (message: ThreadMessage<Result, Opened>) => {
      switch (message.type) {
        case 'ready':
          return resolve(message.opened);
        case 'answers':
          options.beforeAnswers?.(message.answers);
          return message.answers.forEach(settle);
        case 'fatal':
          return die(message.message);
        case 'refused': {
          const error = failedPrecondition(`${file} cannot be opened: ${message.message}`);
          end(error);
          // Only then is the file closed.
          return void worker.terminate().finally(() => reject(error));
        }
      }
    });
    worker.once('error', (error) => {
      reject(error);
      die(error.message);
    });
    worker.once('exit', () => {
      // The thread's exit event may arrive before its last answer.
      if (closing) endClosed();
      else die(`the thread of the ${name} ended`);
    });
  });

  const send = (request: object, what: string): Promise<Result> =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = ++lastId;
      waiting.set(id, { what, resolve, reject });
      worker.postMessage({ ...request, id });
    });

  return {
    opened,
    get ended() {
      return ended !== null;
    },
    ask: (request) => send(request, options.what(request)),
    async [Symbol.asyncDispose]() {
      if (!ended && !closing) {
        closing = true;
        // All earlier requests are completed and answered first.
        await send({ kind: 'close' }, 'closing').catch(() => {});
        endClosed();
      }
      await worker.terminate();
    },
  };
}
