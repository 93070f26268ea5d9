/**
 * For programs that provide resources to a machine: modules. One page of code:
 *
 *     import { defineModel, sensor, serveModule } from '@platform/sdk/module';
 *
 *     const load = defineModel(sensor, {
 *       model: 'acme:my-module:load',
 *       build: ({ attributes }) => ({ readings: () => ({ load: os.loadavg()[0] }) }),
 *     });
 *     await serveModule({ models: [load] });
 *
 * Guide: docs/guides/modules.md
 */
export type { JsonObject, JsonValue } from '@bufbuild/protobuf';
export { type CodeName, type Log, type LogFields, PlatformError } from '@platform/base';
export { type CommandResource, commandType, type Document, type ResourceCall } from '@platform/resources';
export * from '@platform/resources/types';
export {
  type BuildConfig,
  defineModel,
  invalidAttribute,
  type Model,
  type ModelDefinition,
  type ModelResource,
  type NeededResources,
  type ResourceConfig,
} from './module/define-model.ts';
export type { Dependencies } from './module/dependencies.ts';
export { describeModule, type ProvidedModel } from './module/describe-module.ts';
export { type ModuleOptions, serveModule } from './module/serve-module.ts';
export type { ModuleInfo } from './module/settings.ts';
