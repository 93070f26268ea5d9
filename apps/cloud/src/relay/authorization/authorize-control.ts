/** Whether a caller reaches a machine; the refusal of a key says how to get one that does. */
import { machineKeyAdvice, PlatformError } from '@platform/base';
import type { Access } from '../../access/authorize.ts';
import type { Lineage, Principal } from '../../access/principal.ts';

/** What a caller does to a machine. */
export type ControlAction = 'part.control' | 'part.manage';

/** @throws not_found, permission_denied */
export function authorizeControl(
  access: Pick<Access, 'authorize'>,
  principal: Principal,
  action: ControlAction,
  partId: string,
): Lineage {
  try {
    return access.authorize(principal, action, partId);
  } catch (caught) {
    if (principal.kind !== 'key' || !(caught instanceof PlatformError)) throw caught;
    const why =
      caught.code === 'not_found' ? 'This API key does not reach' : 'The role of this API key is too small for';
    const role = action === 'part.manage' ? 'owner' : 'operator';
    throw new PlatformError(caught.code, `${caught.message}. ${machineKeyAdvice(why, role)}`);
  }
}
