/** The services that gRPC tools expect of any server: health and reflection. Both are open to everyone: they reveal no data or callers. */
import type { DescService } from '@bufbuild/protobuf';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { methodPath, type ServiceBinding } from '../core/binding.ts';
import { healthBinding } from './health.ts';
import { memoizeLast } from './memoize-last.ts';
import { reflectionBindings } from './reflection.ts';

export interface StandardServices<P> {
  readonly services: readonly ServiceBinding<P>[];
  /** Paths of their methods; they need no authentication. */
  readonly open: readonly string[];
}

/**
 * @param served all other services of the server.
 * @param added further services that the server has at the time of a call.
 */
export function standardServices<P>(
  served: readonly ServiceBinding<P>[],
  added: () => readonly ServiceBinding<P>[],
): StandardServices<P> {
  const described = memoizeLast(added, (more) => [
    ...new Set<DescService>([...served, ...more].flatMap(({ methods }) => methods.map(({ method }) => method.parent))),
  ]);
  const services = [
    healthBinding<P>((name) => described().some(({ typeName }) => typeName === name)),
    ...reflectionBindings<P>(memoizeLast(described, (all) => [...all, Health])),
  ];
  return { services, open: services.flatMap(({ methods }) => methods.map(({ method }) => methodPath(method))) };
}
