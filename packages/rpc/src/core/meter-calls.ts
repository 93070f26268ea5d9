/** Watches the calls of a service, from the decoded request to the answer or the end of the stream. */
import { asPlatformError, type Clock, type CodeName } from '@platform/base';
import type { BoundMethod, ServiceBinding } from './binding.ts';
import type { Call } from './call.ts';

/** Called at the end of each call. @param method `/package.Service/Method` */
export type ObserveCall = (method: string, code: CodeName | 'ok', seconds: number) => void;

/**
 * Called when a call begins; the returned function is called at its end, with the handler's error. @param method `/package.Service/Method`
 */
export type WatchCall<P = unknown> = (method: string, call: Call<P>) => (caught?: { readonly error: unknown }) => void;

export function meterCalls<P>(
  services: readonly ServiceBinding<P>[],
  observe: ObserveCall,
  clock: Pick<Clock, 'monotonic'>,
): ServiceBinding<P>[] {
  return watchCalls(services, (method) => {
    const startedMs = clock.monotonic();
    return (caught) => {
      const code = caught === undefined ? 'ok' : asPlatformError(caught.error).code;
      observe(method, code, (clock.monotonic() - startedMs) / 1_000);
    };
  });
}

export function watchCalls<P>(services: readonly ServiceBinding<P>[], watch: WatchCall<P>): ServiceBinding<P>[] {
  return services.map(({ methods }) => ({ methods: methods.map((bound) => watched(bound, watch)) }));
}

function watched<P>(bound: BoundMethod<P>, begin: WatchCall<P>): BoundMethod<P> {
  const one =
    <I, R>(handler: (request: I, call: Call<P>) => R | Promise<R>) =>
    async (request: I, call: Call<P>): Promise<R> => {
      const end = begin(bound.path, call);
      try {
        const answer = await handler(request, call);
        end();
        return answer;
      } catch (error) {
        end({ error });
        throw error;
      }
    };
  const many = <I, R>(handler: (request: I, call: Call<P>) => AsyncIterable<R>) =>
    async function* (request: I, call: Call<P>): AsyncGenerator<R, void> {
      const end = begin(bound.path, call);
      let caught: { readonly error: unknown } | undefined;
      try {
        yield* handler(request, call);
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
