/** A new link for a pending invitation, where no mail server sends it. */
import { askWith } from './session.svelte.ts';

/** @throws Error with what the cloud said */
export async function invitationLink(organizationId: string, email: string): Promise<string> {
  const answer = await askWith('/api/invitations/link', { organizationId, email });
  return ((await answer.json()) as { link: string }).link;
}
