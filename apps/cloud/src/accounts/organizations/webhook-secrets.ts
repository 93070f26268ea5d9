/**
 * The keys that sign an organization's webhooks. After a rotation the former key still signs, together with the new one, until the overlap
 * ends: receivers accept a request if one of its signatures is right (Standard Webhooks), so that they can change keys without losing any
 * requests.
 */

import { failedPrecondition, invalidArgument } from '@platform/base';
import { audit, type Caller, type OwnActor } from '../../access/audit.ts';
import { notVisible } from '../../access/principal.ts';
import { countRows } from '../../metadata/count-rows.ts';
import type { AccountsDeps } from '../accounts-deps.ts';
import { newWebhookSecret } from '../insert-account-rows.ts';

const maxOverlapMs = 366 * 86_400_000;
/** Further rotations are refused until an overlap ends, so that requests stay small. */
const maxFormer = 4;

type SecretDeps = Pick<AccountsDeps, 'db' | 'tree' | 'instanceKey' | 'clock'>;

export interface WebhookSecret {
  /** `whsec_` and base64. */
  readonly secret: string;
  /** When it no longer signs; undefined: it is the current one. */
  readonly endsMs: number | undefined;
}

/** The keys that sign now, the current one first; empty: the organization does not exist. */
export async function webhookSecrets(
  { db, tree, instanceKey, clock }: SecretDeps,
  organizationId: string,
): Promise<readonly WebhookSecret[]> {
  const organization = tree.organization(organizationId);
  if (organization === undefined) return [];
  const former = await db
    .selectFrom('former_webhook_secrets')
    .select(['secret', 'ends_ms'])
    .where('organization_id', '=', organizationId)
    .where('ends_ms', '>', clock.now())
    .orderBy('ends_ms', 'desc')
    .execute();
  return [
    { secret: instanceKey.decrypt(organization.webhook_secret), endsMs: undefined },
    ...former.map(({ secret, ends_ms: endsMs }) => ({ secret: instanceKey.decrypt(secret), endsMs })),
  ];
}

/** The caller must own the organization. @param overlapMs how long the former key still signs; 0: not at all */
export async function rotateWebhookSecret(
  { tree, instanceKey, clock }: SecretDeps,
  by: Caller | OwnActor,
  organizationId: string,
  overlapMs: number,
): Promise<void> {
  if (!(Number.isSafeInteger(overlapMs) && overlapMs >= 0 && overlapMs <= maxOverlapMs))
    throw invalidArgument(`overlap: expected 0 to ${maxOverlapMs / 86_400_000} days, found ${overlapMs / 1_000} s`);
  const secret = newWebhookSecret();
  const nowMs = clock.now();
  const formerEndsMs = nowMs + overlapMs;
  await tree.change(async (trx, changed) => {
    const before = await trx
      .selectFrom('organizations')
      .select('webhook_secret')
      .where('id', '=', organizationId)
      .executeTakeFirstOrThrow(() => notVisible('organization', organizationId));
    await trx
      .deleteFrom('former_webhook_secrets')
      .where('organization_id', '=', organizationId)
      .where((eb) => (overlapMs === 0 ? eb.lit(true) : eb('ends_ms', '<=', nowMs)))
      .execute();
    const kept = await countRows(
      trx.selectFrom('former_webhook_secrets').where('organization_id', '=', organizationId),
    );
    if (kept >= maxFormer)
      throw failedPrecondition(
        `expected at most ${maxFormer} former secrets whose overlap has not ended, found ${kept}; wait until one ends, or rotate without overlap, which ends all of them`,
      );
    if (overlapMs > 0)
      await trx
        .insertInto('former_webhook_secrets')
        .values({ organization_id: organizationId, secret: before.webhook_secret, ends_ms: formerEndsMs })
        .execute();
    const row = await trx
      .updateTable('organizations')
      .set({ webhook_secret: instanceKey.encrypt(secret) })
      .where('id', '=', organizationId)
      .returningAll()
      .executeTakeFirstOrThrow(() => notVisible('organization', organizationId));
    const detail = { former_ends: new Date(formerEndsMs).toISOString() };
    const target = ['organization', organizationId, organizationId] as const;
    await audit(trx, by, nowMs, 'FleetService.RotateWebhookSecret', target, detail);
    changed.organization(row);
  });
}
