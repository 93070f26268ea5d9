/**
 * SHA-256 in a separate thread, for long files: hashing a gigabyte takes most of a second, and would block the process that long. All
 * hashes of a process share one thread, which starts with the first hash.
 */
import { Worker } from 'node:worker_threads';
import { siblingEntry } from '../entry.ts';
import { PlatformError } from '../errors.ts';
import type { HashAnswer, HashRequest } from './hash-thread.ts';

export interface ThreadHash extends Disposable {
  /** Resolves when the bytes have been hashed; until then they must not change. Calls are hashed in order. @throws unavailable */
  update(bytes: Uint8Array<SharedArrayBuffer>): Promise<void>;
  /** The digest of everything so far; more may follow. @throws unavailable if the thread has ended: the hash is then lost */
  digest(): Promise<Uint8Array>;
}

interface Thread {
  readonly worker: Worker;
  readonly waiting: PromiseWithResolvers<HashAnswer>[];
}

let running: Thread | undefined;
let lastId = 0;

export function threadHash(): ThreadHash {
  const thread = running ?? start();
  const id = ++lastId;
  let isOpen = true;
  const ask = (request: HashRequest): Promise<HashAnswer> => {
    if (thread !== running) return Promise.reject(ended('it has ended'));
    const answered = Promise.withResolvers<HashAnswer>();
    thread.waiting.push(answered);
    thread.worker.postMessage(request);
    return answered.promise;
  };
  return {
    async update(bytes) {
      await ask({ op: 'update', id, bytes });
    },
    digest: async () => (await ask({ op: 'digest', id })) ?? new Uint8Array(),
    [Symbol.dispose]() {
      if (!isOpen) return;
      isOpen = false;
      thread.worker.postMessage({ op: 'end', id } satisfies HashRequest);
    },
  };
}

function start(): Thread {
  const worker = new Worker(siblingEntry(import.meta.url, './hash-thread'));
  const thread: Thread = { worker, waiting: [] };
  worker.on('message', (answer: HashAnswer) => thread.waiting.shift()?.resolve(answer));
  const fail = (text: string): void => {
    if (running === thread) running = undefined;
    for (const { reject } of thread.waiting.splice(0)) reject(ended(text));
  };
  worker.on('error', (caught) => fail(caught instanceof Error ? caught.message : String(caught)));
  worker.on('exit', () => fail('it was stopped'));
  // It must not keep a process alive.
  worker.unref();
  running = thread;
  return thread;
}

function ended(text: string): PlatformError {
  return new PlatformError('unavailable', `the thread that hashes files: ${text}`);
}
