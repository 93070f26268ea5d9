/** The standard health service: a server that answers at all is serving, until it closes. */
import { once } from 'node:events';
import { notFound } from '@platform/base';
import { Health, HealthCheckResponse_ServingStatus as Status } from '@platform/proto/grpc/health/v1/health';
import { type ServiceBinding, serve } from '../core/binding.ts';
import { canonicalPath } from '../edge/alias.ts';

/** @param serves whether a service of this full name is served; clients may also use its public name. */
export function healthBinding<P>(serves: (service: string) => boolean): ServiceBinding<P> {
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
