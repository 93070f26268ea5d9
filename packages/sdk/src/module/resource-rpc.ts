/** The resources of a module over RPC, by the descriptors of their types. */
import { unimplemented } from '@platform/base';
import type { ResourceDescriptor } from '@platform/resources';
import { serveType } from '@platform/resources/serve';
import type { ServiceBinding } from '@platform/rpc/server';
import { authoredError } from './authored.ts';
import type { RunningResources } from './running-resources.ts';

export function resourceRpc(type: ResourceDescriptor, resources: RunningResources): ServiceBinding<undefined> {
  return serveType<undefined>(type, (name, { localName, methodKind, name: method }) => {
    const { resource, log } = resources.get(type, name);
    const own = type.methods[localName];
    if (own === undefined) throw unimplemented(`${type.service.typeName}: a module does not implement ${method}`);
    const isStream = methodKind === 'server_streaming' || methodKind === 'bidi_streaming';
    return {
      answer(request, call) {
        const failure = (caught: unknown): unknown => authoredError(caught, call.signal, log);
        return isStream
          ? items(() => own(resource, request, call) as AsyncIterable<unknown>, failure)
          : one(() => own(resource, request, call), failure);
      },
      [Symbol.dispose]() {},
    };
  });
}

async function one(run: () => unknown, failure: (caught: unknown) => unknown): Promise<unknown> {
  try {
    return await run();
  } catch (caught) {
    throw failure(caught);
  }
}

async function* items(
  run: () => AsyncIterable<unknown>,
  failure: (caught: unknown) => unknown,
): AsyncGenerator<unknown, void> {
  try {
    yield* run();
  } catch (caught) {
    throw failure(caught);
  }
}
