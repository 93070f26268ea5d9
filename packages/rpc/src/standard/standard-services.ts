/** What gRPC tools expect of any server: health and reflection. Both are open to everyone: they reveal nothing about data or callers. */
import type { DescService } from '@bufbuild/protobuf';
import { Health } from '@platform/proto/grpc/health/v1/health';
import { methodPath, type ServiceBinding } from '../core/binding.ts';
import { healthBinding } from './health.ts';
import { reflectionBindings } from './reflection.ts';

export interface StandardServices<P> {
  readonly services: readonly ServiceBinding<P>[];
  /** Paths of their methods; they need no authentication. */
  readonly open: readonly string[];
}

/** @param served all other services of the server. */
export function standardServices<P>(served: readonly ServiceBinding<P>[]): StandardServices<P> {
  const described = new Set<DescService>(served.flatMap(({ methods }) => methods.map(({ method }) => method.parent)));
  const services = [
    healthBinding<P>(new Set([...described].map(({ typeName }) => typeName))),
    ...reflectionBindings<P>([...described, Health]),
  ];
  return { services, open: services.flatMap(({ methods }) => methods.map(({ method }) => methodPath(method))) };
}
