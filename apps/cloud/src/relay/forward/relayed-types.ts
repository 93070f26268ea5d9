/**
 * Calls to types that only a module of the machine knows, and to the reflection of the machine, which describes them. Both are forwarded by
 * the name of the method, unread.
 */

import { isReflection } from '@platform/resources';
import type { ForwardCalls } from '@platform/rpc/server';
import type { CloudBinding, Principal } from '../../access/principal.ts';
import { hostHeader, partHeader } from '../named-part.ts';
import { opaqueName, opaqueService } from './opaque-service.ts';
import type { RelayedCallDeps } from './relayed-call.ts';
import { relayed } from './relayed-services.ts';

/**
 * Packages whose services the cloud knows; any of their services that it does not know is newer than the cloud, and may need another
 * permission.
 */
const known = /^(platform|viam|proto|grpc|google)\./;

/** @param metered wraps each binding: callers choose the names of methods, so these must not become labels */
export function forwardTypes(
  deps: RelayedCallDeps,
  metered: (binding: CloudBinding) => CloudBinding,
): ForwardCalls<Principal> {
  const leadsToMachine = (host: string | string[] | undefined): boolean =>
    typeof host === 'string' && deps.names.lead(host).to === 'part';
  return {
    // The reflection of a machine is asked for by header only: at a machine's name the cloud answers for itself.
    forwards: (path, headers) =>
      headers[partHeader] !== undefined ||
      (!isReflection({ typeName: typeNameOf(path) }) &&
        (headers[hostHeader] !== undefined || leadsToMachine(headers[':authority'] ?? headers.host))),
    bind(path, kind) {
      const typeName = typeNameOf(path);
      if (known.test(typeName) && !isReflection({ typeName })) return undefined;
      const service = opaqueService(path, kind);
      return service && metered(relayed(service, () => (message) => opaqueName(message), deps));
    },
  };
}

function typeNameOf(path: string): string {
  return path.slice(1, path.lastIndexOf('/'));
}
