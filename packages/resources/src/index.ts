/** Defines each component and service type once: its interface, API name, protobuf service, and what is served and captured. */

export { nameFieldOf } from './name-field.ts';
export { createProxy, isProxy } from './proxy.ts';
export type { Document, Readable, Resource } from './resource.ts';
export { isReadable } from './resource.ts';
export { type ResourceCall, type ResourceDescriptor, shortType } from './resource-descriptor.ts';
export { formatResourceName, parseResourceName, type ResourceName } from './resource-name.ts';
export { resourceTypes } from './resource-types.ts';
export type { Sensor } from './sensor.ts';
