/** Each component and service type once: its interface, its API name and protobuf service, what is served and captured of it. */
export type { Document, Resource } from './resource.ts';
export { isReadable } from './resource.ts';
export { type ResourceDescriptor, shortType } from './resource-descriptor.ts';
export { formatResourceName, parseResourceName, type ResourceName } from './resource-name.ts';
export { resourceTypes } from './resource-types.ts';
export type { Sensor } from './sensor.ts';
