/** The same call over several paths, where it does no harm if it arrives twice: heartbeats and stops. */
import type { Clock } from '@platform/base/clock';
import { isUndelivered } from './undelivered.ts';

export interface FirstAnswerOptions {
  /** How long an attempt may be unanswered before the next one begins; it begins at once if the attempt fails. */
  readonly afterMs: number;
  readonly clock: Pick<Clock, 'after'>;
}

/**
 * The first answer, also if it is a refusal. The other attempts are then given up.
 *
 * @param attempts at least one, the best first; each gives up when its signal aborts
 * @throws the refusal; if no attempt was answered, why the first one failed
 */
export function firstAnswer<T>(
  attempts: readonly ((signal: AbortSignal) => Promise<T>)[],
  { afterMs, clock }: FirstAnswerOptions,
): Promise<T> {
  const over = new AbortController();
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const failures: unknown[] = [];
  let begun = 0;
  let timer: Disposable | undefined;
  const finish = (settle: () => void): void => {
    timer?.[Symbol.dispose]();
    settle();
    over.abort();
  };
  const begin = (): void => {
    timer?.[Symbol.dispose]();
    const attempt = attempts[begun];
    if (attempt === undefined || over.signal.aborted) return;
    begun += 1;
    if (begun < attempts.length) timer = clock.after(afterMs, begin);
    attempt(over.signal).then(
      (answer) => finish(() => resolve(answer)),
      (caught: unknown) => {
        failures.push(caught);
        if (!isUndelivered(caught)) finish(() => reject(caught));
        else if (failures.length === attempts.length) finish(() => reject(failures[0]));
        else begin();
      },
    );
  };
  begin();
  return promise;
}
