/** Records the calls of a service before they run: those of direct callers that are more than reads. */
import type { Message } from '@bufbuild/protobuf';
import { accessOf, isOfModule } from '@platform/resources';
import type { Call, ServiceBinding } from '@platform/rpc/server';
import type { Principal } from '../serve/authenticate.ts';
import { argumentsOf } from './call-arguments.ts';
import type { CallRecord } from './call-record.ts';

type BoundMethod = ServiceBinding<Principal>['methods'][number];

export interface RecordCallsDeps {
  readonly record: Pick<CallRecord, 'add'>;
  /** The name of the resource in a request (of a stream: the first); empty: the machine itself. */
  readonly resourceOf: (method: BoundMethod['method'], request: Message) => string;
}

export function recordCalls({ methods }: ServiceBinding<Principal>, deps: RecordCallsDeps): ServiceBinding<Principal> {
  return { methods: methods.map((bound) => recorded(bound, deps)) };
}

function recorded(bound: BoundMethod, deps: RecordCallsDeps): BoundMethod {
  const { method } = bound;
  if (!bound.implemented || accessOf(method) === 'read') return bound;
  // Short names are unique only among our own services.
  const operation = `${isOfModule(method.parent) ? method.parent.typeName : method.parent.name}.${method.name}`;
  const note = async (call: Call<Principal>, request: Message | undefined): Promise<void> => {
    const { direct: caller } = call.principal;
    if (caller === undefined) return;
    await deps.record.add({
      ...{ caller, peerAddress: call.peerAddress, operation },
      resource: request === undefined ? '' : deps.resourceOf(method, request),
      arguments: request === undefined ? '{}' : argumentsOf(method.input, request),
    });
  };
  const one = async (request: Message, call: Call<Principal>): Promise<Message> => {
    await note(call, request);
    return request;
  };
  const many = async (requests: AsyncIterable<Message>, call: Call<Principal>): Promise<AsyncIterable<Message>> =>
    call.principal.direct === undefined ? requests : await noted(requests, (first) => note(call, first));
  switch (bound.kind) {
    case 'unary':
      return {
        ...bound,
        handler: async (request: Message, call: Call<Principal>) => bound.handler(await one(request, call), call),
      };
    case 'client_streaming':
      return {
        ...bound,
        handler: async (requests: AsyncIterable<Message>, call: Call<Principal>) =>
          bound.handler(await many(requests, call), call),
      };
    case 'server_streaming':
      return {
        ...bound,
        async *handler(request: Message, call: Call<Principal>) {
          yield* bound.handler(await one(request, call), call);
        },
      };
    case 'bidi_streaming':
      return {
        ...bound,
        async *handler(requests: AsyncIterable<Message>, call: Call<Principal>) {
          yield* bound.handler(await many(requests, call), call);
        },
      };
  }
}

/** All requests, once the first has been recorded. */
async function noted(
  requests: AsyncIterable<Message>,
  note: (first: Message | undefined) => Promise<void>,
): Promise<AsyncIterable<Message>> {
  const iterator = requests[Symbol.asyncIterator]();
  const first = await iterator.next();
  await note(first.done === true ? undefined : first.value);
  return resumed(first, iterator);
}

async function* resumed(first: IteratorResult<Message>, rest: AsyncIterator<Message>): AsyncGenerator<Message, void> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
