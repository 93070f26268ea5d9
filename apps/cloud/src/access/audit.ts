/** Writes the audit trail: one entry for each change of state, in the transaction that makes the change. */
import type { Kysely } from 'kysely';
import type { CloudTables } from '../metadata/tables.ts';
import type { Principal } from './principal.ts';
import type { AccessTables } from './store.ts';

/** Who does something, where from. An RPC's call has this shape. */
export interface Caller {
  readonly principal: Principal;
  readonly peerAddress: string;
}

/** A change that no one called for over the network: the host administrator, or the platform itself. */
export interface OwnActor {
  readonly kind: 'admin' | 'platform';
  readonly name: string;
}

export interface Change {
  /** The operation, such as `AppService.DeleteRobot`. */
  readonly action: string;
  /** Null: the installation itself. */
  readonly organizationId: string | null;
  readonly targetKind: string;
  readonly targetId: string;
  /** What changed; never a secret. */
  readonly detail?: Readonly<Record<string, unknown>>;
}

/** @param trx the transaction of the change itself. */
export async function audit(
  trx: Kysely<CloudTables>,
  by: Caller | OwnActor,
  change: Change,
  nowMs: number,
): Promise<void> {
  await trx
    .insertInto('audit_entries')
    .values({
      at_ms: nowMs,
      ...actorOf(by),
      action: change.action,
      organization_id: change.organizationId,
      target_kind: change.targetKind,
      target_id: change.targetId,
      detail: JSON.stringify(change.detail ?? {}),
    })
    .execute();
}

type ActorColumns = Pick<AccessTables['audit_entries'], 'actor_kind' | 'actor_id' | 'actor_name' | 'peer_address'>;

function actorOf(by: Caller | OwnActor): ActorColumns {
  if ('kind' in by) return { actor_kind: by.kind, actor_id: '', actor_name: by.name, peer_address: '' };
  const { principal, peerAddress } = by;
  if (principal.kind === 'key')
    return {
      actor_kind: 'api-key',
      actor_id: principal.keyId,
      actor_name: principal.keyName ?? '',
      peer_address: peerAddress,
    };
  if (principal.kind === 'person')
    return {
      actor_kind: 'person',
      actor_id: principal.personId,
      actor_name: principal.email,
      peer_address: peerAddress,
    };
  return { actor_kind: 'part', actor_id: principal.partId, actor_name: '', peer_address: peerAddress };
}
