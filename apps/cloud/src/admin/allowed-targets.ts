/**
 * Loopback targets that the host administrator allows for the webhooks of one organization (D43). Kept in memory for cheap reads: a change
 * applies to the next attempt.
 */
import { invalidArgument, notFound } from '@platform/base';
import { audit, type OwnActor } from '../access/audit.ts';
import { readChecked } from '../metadata/row-checks/read-checked.ts';
import type { Database } from '../metadata/tables.ts';
import {
  type LoopbackRule,
  type LoopbackTarget,
  readLoopbackTarget,
  targetText,
} from '../outbox/webhook/loopback-target.ts';
import { requireOrganization } from './limits.ts';
import { allowedWebhookTargets as table } from './store.ts';

export interface AllowedTargetsDeps {
  readonly db: Database;
  /** Ports on which the platform and its database listen now, as far as this process knows. */
  readonly ownPorts: () => readonly number[];
  /** Of the option --webhook-allow; they count while there is exactly one organization. */
  readonly option: readonly LoopbackTarget[];
  /** Ids of all organizations. */
  readonly organizations: () => readonly string[];
}

export interface AllowedTarget {
  /** Null: of the option, while there are several organizations or none. */
  readonly organizationId: string | null;
  /** Such as `127.0.0.1:1880`. */
  readonly target: string;
  /** Whether it comes from the option --webhook-allow. */
  readonly isOption: boolean;
  /** Null: of the option. */
  readonly allowedMs: number | null;
  /** Why it has no effect at the moment. */
  readonly ignoredBecause: string | null;
}

export interface AllowedTargets extends LoopbackRule {
  /** @param organizationId absent: of all organizations */
  list(organizationId?: string): Promise<AllowedTarget[]>;
  /**
   * Audited, unless it is allowed already.
   *
   * @throws invalid_argument for anything but a loopback address with a port that is not the platform's own; not_found for an unknown
   * organization
   */
  allow(organizationId: string, target: string, by: OwnActor, nowMs: number): Promise<void>;
  /** Audited. @throws invalid_argument, not_found */
  disallow(organizationId: string, target: string, by: OwnActor, nowMs: number): Promise<void>;
}

export async function openAllowedTargets(deps: AllowedTargetsDeps): Promise<AllowedTargets> {
  const { db, ownPorts, option, organizations } = deps;
  const allowed = await readAllowed(db);
  const optional = new Set(option.map(targetText));
  const isOwnPort = (port: number): boolean => ownPorts().includes(port);
  const onlyOrganization = (): string | undefined => {
    const [first, ...others] = organizations();
    return others.length === 0 ? first : undefined;
  };
  const ownPortText = (port: number): string => `the platform or its database listens on port ${port}`;

  return {
    isOwnPort,
    allows(organizationId, address, port) {
      const target = targetText({ address, port });
      if (isOwnPort(port)) return false;
      return (
        allowed.has(keyOf(organizationId, target)) || (optional.has(target) && onlyOrganization() === organizationId)
      );
    },
    async list(organizationId) {
      const rows = await db
        .selectFrom('allowed_webhook_targets')
        .selectAll()
        .$if(organizationId !== undefined, (query) => query.where('organization_id', '=', organizationId ?? ''))
        .orderBy('organization_id')
        .orderBy('address')
        .orderBy('port')
        .execute();
      const stored = rows.map((row): AllowedTarget => {
        const target = targetText(row);
        const isKnown = allowed.has(keyOf(row.organization_id, target));
        return {
          ...{ organizationId: row.organization_id, target, isOption: false, allowedMs: row.allowed_ms },
          ignoredBecause: isOwnPort(row.port) ? ownPortText(row.port) : isKnown ? null : 'its stored row was altered',
        };
      });
      const only = onlyOrganization();
      const given = option.map((one): AllowedTarget => {
        const several = only === undefined ? 'it needs exactly one organization in the installation' : null;
        return {
          ...{ organizationId: only ?? null, target: targetText(one), isOption: true, allowedMs: null },
          ignoredBecause: isOwnPort(one.port) ? ownPortText(one.port) : several,
        };
      });
      return [
        ...stored,
        ...given.filter((one) => organizationId === undefined || one.organizationId === organizationId),
      ];
    },
    async allow(organizationId, text, by, nowMs) {
      const { address, port } = readLoopbackTarget(text, 'target');
      if (isOwnPort(port))
        throw invalidArgument(`target: expected a port of another program, found ${port}: ${ownPortText(port)}`);
      const target = targetText({ address, port });
      await db.transaction().execute(async (trx) => {
        await requireOrganization(trx, organizationId);
        const { numInsertedOrUpdatedRows: added } = await trx
          .insertInto('allowed_webhook_targets')
          .values({ organization_id: organizationId, address, port, allowed_ms: nowMs })
          .onConflict((conflict) => conflict.doNothing())
          .executeTakeFirst();
        if (added !== 0n)
          await audit(trx, by, nowMs, 'admin.webhooks.allow', ['webhook-target', target, organizationId], {
            name: target,
          });
      });
      allowed.add(keyOf(organizationId, target));
    },
    async disallow(organizationId, text, by, nowMs) {
      const { address, port } = readLoopbackTarget(text, 'target');
      const target = targetText({ address, port });
      // First: from now on no attempt may use it.
      const wasAllowed = allowed.delete(keyOf(organizationId, target));
      try {
        await db.transaction().execute(async (trx) => {
          await requireOrganization(trx, organizationId);
          const { numDeletedRows: deleted } = await trx
            .deleteFrom('allowed_webhook_targets')
            .where('organization_id', '=', organizationId)
            .where('address', '=', address)
            .where('port', '=', port)
            .executeTakeFirst();
          if (deleted === 0n)
            throw notFound(
              `target: expected one that is allowed for this organization, found ${target}; platform admin webhooks list shows them${optional.has(target) ? '. Those of --webhook-allow end with a start without the option' : ''}`,
            );
          await audit(trx, by, nowMs, 'admin.webhooks.disallow', ['webhook-target', target, organizationId], {
            name: target,
          });
        });
      } catch (caught) {
        if (wasAllowed) allowed.add(keyOf(organizationId, target));
        throw caught;
      }
    },
  };
}

/** Rows that something else altered or added allow nothing. */
async function readAllowed(db: Database): Promise<Set<string>> {
  const { rows, altered, incomplete } = await readChecked(db, table);
  const right = rows
    .map((row) => ({
      organizationId: String(row['organization_id']),
      target: targetText({ address: String(row['address']), port: Number(row['port']) }),
    }))
    .filter(({ organizationId }) => !altered.has(organizationId) && !incomplete.has(organizationId));
  return new Set(right.map(({ organizationId, target }) => keyOf(organizationId, target)));
}

function keyOf(organizationId: string, target: string): string {
  return `${organizationId}\0${target}`;
}

/** Deletes an organization's allowed targets in the transaction of its deletion. */
export async function organizationDeleting(trx: Database, organizationId: string): Promise<void> {
  await trx.deleteFrom('allowed_webhook_targets').where('organization_id', '=', organizationId).execute();
}
