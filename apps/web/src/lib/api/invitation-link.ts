/** A new link for a pending invitation, where no mail server sends it. */
import { messageOf } from './session.svelte.ts';

/** @throws Error with what the cloud said */
export async function invitationLink(organizationId: string, email: string): Promise<string> {
  const answer = await fetch('/api/invitations/link', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ organizationId, email }),
  });
  if (!answer.ok) throw new Error(await messageOf(answer));
  return ((await answer.json()) as { link: string }).link;
}
