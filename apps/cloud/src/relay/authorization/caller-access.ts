/** What a caller may do to a machine, as machines learn it. */
import { CallerAccess } from '@platform/proto/platform/relay/v1/relay';
import type { Access } from '../../access/authorize.ts';
import type { Principal } from '../../access/principal.ts';

export function callerAccess(access: Pick<Access, 'allows'>, principal: Principal, partId: string): CallerAccess {
  if (access.allows(principal, 'part.manage', partId)) return CallerAccess.MANAGE;
  return access.allows(principal, 'part.control', partId) ? CallerAccess.CONTROL : CallerAccess.UNSPECIFIED;
}
