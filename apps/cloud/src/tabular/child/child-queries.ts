/** Queries to the child, by id. Collects the batches of each answer, cancels queries, and reports when the child dies. */
import { asPlatformError, type Clock, type PlatformError } from '@platform/base';
import type { Batch } from '@platform/query';
import type { FromChild, QueryMessage } from '../process/messages.ts';
import { errorOf } from '../process/query/query-failure.ts';
import type { SourceExplain } from '../tabular.ts';
import type { Child } from './child.ts';

export type Answer =
  | {
      readonly kind: 'rows';
      readonly batch: Batch;
      readonly scannedBytes: number;
      readonly sources: readonly SourceExplain[];
    }
  | { readonly kind: 'failed'; readonly error: PlatformError; readonly scannedBytes: number }
  /** The snapshot was too old for the child; the caller opens another. */
  | {
      readonly kind: 'stale';
      /** A file that does not exist. */
      readonly missing?: string;
    }
  /** The child died before it answered. */
  | { readonly kind: 'died' };

export interface ChildQueries {
  readonly running: number;
  /**
   * `answered` settles soon after an abort at the latest. `ended` resolves when the child has finished with the query, or is dead; only
   * then may its snapshot be released.
   */
  ask(
    message: Omit<QueryMessage, 'kind' | 'id'>,
    signal: AbortSignal,
  ): { answered: Promise<Answer>; ended: Promise<void> };
  /** Handles a message of the child. */
  onMessage(message: FromChild): void;
  onDeath(): void;
}

interface Question {
  readonly batches: Batch[];
  readonly finish: (answer: Answer) => void;
  /** Why the parent ended the query; the child only knows that it was cancelled. */
  endedBy: PlatformError | null;
}

/** If the child answers a cancelled query within this time, the scanned bytes still count. */
const graceMs = 250;

export function createChildQueries(options: { child: () => Child; clock: Clock; killAfterMs: number }): ChildQueries {
  const { child, clock, killAfterMs } = options;
  const questions = new Map<number, Question>();
  let nextId = 1;

  return {
    get running() {
      return questions.size;
    },
    ask(message, signal) {
      const id = nextId++;
      const { promise: answered, resolve: answer } = Promise.withResolvers<Answer>();
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      const timers = new DisposableStack();
      // First a cancellation is requested (an interrupt, then the executor's next pause). A child that does not stop is killed.
      const endBy = (error: PlatformError): void => {
        child().send({ kind: 'cancel', id });
        const question = questions.get(id);
        if (question !== undefined) question.endedBy = error;
        const failed: Answer = { kind: 'failed', error, scannedBytes: 0 };
        timers.use(clock.after(graceMs, () => answer(failed)));
        timers.use(clock.after(killAfterMs, () => child().kill()));
      };
      const cancelled = (): void => endBy(asPlatformError(signal.reason));
      const finish = (given: Answer): void => {
        timers.dispose();
        signal.removeEventListener('abort', cancelled);
        questions.delete(id);
        answer(given);
        end();
      };
      questions.set(id, { batches: [], finish, endedBy: null });
      signal.addEventListener('abort', cancelled, { once: true });
      child().send({ kind: 'query', id, ...message });
      if (signal.aborted) cancelled();
      return { answered, ended };
    },
    onMessage(message) {
      if (message.kind !== 'rows' && message.kind !== 'done' && message.kind !== 'failed' && message.kind !== 'stale')
        return;
      const question = questions.get(message.id);
      if (question === undefined) return;
      if (message.kind === 'rows') question.batches.push(message.batch);
      else if (message.kind === 'stale') question.finish(message);
      else if (message.kind === 'done')
        question.finish({
          kind: 'rows',
          batch: joined(question.batches),
          scannedBytes: message.scannedBytes,
          sources: message.sources,
        });
      else
        question.finish({
          kind: 'failed',
          error: question.endedBy ?? errorOf(message),
          scannedBytes: message.scannedBytes,
        });
    },
    onDeath() {
      for (const { finish } of [...questions.values()]) finish({ kind: 'died' });
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
