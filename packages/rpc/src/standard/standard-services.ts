/** The services that gRPC tools expect of any server: health and reflection. Both are open to everyone: they reveal no data or callers. */
import { once } from 'node:events';
import type { DescService } from '@bufbuild/protobuf';
import { notFound } from '@platform/base';
import { Health, HealthCheckResponse_ServingStatus as Status } from '@platform/proto/grpc/health/v1/health';
import { methodPath, type ServiceBinding, serve } from '../core/binding.ts';
import { canonicalPath } from '../edge/alias.ts';
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

/** A server that answers at all is serving. @param serves whether a service of this full name is served; clients may also use its public one */
function healthBinding<P>(serves: (service: string) => boolean): ServiceBinding<P> {
  const isServed = (name: string): boolean => name === '' || serves(canonicalPath(`/${name}`).path.slice(1));
  return serve<typeof Health, P>(Health, {
    check({ service }) {
      if (isServed(service)) return { status: Status.SERVING };
      throw notFound(
        `service: expected the full name of a service that is served, found ${JSON.stringify(service.slice(0, 200))}`,
      );
    },
    async *watch({ service }, { signal }) {
      yield { status: isServed(service) ? Status.SERVING : Status.SERVICE_UNKNOWN };
      if (!signal.aborted) await once(signal, 'abort');
    },
  });
}
