import type { ResourceDescriptor } from './resource-descriptor.ts';
import * as types from './types.ts';

/** Every type that this version knows, by API. */
export const resourceTypes: readonly ResourceDescriptor[] = Object.values<ResourceDescriptor>(types).toSorted((a, b) =>
  a.api < b.api ? -1 : 1,
);
