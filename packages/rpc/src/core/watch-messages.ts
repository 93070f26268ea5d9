/** Tells of each message that a client sends on an open call. */
import type { BoundMethod, ServiceBinding } from './binding.ts';
import type { Call } from './call.ts';

/** @param onMessage called for every message of methods that take streams, before their handler gets it */
export function watchMessages<P>(
  services: readonly ServiceBinding<P>[],
  onMessage: (call: Call<P>) => void,
): ServiceBinding<P>[] {
  async function* watched<T>(requests: AsyncIterable<T>, call: Call<P>): AsyncGenerator<T, void> {
    for await (const request of requests) {
      onMessage(call);
      yield request;
    }
  }
  const many =
    <T, R>(handler: (requests: AsyncIterable<T>, call: Call<P>) => R) =>
    (requests: AsyncIterable<T>, call: Call<P>): R =>
      handler(watched(requests, call), call);
  const watch = (bound: BoundMethod<P>): BoundMethod<P> => {
    switch (bound.kind) {
      case 'client_streaming':
        return { ...bound, handler: many(bound.handler) };
      case 'bidi_streaming':
        return { ...bound, handler: many(bound.handler) };
      default:
        return bound;
    }
  };
  return services.map(({ methods }) => ({ methods: methods.map(watch) }));
}
