/** The machines of the current organization: one subscription, shared by the table, the palette and the machine pages. */
import { getContext, setContext } from 'svelte';
import { live } from '../api/live.svelte.ts';
import type { Polled } from '../api/poll.svelte.ts';
import { type FleetRow, rowsAfter } from './rows.ts';

const key = Symbol('fleet');

/** Call it in the layout of an organization. */
export function startFleet(organizationId: () => string): Polled<readonly FleetRow[]> {
  const fleet = live<readonly FleetRow[]>(
    () => ({ case: 'fleetOf', value: organizationId() }),
    (content, before = []) => (content.case === 'fleet' ? rowsAfter(content.value, before) : before),
  );
  return setContext(key, fleet);
}

export function useFleet(): Polled<readonly FleetRow[]> {
  return getContext(key);
}
