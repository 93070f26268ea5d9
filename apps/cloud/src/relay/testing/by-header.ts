/** What a relay needs to know of names, for tests whose calls name their part by header. */
import type { RelayedCallDeps } from '../forward/relayed-call.ts';

export const byHeader: Pick<RelayedCallDeps, 'names' | 'tree' | 'registry'> = {
  names: { domain: 'machines.example', lead: () => ({ to: 'cloud' }) },
  tree: { locationsOf: () => [], descendants: () => [] },
  registry: { placeOf: () => ({}) as never, partsOf: () => [], machinesOf: () => [] },
};
