/** Who may do what: API keys, roles and the audit trail, as handlers of the two services. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { auditHandlers } from './audit-rpc.ts';
import type { KeyDeps } from './change-key.ts';
import { keyHandlers } from './key-rpc.ts';
import type { KeyUse } from './key-use.ts';
import type { CloudHandlers } from './principal.ts';
import { roleHandlers } from './role-rpc.ts';

export interface AccessRpc {
  readonly appHandlers: CloudHandlers<typeof AppService>;
  readonly fleetHandlers: CloudHandlers<typeof FleetService>;
}

export interface AccessRpcDeps extends KeyDeps {
  readonly keyUse: KeyUse;
}

export function createAccessRpc(deps: AccessRpcDeps): AccessRpc {
  const keys = keyHandlers(deps);
  return {
    appHandlers: { ...keys.app, ...roleHandlers(deps) },
    fleetHandlers: { ...keys.fleet, ...auditHandlers(deps) },
  };
}
