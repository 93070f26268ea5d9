/** Serves resources of one type over RPC. */
import { type DescMethod, getOption, type Message } from '@bufbuild/protobuf';
import { notFound, unavailable, unimplemented } from '@platform/base';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import {
  formatResourceName,
  isProxy,
  numberFieldsOf,
  type Resource,
  type ResourceCall,
  type ResourceDescriptor,
  requireFinite,
  shortType,
} from '@platform/resources';
import { serveType } from '@platform/resources/serve';
import { type ServiceBinding, untilAborted } from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import type { Principal } from './authenticate.ts';
import { forward } from './forward.ts';
import { requireResourceForCaller } from './module-channel.ts';
import { type Operations, sessionHeader } from './operations.ts';
import { requireAudited } from './relayed-principal.ts';
import type { RequestCounts } from './request-counts.ts';
import { RequestLimit } from './request-limit.ts';
import type { Sessions } from './sessions.ts';

/** Answers a call of a method for one resource; input and output are messages, or async iterables of them. */
type Answer = (request: unknown, call: ResourceCall) => unknown;

export interface ResourceRpcDeps {
  readonly type: ResourceDescriptor;
  readonly graph: Graph;
  /** Maximum calls in progress for one resource (PLATFORM_RESOURCE_REQUESTS_LIMIT). */
  readonly limit: number;
  readonly sessions: Pick<Sessions, 'use' | 'release'>;
  readonly operations: Pick<Operations, 'begin'>;
  readonly counts: RequestCounts;
}

export function resourceRpc(deps: ResourceRpcDeps): ServiceBinding<Principal> {
  const { type: descriptor, graph, limit, sessions, operations, counts } = deps;
  const requests = new RequestLimit(limit);
  // Types of modules, and services (a tolerance may be infinite), interpret numbers themselves.
  const isComponent = descriptor.api.startsWith('core:component:');
  return serveType<Principal>(descriptor, (name, method, call, request) => {
    requireAudited(call, name);
    const isStream = method.methodKind === 'server_streaming' || method.methodKind === 'bidi_streaming';
    const found = resourceOf(descriptor, graph, name);
    requireResourceForCaller(call, found);
    const answer = answering(descriptor, found, method.localName, isStream);
    const isChecked = isComponent && numberFieldsOf(method.input).length > 0;
    // Must come before the call takes the resource from the session that uses it.
    if (isChecked && request !== undefined) requireFinite(method.input, request);
    const moves = getOption(method, safety_heartbeat_monitored);
    const full = graph.fullNameOf(`${descriptor.api}/${name}`);
    counts.add(full);
    if (moves) {
      const session = call.metadata.get(sessionHeader);
      if (session) sessions.use(call.principal.entity, session, full);
      else sessions.release(full);
    }
    const counted = requests.enter(name);
    const operation = operations.begin({ call, moves, request: request && { type: method.input, message: request } });
    return {
      answer(given) {
        const input = isChecked && request === undefined ? eachFinite(method, given as AsyncIterable<Message>) : given;
        return isStream
          ? untilAborted(answer(input, operation) as AsyncIterable<Message>, operation.signal)
          : operation.orCancelled(Promise.resolve(answer(input, operation)));
      },
      [Symbol.dispose]() {
        operation[Symbol.dispose]();
        counted[Symbol.dispose]();
      },
    };
  });
}

async function* eachFinite({ input }: DescMethod, messages: AsyncIterable<Message>): AsyncGenerator<Message, void> {
  for await (const message of messages) {
    requireFinite(input, message);
    yield message;
  }
}

function answering(
  { service, methods }: ResourceDescriptor,
  found: Resource,
  method: string,
  isStream: boolean,
): Answer {
  const elsewhere = isProxy(found) ? found.forward[method] : undefined;
  if (elsewhere !== undefined) return forward(elsewhere, isStream);
  const own = methods[method];
  if (own === undefined) throw unimplemented(`${service.typeName}: this server does not implement ${method}`);
  return (request, call) => own(found, request, call);
}

function resourceOf(descriptor: ResourceDescriptor, graph: Graph, name: string): Resource {
  const { api } = descriptor;
  const found = graph.get(`${api}/${name}`);
  if (found !== undefined && descriptor.implementedBy(found)) return found;
  const type = shortType(descriptor);
  const full = graph.fullNameOf(`${api}/${name}`);
  const status = graph.status().find(({ config }) => formatResourceName(config) === full);
  throw status === undefined
    ? notFound(`this machine has no ${type} "${name}"`)
    : unavailable(`${type} "${name}" is ${status.state}: ${status.error}`);
}
