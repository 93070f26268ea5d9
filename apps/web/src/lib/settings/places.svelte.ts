/** Locations and machines of the organization by id, for roles. */
import { AppService } from '@platform/proto/platform/app/v1/app';
import { clientOf } from '../api/clients.ts';
import { poll } from '../api/poll.svelte.ts';
import { useFleet } from '../fleet/fleet.svelte.ts';

interface Named {
  readonly id: string;
  readonly name: string;
}

export interface Places {
  readonly locations: readonly Named[];
  readonly machines: readonly Named[];
  /** Undefined: not known yet. */
  readonly names: ReadonlyMap<string, string> | undefined;
}

const everyMs = 30_000;

/** Call it while a component is being created. */
export function usePlaces(organizationId: () => string): Places {
  const fleet = useFleet();
  const app = clientOf(AppService);
  const locations = poll(
    async (signal) => (await app.listLocations({ organizationId: organizationId() }, { signal })).locations,
    everyMs,
  );
  const names = $derived(
    locations.value &&
      fleet.value &&
      new Map([...locations.value, ...fleet.value].map(({ id, name }): [string, string] => [id, name])),
  );
  return {
    get locations() {
      return locations.value ?? [];
    },
    get machines() {
      return fleet.value ?? [];
    },
    get names() {
      return names;
    },
  };
}
