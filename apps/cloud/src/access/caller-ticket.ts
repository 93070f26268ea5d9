/**
 * Tickets: what a machine gets about the caller of a connection that does not go through the cloud (ADR-0094). With it, the machine asks the
 * cloud what that caller may still do. A ticket is no credential: it is sealed with the instance key, opens nothing, and is good only for
 * questions of the part for which it was issued. Any process of this installation can read it, also after a restart.
 *
 * It names the same key or session, and the same epoch of its secret, as the token of the call; so both end together (D5).
 */
import type { InstanceKey } from '../instance/instance-key.ts';
import type { TokenClaims } from './access-token.ts';

/** Sealed secrets of other kinds are no tickets. */
const purpose = 'caller ticket';
/** Bytes. Tickets that we issue have less than half of it. */
const maxTicketBytes = 1_024;

export function issueTicket(
  instanceKey: Pick<InstanceKey, 'encrypt'>,
  { kind, id, epoch }: TokenClaims,
  partId: string,
  nowMs: number,
): Uint8Array {
  return instanceKey.encrypt(JSON.stringify([purpose, kind, id, epoch, partId, nowMs]));
}

/** Whose ticket it is; undefined unless this installation issued it for this part. */
export function readTicket(
  instanceKey: Pick<InstanceKey, 'decrypt'>,
  ticket: Uint8Array,
  partId: string,
): TokenClaims | undefined {
  if (ticket.length > maxTicketBytes) return undefined;
  let fields: unknown;
  try {
    fields = JSON.parse(instanceKey.decrypt(ticket));
  } catch {
    // Not sealed by us, or not a ticket.
    return undefined;
  }
  if (!Array.isArray(fields) || fields[0] !== purpose || fields[4] !== partId) return undefined;
  const [, kind, id, epoch] = fields;
  return { kind, id, epoch };
}
