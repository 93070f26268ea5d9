import type { ResourceDescriptor } from './resource-descriptor.ts';
import { sensor } from './sensor.ts';

/** Every type that this version knows. */
export const resourceTypes: readonly ResourceDescriptor[] = [sensor];
