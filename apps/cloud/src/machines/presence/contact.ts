/** Which calls count as contact of a part (D17, ADR-0019). Pure. */
import type { Principal } from '../../access/principal.ts';

/**
 * A call is contact of the part if it uses the part's own credentials, or a key whose roles are all on the part's machine: such a key was
 * made for that machine. Other callers that name a part only read its data or write for it.
 */
export function isContact(principal: Principal, partId: string, machineId: string): boolean {
  if (principal.kind === 'part') return principal.partId === partId;
  if (principal.kind === 'person') return false;
  return principal.grants.length > 0 && principal.grants.every((grant) => grant.robotId === machineId);
}
