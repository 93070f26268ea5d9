/**
 * Calls to types that only a module of the machine knows, and to the reflection of the machine, which describes them. Both are forwarded by
 * the name of the method, unread.
 */
import type { ForwardCalls, ServiceBinding } from '@platform/rpc/server';
import type { Principal } from '../access/principal.ts';
import { isReflection } from './method-access.ts';
import { opaqueName, opaqueService } from './opaque-service.ts';
import { partHeader, type RelayedCallDeps } from './relayed-call.ts';
import { relayed } from './relayed-services.ts';

/**
 * Packages whose services the cloud knows; any of their services that it does not know is newer than the cloud, and may need another
 * permission.
 */
const known = /^(platform|viam|proto|grpc|google)\./;

/** @param metered wraps each binding: callers choose the names of methods, so these must not become labels */
export function forwardTypes(
  deps: RelayedCallDeps,
  metered: (binding: ServiceBinding<Principal>) => ServiceBinding<Principal>,
): ForwardCalls<Principal> {
  return {
    header: partHeader,
    bind(path, kind) {
      const typeName = path.slice(1, path.lastIndexOf('/'));
      if (known.test(typeName) && !isReflection({ typeName })) return undefined;
      const service = opaqueService(path, kind);
      return service && metered(relayed(service, () => (message) => opaqueName(message), deps));
    },
  };
}
