/** A new link for a pending invitation, for a cloud without a mail server. */
import { askWith } from './session.svelte.ts';

/** @throws Error with the cloud's message */
export async function invitationLink(organizationId: string, email: string): Promise<string> {
  const answer = await askWith('/api/invitations/link', { organizationId, email });
  return ((await answer.json()) as { link: string }).link;
}
