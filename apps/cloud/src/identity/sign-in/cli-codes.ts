/**
 * Codes that a command line exchanges for a session of the person who allowed it: each is bound to one challenge and used once (RFC
 * 7636).
 */
import { createHash } from 'node:crypto';
import { invalidArgument, unauthenticated } from '@platform/base';
import { proven } from '../../access/too-many-guesses.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { findPerson } from '../people.ts';
import { beginSession } from './begin-session.ts';
import { createLink, takeLink } from './links.ts';
import type { NewSession } from './sessions.ts';

const wrongCode = 'code: expected an unused one from the last 5 minutes for this verifier, found another; log in again';

/** SHA-256 as base64url. */
export const challengePattern: RegExp = /^[\w-]{43}$/;

/** @throws invalid_argument */
export async function createCliCode(deps: IdentityOperationDeps, personId: string, challenge: string): Promise<string> {
  if (!challengePattern.test(challenge))
    throw invalidArgument('challenge: expected the SHA-256 of a verifier as base64url, found another value');
  return deps.db.transaction().execute((trx) => createLink(trx, deps.clock, { purpose: 'cli', personId, challenge }));
}

/** A wrong verifier also uses the code up. @throws unauthenticated, resource_exhausted */
export async function redeemCliCode(
  deps: IdentityOperationDeps,
  given: { code: string; verifier: string },
  peerAddress: string,
): Promise<NewSession & { personId: string; email: string }> {
  const guess = { credential: 'cli code', peerAddress, kind: 'secret' } as const;
  const take = () =>
    deps.db.transaction().execute(async (trx) => {
      const use = await takeLink(trx, deps.clock, 'cli', given.code);
      if (use === undefined || use.challenge !== createHash('sha256').update(given.verifier).digest('base64url'))
        return undefined;
      const person = await findPerson(trx, { id: use.personId });
      if (person === undefined) return undefined;
      const session = await beginSession(deps, trx, person, 'command line', peerAddress, 'cli');
      return { ...session, personId: person.id, email: person.email };
    });
  return proven(deps.guesses, guess, take, () => unauthenticated(wrongCode));
}
