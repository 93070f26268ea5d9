/** All triggers of an organization, page after page. */
import { type Trigger, TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { clientOf } from '../api/clients.ts';

/** More are not asked for. */
export const mostTriggers = 5_000;
const client = clientOf(TriggerService);

/** @throws ConnectError */
export async function listAllTriggers(organizationId: string, signal: AbortSignal): Promise<readonly Trigger[]> {
  const scope = { case: 'organizationId', value: organizationId } as const;
  const found: Trigger[] = [];
  for (let pageToken: string | undefined = ''; pageToken !== undefined && found.length < mostTriggers; ) {
    const answer: Awaited<ReturnType<typeof client.listTriggers>> = await client.listTriggers(
      { scope, pageToken, limit: 500 },
      { signal },
    );
    found.push(...answer.triggers);
    pageToken = answer.nextPageToken || undefined;
  }
  return found;
}
