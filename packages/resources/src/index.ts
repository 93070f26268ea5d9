/** Defines each component and service type once: its interface, API name, protobuf service, and what is served and captured. */

export { type CommandResource, commandType } from './command-type.ts';
export { EncodedDocument } from './encoded-document.ts';
export { numberFieldsOf, requireFinite } from './finite-numbers.ts';
export { accessOf, isOfModule, isReflection, type MethodAccess } from './method-access.ts';
export { fieldOf, nameFieldOf } from './name-field.ts';
export { createProxy, isProxy } from './proxy.ts';
export { reflectService } from './reflect-service.ts';
export type { Commandable, Document, Readable, Resource } from './resource.ts';
export { isReadable } from './resource.ts';
export {
  type BinaryReading,
  type CaptureContext,
  type CapturedDocument,
  type FrameMotion,
  type ResourceCall,
  type ResourceDescriptor,
  shortType,
} from './resource-descriptor.ts';
export { formatResourceName, parseResourceName, type ResourceName } from './resource-name.ts';
export { resourceTypes } from './resource-types.ts';
export { type ServiceResource, serviceType } from './service-type.ts';
export * from './types.ts';
