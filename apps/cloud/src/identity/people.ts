/** Stored people: finding them, and naming them as the author of an action. */
import type { Caller } from '../access/audit.ts';
import type { Database } from '../metadata/tables.ts';

export interface Person {
  readonly id: string;
  /** Empty until the first owner has set it. */
  readonly email: string;
  readonly emailVerified: boolean;
  readonly name: string;
  /** An IANA name; empty: none. */
  readonly timeZone: string;
  /** Absent: no password. */
  readonly passwordHash: string | undefined;
}

/** @param by an id, or an e-mail address as returned by `checkedEmail`. */
export async function findPerson(db: Database, by: { id: string } | { email: string }): Promise<Person | undefined> {
  const all = db
    .selectFrom('people')
    .leftJoin('passwords', 'passwords.person_id', 'people.id')
    .select([
      'people.id',
      'people.email',
      'people.email_verified',
      'people.name',
      'people.time_zone',
      'passwords.hash',
    ]);
  const row = await ('id' in by
    ? all.where('people.id', '=', by.id)
    : all.where('people.email', '=', by.email)
  ).executeTakeFirst();
  if (row === undefined) return undefined;
  return {
    id: row.id,
    email: row.email ?? '',
    emailVerified: row.email_verified === 1,
    name: row.name,
    timeZone: row.time_zone,
    passwordHash: row.hash ?? undefined,
  };
}

/** The person as a caller for the audit trail; without roles, because they are not checked. */
export function asCaller(person: { id: string; email: string }, peerAddress: string, sessionId = ''): Caller {
  return {
    principal: { kind: 'person', personId: person.id, sessionId, email: person.email, grants: [] },
    peerAddress,
  };
}
