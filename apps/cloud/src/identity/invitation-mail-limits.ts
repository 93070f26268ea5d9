/**
 * How many invitations are mailed: any person may create organizations and invite any address, and a mail server that sends
 * what strangers want is soon believed by nobody. Counted by organization and address, so that deleting an invitation, or
 * the organization, and beginning anew gains nothing.
 */
import { PlatformError } from '@platform/base';
import type { Database } from '../metadata/tables.ts';
import type { IdentityDeps } from './identity-deps.ts';

const dayMs = 86_400_000;
/** Between two mails of one organization to one address. */
const apartMs = 600_000;
/** To one address, from all organizations together. */
const perRecipient = 100;

interface Target {
  readonly organizationId: string;
  readonly email: string;
}

type Deps = Pick<IdentityDeps, 'clock' | 'invitationMailsPerDay'>;

/** When the organization may mail this address again; undefined: now. */
export async function mailableFromMs(deps: Deps, trx: Database, target: Target): Promise<number | undefined> {
  const nowMs = deps.clock.now();
  const row = await trx
    .selectFrom('invitation_mails')
    .select('sent_ms')
    .where('organization_id', '=', target.organizationId)
    .where('recipient', '=', target.email)
    .where('sent_ms', '>', nowMs - apartMs)
    .orderBy('sent_ms', 'desc')
    .limit(1)
    .executeTakeFirst();
  return row && Number(row.sent_ms) + apartMs;
}

/** In the transaction that mails. @throws resource_exhausted, which says when the address may be mailed again */
export async function requireApart(deps: Deps, trx: Database, target: Target): Promise<void> {
  const fromMs = await mailableFromMs(deps, trx, target);
  if (fromMs !== undefined)
    throw new PlatformError(
      'resource_exhausted',
      `invitation of ${target.email}: expected at most one mail in ${apartMs / 60_000} minutes, found one from ${timeText(fromMs - apartMs)}; it may be mailed again at ${timeText(fromMs)}`,
    );
}

/** Counts a mail, in the transaction that sends it. @throws resource_exhausted beyond what is mailed in 24 hours */
export async function countMail(deps: Deps, trx: Database, { organizationId, email }: Target): Promise<void> {
  const nowMs = deps.clock.now();
  const bounds = [
    {
      column: 'organization_id',
      value: organizationId,
      most: deps.invitationMailsPerDay(organizationId),
      who: `organization ${organizationId}`,
      hint: 'the host administrator can set another limit (invitation-mails-per-day)',
    },
    { column: 'recipient', value: email, most: perRecipient, who: email, hint: 'this protects who has the address' },
  ] as const;
  for (const { column, value, most, who, hint } of bounds) {
    const newest = await trx
      .selectFrom('invitation_mails')
      .select('sent_ms')
      .where(column, '=', value)
      .where('sent_ms', '>', nowMs - dayMs)
      .orderBy('sent_ms', 'desc')
      .limit(Math.max(most, 1))
      .execute();
    if (newest.length < most) continue;
    const freeMs = most === 0 ? undefined : Number(newest.at(-1)?.sent_ms) + dayMs;
    throw new PlatformError(
      'resource_exhausted',
      `invitations: expected at most ${most} mails for ${who} in 24 hours, found as many${freeMs === undefined ? '' : `; the next may be sent at ${timeText(freeMs)}`}; ${hint}`,
    );
  }
  await trx
    .insertInto('invitation_mails')
    .values({ organization_id: organizationId, recipient: email, sent_ms: nowMs })
    .execute();
}

/** Forgets what counts no more. */
export async function forgetCountedMails(db: Database, nowMs: number): Promise<void> {
  await db
    .deleteFrom('invitation_mails')
    .where('sent_ms', '<=', nowMs - dayMs)
    .execute();
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
