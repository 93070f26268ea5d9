/** One-time links and codes: created for one person, usable once, deleted when they expire. */
import type { Clock } from '@platform/base';
import type { Database } from '../../metadata/tables.ts';
import type { IdentityTables } from '../store.ts';
import { hashToken, newToken } from './token.ts';

export type LinkPurpose = IdentityTables['one_time_links']['purpose'];

/** Lifetime by purpose. Codes for the command line are used at once. */
export const linkLifeMs: Readonly<Record<LinkPurpose, number>> = {
  'sign-in': 86_400_000,
  reset: 3_600_000,
  cli: 300_000,
};

export interface LinkUse {
  readonly personId: string;
  readonly challenge: string | null;
  readonly mailed: boolean;
}

/** Returns the token of a new link, which replaces the person's older links of this purpose. */
export async function createLink(
  trx: Database,
  clock: Clock,
  link: { purpose: LinkPurpose; personId: string; challenge?: string; mailed?: boolean },
): Promise<string> {
  const { purpose, personId, challenge, mailed = false } = link;
  const { token, hash } = newToken();
  const nowMs = clock.now();
  await trx.deleteFrom('one_time_links').where('person_id', '=', personId).where('purpose', '=', purpose).execute();
  await trx
    .insertInto('one_time_links')
    .values({
      token_hash: hash,
      purpose,
      person_id: personId,
      challenge: challenge ?? null,
      mailed: mailed ? 1 : 0,
      created_ms: nowMs,
      expires_ms: nowMs + linkLifeMs[purpose],
    })
    .execute();
  return token;
}

/** Whether the link is valid now; does not use it up. */
export async function isValidLink(db: Database, clock: Clock, purpose: LinkPurpose, token: string): Promise<boolean> {
  const row = await db
    .selectFrom('one_time_links')
    .select('person_id')
    .where('token_hash', '=', hashToken(token))
    .where('purpose', '=', purpose)
    .where('expires_ms', '>', clock.now())
    .executeTakeFirst();
  return row !== undefined;
}

/** Uses the link up; undefined if it is not valid. */
export async function takeLink(
  trx: Database,
  clock: Clock,
  purpose: LinkPurpose,
  token: string,
): Promise<LinkUse | undefined> {
  const row = await trx
    .deleteFrom('one_time_links')
    .where('token_hash', '=', hashToken(token))
    .where('purpose', '=', purpose)
    .returning(['person_id', 'challenge', 'mailed', 'expires_ms'])
    .executeTakeFirst();
  if (row === undefined || row.expires_ms <= clock.now()) return undefined;
  return { personId: row.person_id, challenge: row.challenge, mailed: row.mailed === 1 };
}
