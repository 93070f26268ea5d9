/** Who may do what: API keys, roles and the audit trail, as the two services offer them. */
import type { AppService } from '@platform/proto/platform/app/v1/app';
import type { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import type { Handlers } from '@platform/rpc/server';
import { auditHandlers } from './audit-rpc.ts';
import type { KeyDeps } from './change-key.ts';
import { keyHandlers } from './key-rpc.ts';
import type { KeyUse } from './key-use.ts';
import type { Principal } from './principal.ts';
import { roleHandlers } from './role-rpc.ts';

export interface AccessHandlers {
  readonly app: Handlers<typeof AppService, Principal>;
  readonly fleet: Handlers<typeof FleetService, Principal>;
}

export function accessHandlers(deps: KeyDeps & { readonly keyUse: KeyUse }): AccessHandlers {
  const keys = keyHandlers(deps);
  return {
    app: { ...keys.app, ...roleHandlers(deps) },
    fleet: { ...keys.fleet, ...auditHandlers(deps) },
  };
}
