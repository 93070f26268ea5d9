/** Resources of one type over RPC. */
import type { DescMessage, DescService, Message } from '@bufbuild/protobuf';
import { PlatformError } from '@platform/base';
import { type Resource, type ResourceDescriptor, shortType } from '@platform/resources';
import { type Handlers, type ServiceBinding, serve, type UnaryHandler } from '@platform/rpc/server';
import type { Graph } from '../graph/graph.ts';
import type { Principal } from './authenticate.ts';

/** @param limit most calls in progress for one resource (PLATFORM_RESOURCE_REQUESTS_LIMIT). */
export function resourceRpc(descriptor: ResourceDescriptor, graph: Graph, limit: number): ServiceBinding<Principal> {
  const running = new Map<string, number>();
  const limited = async <R>(name: string, task: (found: Resource) => Promise<R>): Promise<R> => {
    const found = resourceOf(descriptor, graph, name);
    const count = running.get(name) ?? 0;
    if (count >= limit)
      throw new PlatformError('resource_exhausted', `exceeded request limit ${limit} on resource ${name}`);
    running.set(name, count + 1);
    try {
      return await task(found);
    } finally {
      const left = (running.get(name) ?? 1) - 1;
      if (left === 0) running.delete(name);
      else running.set(name, left);
    }
  };
  const { service, methods } = descriptor;
  const handlers: Record<string, UnaryHandler<DescMessage, DescMessage, Principal>> = {};
  for (const [key, answer] of Object.entries(methods))
    if (answer !== undefined) handlers[key] = (request) => limited(nameIn(request), (found) => answer(found, request));
  // The one erasure: the descriptor has checked that each function fits its method.
  return serve(service, handlers as unknown as Handlers<DescService, Principal>);
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

function nameIn(request: Message): string {
  return 'name' in request && typeof request.name === 'string' ? request.name : '';
}
