import type { ResourceDescriptor } from './resource-descriptor.ts';
import * as types from './types.ts';

/** Every type that this version knows. */
export const resourceTypes: readonly ResourceDescriptor[] = Object.values(types);
