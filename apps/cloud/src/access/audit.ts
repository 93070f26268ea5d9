/** Writes the audit trail: one entry for each change of state, in the transaction that makes the change. */
import type { Insertable } from 'kysely';
import type { Database } from '../metadata/tables.ts';
import type { Principal } from './principal.ts';
import type { AccessTables } from './store.ts';

/** Who acts, and from which address. An RPC call has this shape. */
export interface Caller {
  readonly principal: Principal;
  readonly peerAddress: string;
}

/** Who did something, as stored in a record. */
export interface Author {
  /** `person`, `api-key`, `part`, `admin` or `platform`. */
  readonly kind: string;
  readonly id: string;
  /** E-mail address or name at the time; may be empty. */
  readonly name: string;
}

/** The actor of a change that was not requested over the network: the host administrator, or the platform itself. */
export interface OwnActor {
  readonly kind: 'admin' | 'platform';
  readonly name: string;
}

/** What was changed, and in which organization; null: the installation itself. */
export type AuditTarget = readonly [kind: string, id: string, organizationId: string | null];

/**
 * @param trx the transaction of the change itself.
 * @param action the operation, such as `AppService.DeleteRobot`.
 * @param detail what changed; never a secret.
 */
export async function audit(
  trx: Database,
  by: Caller | OwnActor,
  nowMs: number,
  action: string,
  target: AuditTarget,
  detail: Readonly<Record<string, unknown>> = {},
): Promise<void> {
  await trx
    .insertInto('audit_entries')
    .values(entryOf(by, nowMs, action, target, detail))
    .execute();
}

/** The row of an entry. Parameters as for `audit`. */
export function entryOf(
  by: Caller | OwnActor,
  nowMs: number,
  action: string,
  [target_kind, target_id, organization_id]: AuditTarget,
  detail: Readonly<Record<string, unknown>>,
): Insertable<AccessTables['audit_entries']> {
  const { kind: actor_kind, id: actor_id, name: actor_name } = authorOf(by);
  const actor = { actor_kind, actor_id, actor_name, peer_address: 'kind' in by ? '' : by.peerAddress };
  const change = { action, organization_id, target_kind, target_id, detail: JSON.stringify(detail) };
  return { at_ms: nowMs, ...actor, ...change };
}

export function authorOf(by: Caller | OwnActor): Author {
  if ('kind' in by) return { kind: by.kind, id: '', name: by.name };
  const { principal } = by;
  if (principal.kind === 'key') return { kind: 'api-key', id: principal.keyId, name: principal.keyName ?? '' };
  if (principal.kind === 'person') return { kind: 'person', id: principal.personId, name: principal.email };
  return { kind: 'part', id: principal.partId, name: '' };
}
