/** Each component and service type once: its API name, its protobuf service and what can be captured from it. */
export { type CaptureMethod, captureMethodOf, captureMethodsOf } from './capture-methods.ts';
export type { ResourceDescriptor } from './resource-descriptor.ts';
export { formatResourceName, parseResourceName, type ResourceName } from './resource-name.ts';
export { sensor } from './sensor.ts';
