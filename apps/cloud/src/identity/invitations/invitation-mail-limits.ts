/**
 * Limits how many invitations are mailed. Anyone may create organizations and invite any address, and a mail server that sends unwanted
 * mail soon loses its reputation. Mails are counted by organization and by address, so deleting and recreating an invitation or
 * organization does not reset the limit.
 */
import { resourceExhausted } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';

const dayMs = 86_400_000;
/** Minimum interval between two mails from one organization to one address. */
const apartMs = 600_000;
/** Mails to one address from all organizations together. */
const perRecipient = 100;

interface Invited {
  readonly organizationId: string;
  readonly email: string;
}

type Deps = Pick<IdentityOperationDeps, 'clock' | 'invitationMailsPerDay'>;

/**
 * Counts a mail, in the transaction that sends it. Returns false if it must not be sent and the caller may not know why, because others
 * have just mailed the address.
 *
 * @param by the sender.
 * @param readsMembers whether the sender may know whom others invited.
 * @throws resource_exhausted, stating when the address may be mailed again
 */
export async function admitMail(
  deps: Deps,
  trx: Database,
  { organizationId, email }: Invited,
  { by, readsMembers }: { by: string; readsMembers: boolean },
): Promise<boolean> {
  const nowMs = deps.clock.now();
  const recent = await trx
    .selectFrom('invitation_mails')
    .select(['sent_by', 'sent_ms'])
    .where('organization_id', '=', organizationId)
    .where('recipient', '=', email)
    .where('sent_ms', '>', nowMs - apartMs)
    .orderBy('sent_ms', 'desc')
    .execute();
  const known = recent.find((one) => readsMembers || one.sent_by === by);
  if (known !== undefined) {
    const sentMs = Number(known.sent_ms);
    throw resourceExhausted(
      `invitation of ${email}: expected at most one mail in ${apartMs / 60_000} minutes, found one from ${timeText(sentMs)}; it can be mailed again at ${timeText(sentMs + apartMs)}`,
    );
  }
  await requireDailyRoom(deps, trx, { organizationId, email });
  await trx
    .insertInto('invitation_mails')
    .values({ organization_id: organizationId, recipient: email, sent_by: by, sent_ms: nowMs })
    .execute();
  return recent.length === 0;
}

async function requireDailyRoom(deps: Deps, trx: Database, { organizationId, email }: Invited): Promise<void> {
  const bounds = [
    {
      column: 'organization_id',
      value: organizationId,
      most: deps.invitationMailsPerDay(organizationId),
      who: `organization ${organizationId}`,
      hint: 'the host administrator can set another limit (invitation-mails-per-day)',
    },
    {
      column: 'recipient',
      value: email,
      most: perRecipient,
      who: email,
      hint: 'this protects the owner of the address',
    },
  ] as const;
  for (const { column, value, most, who, hint } of bounds) {
    const newest = await trx
      .selectFrom('invitation_mails')
      .select('sent_ms')
      .where(column, '=', value)
      .where('sent_ms', '>', deps.clock.now() - dayMs)
      .orderBy('sent_ms', 'desc')
      .limit(Math.max(most, 1))
      .execute();
    if (newest.length < most) continue;
    const free = most === 0 ? '' : `; the next one can be sent at ${timeText(Number(newest.at(-1)?.sent_ms) + dayMs)}`;
    throw resourceExhausted(
      `invitations: expected at most ${most} mails for ${who} in 24 hours, found that many already${free}; ${hint}`,
    );
  }
}

/** Deletes counts that no longer matter. */
export async function pruneMailCounts(db: Database, nowMs: number): Promise<void> {
  await db
    .deleteFrom('invitation_mails')
    .where('sent_ms', '<=', nowMs - dayMs)
    .execute();
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
