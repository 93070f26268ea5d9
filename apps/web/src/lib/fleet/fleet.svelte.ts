/** The machines of the organization that is shown: one call, repeated, shared by the table, the palette and the machine pages. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { getContext, setContext } from 'svelte';
import { clientOf } from '../api/clients.ts';
import { type Polled, poll } from '../api/poll.svelte.ts';
import { type FleetRow, rowsOf } from './rows.ts';

const everyMs = 2_000;
const key = Symbol('fleet');
const app = clientOf(AppService);

/** In the layout of an organization. */
export function startFleet(organizationId: () => string): Polled<readonly FleetRow[]> {
  const fleet = poll(async (signal) => {
    const answer = await app.listMachineSummaries({ organizationId: organizationId() }, { signal });
    return rowsOf(answer);
  }, everyMs);
  return setContext(key, fleet);
}

export function useFleet(): Polled<readonly FleetRow[]> {
  return getContext(key);
}
