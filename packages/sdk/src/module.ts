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
export {
  type Arm,
  type AudioIn,
  type AudioOut,
  arm,
  audioIn,
  audioOut,
  type Base,
  type Board,
  type Button,
  base,
  board,
  button,
  type Camera,
  type CommandResource,
  camera,
  commandType,
  type Discovery,
  type Document,
  discovery,
  type Encoder,
  encoder,
  type Gantry,
  type GenericComponent,
  type GenericService,
  type Gripper,
  gantry,
  genericComponent,
  genericService,
  gripper,
  type InputController,
  inputController,
  type Motion,
  type Motor,
  type MovementSensor,
  motion,
  motor,
  movementSensor,
  type Navigation,
  navigation,
  type PowerSensor,
  powerSensor,
  type Resource,
  type ResourceCall,
  type ResourceDescriptor,
  type Sensor,
  type Servo,
  type Shell,
  type Switch,
  sensor,
  servo,
  shell,
  switchType,
  type Vision,
  vision,
} from '@platform/resources';
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
