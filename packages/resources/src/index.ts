/** Each component and service type once: its API name and its protobuf service. */
export type { ResourceDescriptor } from './resource-descriptor.ts';
export { formatResourceName, parseResourceName, type ResourceName } from './resource-name.ts';
export { sensor } from './sensor.ts';
