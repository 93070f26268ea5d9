/** The triggers of the organization whose notifications reach nobody, for the navigation, which is on every page. */
import { TriggerService } from '@platform/proto/platform/app/v1/triggers';
import { clientOf } from '../api/clients.ts';
import { type Polled, poll } from '../api/poll.svelte.ts';
import { troubles } from './looks.ts';

const everyMs = 20_000;
const most = 99;
const client = clientOf(TriggerService);

/** @returns such as `3`, or `99+`; empty: none, or not known, for example to somebody without a role on the organization */
export function pollTroubles(organizationId: () => string): Polled<string> {
  return poll(async (signal) => {
    const scope = { case: 'organizationId', value: organizationId() } as const;
    const request = { scope, states: [...troubles], inTrouble: true, limit: most };
    const { triggers, nextPageToken } = await client.listTriggers(request, { signal });
    return triggers.length === 0 ? '' : `${triggers.length}${nextPageToken === '' ? '' : '+'}`;
  }, everyMs);
}
