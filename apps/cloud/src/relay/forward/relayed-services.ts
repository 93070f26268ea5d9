/** The services of machines, on the port of the cloud: every call is forwarded to the part that its header names. */
import type { DescMethod, DescService, Message } from '@bufbuild/protobuf';
import { EmptySchema } from '@bufbuild/protobuf/wkt';
import { RobotService } from '@platform/proto/platform/robot/v1/robot';
import { nameFieldOf, type ResourceDescriptor, resourceTypes } from '@platform/resources';
import { carriesApiNames, serve } from '@platform/rpc/server';
import type { CloudBinding, CloudCall, CloudHandlers } from '../../access/principal.ts';
import { opaqueName, requireDeclaredTypes } from './opaque-service.ts';
import { enterCall, type RelayedCall, type RelayedCallDeps } from './relayed-call.ts';

type Relayed = Pick<ResourceDescriptor, 'service' | 'nameFields'>;

/** A method of any kind: its input and output are messages, or async iterables of them. */
type AnyMethod = (input: unknown, options: RelayedCall['options']) => unknown;

export const relayedServices: readonly Relayed[] = [{ service: RobotService }, ...resourceTypes];

export function relayedBindings(deps: RelayedCallDeps): CloudBinding[] {
  return relayedServices.flatMap((type) => [
    relayed(type.service, ({ input }) => nameFieldOf(type, input).read, deps),
    unread(type, deps),
  ]);
}

/**
 * The methods whose messages need not be decoded to be passed on, for the binary protocols (D48): nothing in them is spelled differently
 * for different peers, and the name of the resource, if any, is a field of the request itself.
 */
function unread(type: Relayed, deps: RelayedCallDeps): CloudBinding {
  const inputs = new Map(type.service.methods.map(({ name, input }) => [name, input]));
  const nameOf = new Map(type.service.methods.map((method) => [method.name, nameFieldOf(type, method.input).path]));
  const methods = type.service.methods
    .filter(({ input, output }) => !carriesApiNames(input) && !carriesApiNames(output))
    .filter(({ name }) => (nameOf.get(name)?.length ?? 0) < 2)
    .map((method) => ({ ...method, input: EmptySchema, output: EmptySchema }));
  const read = ({ name }: DescMethod): ((message: Message) => string) => {
    const [number] = nameOf.get(name) ?? [];
    return (message) => {
      const input = inputs.get(name);
      if (input !== undefined) requireDeclaredTypes(message, input);
      return number === undefined ? '' : opaqueName(message, number);
    };
  };
  const binding = relayed({ ...type.service, methods: methods as DescMethod[] }, read, deps);
  return { methods: binding.methods.map((bound) => ({ ...bound, raw: true })) };
}

/** @param nameIn how the requests of a method name the resource */
export function relayed(
  service: DescService,
  nameIn: (method: DescMethod) => (message: Message) => string,
  deps: RelayedCallDeps,
): CloudBinding {
  const handlers = service.methods.map((method) => {
    const read = nameIn(method);
    const kinds = {
      unary: (request: Message, call: CloudCall) =>
        relayUnary({ deps, method, call, resource: read(request) }, request),
      async *server_streaming(request: Message, call: CloudCall) {
        using entered = enterCall(deps, method, call);
        await entered.audit(read(request), request);
        yield* answers(entered, method, request);
      },
      async client_streaming(messages: AsyncIterable<Message>, call: CloudCall) {
        using entered = enterCall(deps, method, call);
        const all = await audited(entered, messages, read);
        return await answered(entered, () => forward(entered, method, all) as Promise<Message>);
      },
      async *bidi_streaming(messages: AsyncIterable<Message>, call: CloudCall) {
        using entered = enterCall(deps, method, call);
        yield* answers(entered, method, await audited(entered, messages, read));
      },
    };
    return [method.localName, kinds[method.methodKind]] as const;
  });
  // The only type erasure: each function comes from the kind of its method.
  const erased = Object.fromEntries(handlers) as unknown as CloudHandlers<DescService>;
  return serve(service, erased, { keepUnknown: true });
}

/** @param asked `resource`: the name in the request */
export async function relayUnary(
  asked: {
    readonly deps: RelayedCallDeps;
    readonly method: DescMethod;
    readonly call: CloudCall;
    readonly resource: string;
  },
  request: Message,
): Promise<Message> {
  using entered = enterCall(asked.deps, asked.method, asked.call);
  await entered.audit(asked.resource, request);
  return await answered(entered, () => forward(entered, asked.method, request) as Promise<Message>);
}

/** The types of the messages are those of `method`, which need not be those that its service declares. */
function forward({ link, options }: RelayedCall, method: DescMethod, input: unknown): unknown {
  const { parent, localName } = method;
  const client = link.link.client({ ...parent, methods: [method] } as DescService) as unknown as Readonly<
    Record<string, AnyMethod>
  >;
  return client[localName]?.(input, options);
}

async function answered<T>(entered: RelayedCall, answer: () => Promise<T>): Promise<T> {
  try {
    return await answer();
  } catch (caught) {
    throw entered.interpret(caught);
  }
}

async function* answers(entered: RelayedCall, method: DescMethod, input: unknown): AsyncGenerator<Message, void> {
  try {
    yield* forward(entered, method, input) as AsyncIterable<Message>;
  } catch (caught) {
    throw entered.interpret(caught);
  }
}

/**
 * All messages of a stream. The first one names the resource: it is written to the audit trail before anything is forwarded. The machine
 * also needs it before it can do anything.
 */
async function audited(
  entered: RelayedCall,
  messages: AsyncIterable<Message>,
  read: (message: Message) => string,
): Promise<AsyncIterable<Message>> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done !== true) await entered.audit(read(first.value), first.value);
  return resumed(first, iterator);
}

async function* resumed(first: IteratorResult<Message>, rest: AsyncIterator<Message>): AsyncGenerator<Message, void> {
  try {
    for (let next = first; next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}
