/** Serves all resources of one type, through the type's service: each call goes to the resource that it names. */
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { invalidArgument } from '@platform/base';
import { type Call, type Handlers, type ServiceBinding, serve } from '@platform/rpc/server';
import { nameFieldOf } from './name-field.ts';
import type { ResourceCall, ResourceDescriptor } from './resource-descriptor.ts';

/** A call that has begun; disposed when it ends. */
export interface Entered extends Disposable {
  /** Answers it; input and output are messages, or async iterables of them. */
  answer(request: unknown, call: ResourceCall): unknown;
}

/**
 * @param enter called before a call is answered, with the name of the resource, the method, the call, and the request if there is only one.
 *   Throws if the resource does not exist or may not be called.
 */
export function serveType<P extends { readonly entity: string } | undefined>(
  descriptor: ResourceDescriptor,
  enter: (name: string, method: DescMethod, call: Call<P>, request?: Message) => Entered,
): ServiceBinding<P> {
  const { service } = descriptor;
  const handlers = service.methods.map((method) => {
    const { read } = nameFieldOf(descriptor, method.input);
    const kinds = {
      async unary(request: Message, call: Call<P>) {
        using entered = enter(read(request), method, call, request);
        return await entered.answer(request, call);
      },
      async *server_streaming(request: Message, call: Call<P>) {
        using entered = enter(read(request), method, call, request);
        yield* entered.answer(request, call) as AsyncIterable<Message>;
      },
      async client_streaming(messages: AsyncIterable<Message>, call: Call<P>) {
        const { name, all } = await named(messages, read);
        using entered = enter(name, method, call);
        return await entered.answer(all, call);
      },
      async *bidi_streaming(messages: AsyncIterable<Message>, call: Call<P>) {
        const { name, all } = await named(messages, read);
        using entered = enter(name, method, call);
        yield* entered.answer(all, call) as AsyncIterable<Message>;
      },
    };
    return [method.localName, kinds[method.methodKind]] as const;
  });
  // The only type erasure: the descriptor has checked that each function fits its method.
  const erased = Object.fromEntries(handlers) as unknown as Handlers<DescService, P>;
  // Modules may be newer than this server.
  return serve(service, erased, { keepUnknown: true });
}

/** The name in the first message of a stream, and all of the stream's messages. */
async function named(
  messages: AsyncIterable<Message>,
  read: (request: Message) => string,
): Promise<{ name: string; all: AsyncIterable<Message> }> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true) throw invalidArgument('expected a first message that names the resource, found none');
  return { name: read(first.value), all: resumed(first.value, iterator) };
}

async function* resumed(first: Message, rest: AsyncIterator<Message>): AsyncGenerator<Message, void> {
  try {
    for (let next: IteratorResult<Message> = { value: first }; next.done !== true; next = await rest.next())
      yield next.value;
  } finally {
    await rest.return?.();
  }
}
