/** Which calls count as contact of a part (D17, ADR-0019). Pure. */
import type { Principal } from '../../access/principal.ts';

/**
 * A call is contact of the part when it came with the part's own credentials, or with a key whose roles are on the part's
 * machine and nothing else: such a key was made for that machine. Whoever else names a part only looks at it or writes for it.
 */
export function isContact(principal: Principal, partId: string, machineId: string): boolean {
  if (principal.kind === 'part') return principal.partId === partId;
  if (principal.kind === 'person') return false;
  return principal.grants.length > 0 && principal.grants.every((grant) => grant.robotId === machineId);
}
