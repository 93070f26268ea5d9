/** Resources of one type over RPC. */
import { type DescService, getOption, type Message } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import {
  isProxy,
  nameFieldOf,
  type Resource,
  type ResourceCall,
  type ResourceDescriptor,
  shortType,
} from '@platform/resources';
import { type Call, type Handlers, type ServiceBinding, serve, untilAborted } from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import type { Principal } from './authenticate.ts';
import { type OperationCall, type Operations, sessionHeader } from './operations.ts';
import { RequestLimit } from './request-limit.ts';
import type { Sessions } from './sessions.ts';

/** Answers a call of a method for one resource; input and output are messages, or async iterables of them. */
type Answer = (request: unknown, call: ResourceCall) => unknown;

interface Entered extends Disposable {
  readonly answer: Answer;
  readonly operation: OperationCall;
}

export interface ResourceRpcDeps {
  readonly type: ResourceDescriptor;
  readonly graph: Graph;
  /** Maximum calls in progress for one resource (PLATFORM_RESOURCE_REQUESTS_LIMIT). */
  readonly limit: number;
  readonly sessions: Pick<Sessions, 'use' | 'release'>;
  readonly operations: Pick<Operations, 'begin'>;
}

export function resourceRpc(deps: ResourceRpcDeps): ServiceBinding<Principal> {
  const { type: descriptor, graph, limit, sessions, operations } = deps;
  const { service } = descriptor;
  const requests = new RequestLimit(limit);
  const handlers = service.methods.map((method) => {
    const { read } = nameFieldOf(descriptor, method.input);
    const moves = getOption(method, safety_heartbeat_monitored);
    /** Counts a call for the resource of this name, until it is disposed. @param message the only request */
    const enter = (name: string, call: Call<Principal>, message?: Message): Entered => {
      const answer = answering(descriptor, resourceOf(descriptor, graph, name), method.localName);
      if (moves) {
        const [session, full] = [call.metadata.get(sessionHeader), `${descriptor.api}/${name}`];
        if (session) sessions.use(call.principal.entity, session, full);
        else sessions.release(full);
      }
      const counted = requests.enter(name);
      const operation = operations.begin({ call, moves, request: message && { type: method.input, message } });
      const leave = (): void => {
        operation[Symbol.dispose]();
        counted[Symbol.dispose]();
      };
      return { answer, operation, [Symbol.dispose]: leave };
    };
    const kinds = {
      async unary(request: Message, call: Call<Principal>) {
        using entered = enter(read(request), call, request);
        const { answer, operation } = entered;
        return await operation.orCancelled(Promise.resolve(answer(request, operation)));
      },
      async *server_streaming(request: Message, call: Call<Principal>) {
        using entered = enter(read(request), call, request);
        const { answer, operation } = entered;
        yield* untilAborted(answer(request, operation) as AsyncIterable<Message>, operation.signal);
      },
      async client_streaming(messages: AsyncIterable<Message>, call: Call<Principal>) {
        const { name, all } = await named(messages, read);
        using entered = enter(name, call);
        const { answer, operation } = entered;
        return await operation.orCancelled(Promise.resolve(answer(all, operation)));
      },
      async *bidi_streaming(messages: AsyncIterable<Message>, call: Call<Principal>) {
        const { name, all } = await named(messages, read);
        using entered = enter(name, call);
        const { answer, operation } = entered;
        yield* untilAborted(answer(all, operation) as AsyncIterable<Message>, operation.signal);
      },
    };
    return [method.localName, kinds[method.methodKind]] as const;
  });
  // The only type erasure: the descriptor has checked that each function fits its method.
  return serve(service, Object.fromEntries(handlers) as unknown as Handlers<DescService, Principal>);
}

/** A call for a resource in another process is forwarded unchanged. */
function answering({ service, methods }: ResourceDescriptor, found: Resource, method: string): Answer {
  const forward = isProxy(found) ? found.forward[method] : undefined;
  // It ends with its caller: a time limit of the connection could end it earlier.
  if (forward !== undefined) return (request, { signal }) => forward(request, { signal, timeoutMs: 0 });
  const own = methods[method];
  if (own === undefined)
    throw new PlatformError('unimplemented', `${service.typeName}: this server does not implement ${method}`);
  return (request, call) => own(found, request, call);
}

function resourceOf(descriptor: ResourceDescriptor, graph: Graph, name: string): Resource {
  const { api } = descriptor;
  const found = graph.get(`${api}/${name}`);
  if (found !== undefined && descriptor.implementedBy(found)) return found;
  const type = shortType(descriptor);
  const status = graph.status().find(({ config }) => config.api === api && config.name === name);
  throw status === undefined
    ? new PlatformError('not_found', `this machine has no ${type} "${name}"`)
    : new PlatformError('unavailable', `${type} "${name}" is ${status.state}: ${status.error}`);
}

/** The name in the first message of a stream, and all of its messages. */
async function named(
  messages: AsyncIterable<Message>,
  read: (request: Message) => string,
): Promise<{ name: string; all: AsyncIterable<Message> }> {
  const iterator = messages[Symbol.asyncIterator]();
  const first = await iterator.next();
  if (first.done === true)
    throw new PlatformError('invalid_argument', 'expected a first message that names the resource, found none');
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
