/** The invitation mail. Its reader may never have heard of this installation, and anyone may have chosen the organization's name. */
import type { MailMessage } from '../../outbox/email/mail.ts';
import type { IdentityOperationDeps } from '../identity-deps.ts';
import { linkOf } from './invitation-link.ts';

/** Longer names are truncated, so that they cannot carry a message in the subject. */
const maxNameLength = 40;

export function invitationMail(
  deps: Pick<IdentityOperationDeps, 'publicUrl' | 'tree'>,
  to: { organizationId: string; email: string; invitedBy: string },
  token: string,
): MailMessage {
  const name = plainName(deps.tree.organization(to.organizationId)?.name ?? '');
  const what = name === '' ? 'an organization' : `the organization "${name}"`;
  const host = new URL(deps.publicUrl()).host;
  const who = to.invitedBy === '' ? 'You are invited' : `${to.invitedBy} invites you`;
  return {
    to: to.email,
    kind: 'invitation',
    organizationId: to.organizationId,
    subject: `Invitation to ${what} on ${host}`,
    text: `${who} to join ${what} on ${host}.\n\nTo accept, open this link within 7 days; it works once:\n\n${linkOf(deps, token)}\n\nIf you did not expect this, ignore this mail.\n`,
  };
}

/** Keeps only letters, digits and single spaces, so that a mail program sees no link in the name and it cannot form sentences. */
export function plainName(name: string): string {
  const plain = name
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N}&'-]+/gu, ' ')
    .trim();
  const characters = [...plain];
  return characters.length <= maxNameLength ? plain : `${characters.slice(0, maxNameLength).join('').trimEnd()}…`;
}
