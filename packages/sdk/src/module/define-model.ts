/** The interface for authors of modules: models, each with a function that builds its resources. */
import type { JsonObject } from '@bufbuild/protobuf';
import { invalidArgument, invalidValue, type Log, type PlatformError } from '@platform/base';
import type { Document, Resource, ResourceDescriptor } from '@platform/resources';
import type { Dependencies } from './dependencies.ts';
import type { ModuleInfo } from './settings.ts';

/** A resource as the machine's configuration describes it. */
export interface ResourceConfig {
  /** Its short name, such as `door`. */
  readonly name: string;
  /** Such as `core:component:sensor`. */
  readonly api: string;
  /** Such as `acme:my-sensors:door`. */
  readonly model: string;
  /** As in the configuration, not validated; check them in `validate` or `build`. */
  readonly attributes: JsonObject;
  /** Names under `depends_on`. */
  readonly dependsOn: readonly string[];
}

/** The context in which a model builds a resource. */
export interface BuildConfig extends ResourceConfig {
  /** The running resources of this machine that `validate` and `depends_on` name. */
  readonly dependencies: Dependencies;
  /** Writes to the log of the machine, under the name of the resource. */
  readonly log: Log;
  readonly module: ModuleInfo;
}

/** Names of resources of the same machine, short (`door`) or full (`core:component:sensor/door`). */
export interface NeededResources {
  /** The resource is built once all of these run. */
  readonly required?: readonly string[];
  /** The resource is rebuilt when one of these is added or removed. */
  readonly optional?: readonly string[];
}

/**
 * The methods of the type. Three methods that every type has are optional: `doCommand` (rejected if absent), `close` (does nothing if
 * absent), and `reconfigure`, which changes the running resource in place. Without `reconfigure`, a new configuration builds a new resource
 * and then closes the running one; if `build` throws, the old one keeps running.
 */
export type ModelResource<T extends Resource> = Omit<T, 'close' | 'doCommand'> & {
  doCommand?(command: Document): Promise<Document>;
  reconfigure?(config: BuildConfig): Promise<void> | void;
  close?(): Promise<void> | void;
};

export interface ModelDefinition<T extends Resource> {
  /** `<namespace>:<family>:<name>`, such as `acme:my-sensors:door`. */
  readonly model: string;
  /**
   * Called before `build`, and when the configuration changes. Throws an error that says which attribute is wrong (`invalidAttribute`).
   * If absent, every configuration is valid and needs only the resources in `depends_on`.
   */
  validate?(config: ResourceConfig): NeededResources | undefined | Promise<NeededResources | undefined>;
  /** Throws an error that says why the resource cannot be built; the machine-server shows it and tries again. */
  build(config: BuildConfig): ModelResource<T> | Promise<ModelResource<T>>;
}

/** A model of any type, made by `defineModel`. */
export interface Model {
  readonly type: ResourceDescriptor;
  readonly model: string;
  validate(config: ResourceConfig): Promise<Required<NeededResources>>;
  build(config: BuildConfig): Promise<ModelResource<Resource>>;
}

/**
 * @param type such as `sensor`, or `commandType('acme:component:greenhouse')` for a type of your own.
 * @throws invalid_argument if the model has no name of the form `<namespace>:<family>:<name>`
 */
export function defineModel<T extends Resource>(
  type: ResourceDescriptor<T>,
  { model, validate, build }: ModelDefinition<T>,
): Model {
  if (!/^[\w-]+:[\w-]+:[\w-]+$/.test(model))
    throw invalidValue('model', '<namespace>:<family>:<name>, such as acme:my-sensors:door', model);
  return {
    // Safe, because `implementedBy` is called first.
    type: type as unknown as ResourceDescriptor,
    model,
    async validate(config) {
      const { required = [], optional = [] } = (await validate?.(config)) ?? {};
      return { required, optional };
    },
    build: async (config) => await build(config),
  };
}

/** Error for `validate` and `build`: `attributes.path: expected a file name, found 5`. @param path in `attributes`, such as `pins.left` */
export function invalidAttribute(path: string, expected: string, found: unknown): PlatformError {
  const text = found === undefined ? 'nothing' : JSON.stringify(found);
  return invalidArgument(`attributes.${path}: expected ${expected}, found ${text}`);
}
