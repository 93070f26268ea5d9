/** All triggers of an organization, page after page, those with problems first. */
import { type Trigger, TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { clientOf } from '../api/clients.ts';
import { troubles, urgencyOf } from './looks.ts';

/** More are not asked for. */
export const mostTriggers = 5_000;
/** As many as a page of them shows at once. */
export const mostShown = 200;
/** As many as a screen shows, with some below it. */
const mostFirst = 50;
const client = clientOf(TriggerService);
const scopeOf = (organizationId: string) => ({ case: 'organizationId', value: organizationId }) as const;

/** @throws ConnectError */
export async function listAllTriggers(organizationId: string, signal: AbortSignal): Promise<readonly Trigger[]> {
  const scope = scopeOf(organizationId);
  const found: Trigger[] = [];
  for (let pageToken: string | undefined = ''; pageToken !== undefined && found.length < mostTriggers; ) {
    const answer: Awaited<ReturnType<typeof client.listTriggers>> = await client.listTriggers(
      { scope, pageToken, limit: 500 },
      { signal },
    );
    found.push(...answer.triggers);
    pageToken = answer.nextPageToken || undefined;
  }
  return inOrder(found);
}

/** Those that the whole list begins with, in the same order, to be shown until it is there. @throws ConnectError */
export async function listFirstTriggers(organizationId: string, signal: AbortSignal): Promise<readonly Trigger[]> {
  const asked = { scope: scopeOf(organizationId), limit: mostFirst };
  const [inTrouble, others] = await Promise.all([
    client.listTriggers({ ...asked, states: [...troubles] }, { signal }),
    client.listTriggers(asked, { signal }),
  ]);
  const keyOf = ({ partId, path }: Trigger): string => `${partId}/${path}`;
  const known = new Set(inTrouble.triggers.map(keyOf));
  return inOrder([...inTrouble.triggers, ...others.triggers.filter((one) => !known.has(keyOf(one)))]);
}

const inOrder = (found: readonly Trigger[]): readonly Trigger[] =>
  found.toSorted((a, b) => urgencyOf(a.state) - urgencyOf(b.state));
