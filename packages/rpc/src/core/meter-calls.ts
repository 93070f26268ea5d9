/** Measures the calls of a service, from the decoded request to the answer or the end of the stream. */
import { asPlatformError, type Clock, type CodeName } from '@platform/base';
import type { BoundMethod, ServiceBinding } from './binding.ts';

/** Called at the end of each call. @param method `/package.Service/Method` */
export type ObserveCall = (method: string, code: CodeName | 'ok', seconds: number) => void;

export function meterCalls<P>(
  services: readonly ServiceBinding<P>[],
  observe: ObserveCall,
  clock: Pick<Clock, 'monotonic'>,
): ServiceBinding<P>[] {
  return services.map(({ methods }) => ({ methods: methods.map((bound) => metered(bound, observe, clock)) }));
}

function metered<P>(bound: BoundMethod<P>, observe: ObserveCall, clock: Pick<Clock, 'monotonic'>): BoundMethod<P> {
  const begin = (): ((caught?: { readonly error: unknown }) => void) => {
    const startedMs = clock.monotonic();
    return (caught) => {
      const code = caught === undefined ? 'ok' : asPlatformError(caught.error).code;
      observe(bound.path, code, (clock.monotonic() - startedMs) / 1_000);
    };
  };
  const one =
    <Args extends unknown[], R>(handler: (...args: Args) => R | Promise<R>) =>
    async (...args: Args): Promise<R> => {
      const end = begin();
      try {
        const answer = await handler(...args);
        end();
        return answer;
      } catch (error) {
        end({ error });
        throw error;
      }
    };
  const many = <Args extends unknown[], R>(handler: (...args: Args) => AsyncIterable<R>) =>
    async function* (...args: Args): AsyncGenerator<R, void> {
      const end = begin();
      let caught: { readonly error: unknown } | undefined;
      try {
        yield* handler(...args);
      } catch (error) {
        caught = { error };
        throw error;
      } finally {
        // A peer that no longer listens ends the stream here, without an error.
        end(caught);
      }
    };
  switch (bound.kind) {
    case 'unary':
      return { ...bound, handler: one(bound.handler) };
    case 'client_streaming':
      return { ...bound, handler: one(bound.handler) };
    case 'server_streaming':
      return { ...bound, handler: many(bound.handler) };
    case 'bidi_streaming':
      return { ...bound, handler: many(bound.handler) };
  }
}
