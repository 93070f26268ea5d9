/** One question to the child at a time for each id: gathers the batches of the answer, cancels, and tells when the child died over it. */
import { asPlatformError, type Clock, PlatformError } from '@platform/base';
import type { Batch } from '@platform/query';
import type { Child } from './child.ts';
import type { FromChild, QueryMessage } from './process/messages.ts';

export type Answer =
  | { readonly kind: 'rows'; readonly batch: Batch; readonly scannedBytes: number }
  | { readonly kind: 'failed'; readonly error: PlatformError; readonly scannedBytes: number }
  /** The snapshot was too old for the child: open another. */
  | { readonly kind: 'stale' }
  /** The child died before it answered. */
  | { readonly kind: 'died' };

export interface Questions {
  readonly running: number;
  ask(message: Omit<QueryMessage, 'kind' | 'id'>, signal: AbortSignal): Promise<Answer>;
  /** Hands over a message of the child. */
  onMessage(message: FromChild): void;
  onDeath(): void;
}

interface Question {
  readonly batches: Batch[];
  readonly end: (answer: Answer) => void;
}

export function createQuestions(options: { child: () => Child; clock: Clock; killAfterMs: number }): Questions {
  const { child, clock, killAfterMs } = options;
  const questions = new Map<number, Question>();
  let nextId = 1;

  return {
    get running() {
      return questions.size;
    },
    async ask(message, signal) {
      const id = nextId++;
      const over = new AbortController();
      // Asked politely first (interrupt, then the executor's next pause); a child that does not come back is killed.
      const endBy = (error: PlatformError): void => {
        child().send({ kind: 'cancel', id });
        clock.sleep(killAfterMs, over.signal).then(
          () => {
            questions.get(id)?.end({ kind: 'failed', error, scannedBytes: 0 });
            child().kill();
          },
          () => {},
        );
      };
      const cancelled = (): void => endBy(asPlatformError(signal.reason));
      signal.addEventListener('abort', cancelled, { once: true });
      clock.sleep(message.deadlineMs, over.signal).then(
        () =>
          endBy(new PlatformError('deadline_exceeded', `the query did not end within ${message.deadlineMs / 1_000} s`)),
        () => {},
      );
      try {
        return await new Promise<Answer>((end) => {
          questions.set(id, { batches: [], end });
          child().send({ kind: 'query', id, ...message });
          if (signal.aborted) cancelled();
        });
      } finally {
        over.abort();
        signal.removeEventListener('abort', cancelled);
        questions.delete(id);
      }
    },
    onMessage(message) {
      if (message.kind !== 'rows' && message.kind !== 'done' && message.kind !== 'failed' && message.kind !== 'stale')
        return;
      const question = questions.get(message.id);
      if (question === undefined) return;
      if (message.kind === 'rows') question.batches.push(message.batch);
      else if (message.kind === 'stale') question.end({ kind: 'stale' });
      else if (message.kind === 'done')
        question.end({ kind: 'rows', batch: joined(question.batches), scannedBytes: message.scannedBytes });
      else
        question.end({
          kind: 'failed',
          error: new PlatformError(message.code, message.message),
          scannedBytes: message.scannedBytes,
        });
    },
    onDeath() {
      for (const { end } of questions.values()) end({ kind: 'died' });
    },
  };
}

function joined(batches: readonly Batch[]): Batch {
  const [only] = batches;
  if (batches.length === 1 && only !== undefined) return only;
  const count = batches.reduce((sum, batch) => sum + batch.count, 0);
  const bytes = new Uint8Array(batches.reduce((sum, batch) => sum + batch.bytes.length, 0));
  const ends = new Uint32Array(count);
  let at = 0;
  let row = 0;
  for (const batch of batches) {
    bytes.set(batch.bytes, at);
    for (const end of batch.ends) ends[row++] = at + end;
    at += batch.bytes.length;
  }
  return { count, bytes, ends };
}
