import { PlatformError } from '@platform/base';
import type { ServiceBinding } from './binding.ts';
import type { RequestLimits } from './request-limits.ts';

/** By the full name of a service, `package.Service`, or of a method, `package.Service/Method`, which comes first. */
export type RequestLimitTable = Readonly<Record<string, Partial<RequestLimits>>>;

/** The services with the limits of a table. @throws internal if it names something that they do not have */
export function limitRequests<P>(
  services: readonly ServiceBinding<P>[],
  table: RequestLimitTable,
): ServiceBinding<P>[] {
  const unused = new Set(Object.keys(table));
  const limited = services.map(({ methods }) => ({
    methods: methods.map((bound) => {
      const [method, service] = [bound.path.slice(1), bound.method.parent.typeName];
      unused.delete(method);
      unused.delete(service);
      return { ...bound, limits: { ...bound.limits, ...table[service], ...table[method] } };
    }),
  }));
  const [first] = unused;
  if (first !== undefined)
    throw new PlatformError('internal', `request limits: expected a service or method that is served, found ${first}`);
  return limited;
}
