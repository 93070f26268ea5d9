import { ask } from '../api/session.svelte.ts';
import { type Caught, type InboxMessage, messageOf } from './inbox.ts';

/** The messages in the test inbox that the person may see, newest first. @throws Error with the cloud's message */
export async function readInbox(signal: AbortSignal): Promise<readonly InboxMessage[]> {
  const answer = await ask('/test-inbox/requests', { signal });
  const { requests }: { readonly requests: readonly Caught[] } = await answer.json();
  return requests.map(messageOf).toReversed();
}
