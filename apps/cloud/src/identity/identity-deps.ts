/** Dependencies of this folder's operations. */
import type { ClockAndLog } from '@platform/base';
import type { Access } from '../access/authorize.ts';
import type { GuessLimit } from '../access/guess-limit.ts';
import type { AccountTree } from '../accounts/tree.ts';
import type { Database } from '../metadata/tables.ts';
import type { Mail } from '../outbox/email/mail.ts';
import type { Sessions } from './sign-in/sessions.ts';

export interface IdentityOperationDeps extends ClockAndLog {
  readonly db: Database;
  readonly sessions: Sessions;
  readonly guesses: GuessLimit;
  readonly access: Access;
  readonly tree: Pick<AccountTree, 'organization'>;
  /** Absent: no mail server is configured, and links are shown to the person who creates them. */
  readonly mail: Mail | undefined;
  /** The OpenID Connect issuer with which people can sign in; undefined: not configured. */
  readonly openIdIssuer: string | undefined;
  /** Public URL of this installation, without a trailing slash. */
  publicUrl(): string;
  /** Maximum number of invitations that an organization may mail in 24 hours. */
  invitationMailsPerDay(organizationId: string): number;
  /** Must be called after a commit that changed roles or sessions. */
  forget(): void;
}
