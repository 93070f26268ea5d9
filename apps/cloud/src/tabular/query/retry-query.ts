/** Retries a query that a merge or the death of the child interrupted, until it is answered or its time is over. */
import { asPlatformError, type Clock, PlatformError, unavailable } from '@platform/base';
import { QueryError } from '@platform/query';
import type { TabularSettings } from '../settings.ts';
import type { Tabular } from '../tabular.ts';
import type { AnswerQuery } from './answer-query.ts';

/** A merge or a restart can make a snapshot stale, but not this often in a row. */
const maxStale = 8;

export function createRetryQuery(deps: {
  readonly answer: Pick<AnswerQuery, 'attempt'>;
  readonly settings: Pick<TabularSettings, 'deadlineMs'>;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
}): Tabular['query'] {
  const { answer, settings, clock, stopping } = deps;
  return async (request) => {
    const deadlineMs = Math.min(request.deadlineMs ?? settings.deadlineMs, settings.deadlineMs);
    const startedMs = clock.monotonic();
    const endMs = startedMs + deadlineMs;
    const timeout = new AbortController();
    using _late = clock.after(deadlineMs, () =>
      timeout.abort(new PlatformError('deadline_exceeded', `the query did not end within ${deadlineMs / 1_000} s`)),
    );
    const signals = [timeout.signal, stopping, ...(request.signal ? [request.signal] : [])];
    const signal = AbortSignal.any(signals);
    try {
      let deaths = 0;
      for (let stale = 0; ; stale++) {
        if (stale > maxStale) {
          throw unavailable('the sealed files kept changing while they were being read; try again');
        }
        const result = await answer.attempt(request, startedMs, endMs, signal);
        if (typeof result === 'object') return result;
        if (result === 'died' && ++deaths > 1) {
          throw unavailable(
            'the query process died twice while running this query; try again, with $limit (LIMIT) or a shorter time_received range if it happens again',
          );
        }
        signal.throwIfAborted();
      }
    } catch (caught) {
      throw caught instanceof QueryError ? caught.toPlatformError() : asPlatformError(caught);
    }
  };
}
