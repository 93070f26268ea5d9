/** How resources are created. */
import type { Log } from '@platform/base';
import type { Fields } from '@platform/machine-config/fields';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';

/** A resource's settings for a service, from its `service_configs`. */
export type Associated = Pick<ResourceConfig, 'api' | 'name' | 'service_configs'>;

/** The context that a model gets besides the configuration of the resource. */
export interface BuildContext {
  /** The running resources that `depends_on` and `dependencies` name, by full name. If one of them is swapped, the resource is rebuilt. */
  readonly dependencies: ReadonlyMap<string, Resource>;
  /**
   * Every resource with settings for this service, in the order of the configuration. A change to them is a change to the service's
   * configuration.
   */
  readonly associated: readonly Associated[];
  readonly log: Log;
}

/** A resource that continues in place when its configuration changes; any other resource is built again beside the old one and swapped. */
export interface Reconfigurable extends Resource {
  /**
   * Returns itself, or the resource that takes its place. Throws PlatformError and continues as before, unless it `isLost`. May be called
   * again before it has returned: the last call wins.
   */
  reconfigure(config: ResourceConfig, context: BuildContext): Promise<Resource>;
  /** Whether it no longer runs, although it was not closed. */
  isLost?(): boolean;
}

export function isReconfigurable(resource: Resource): resource is Reconfigurable {
  return 'reconfigure' in resource;
}

/** Short or full names of resources. */
export interface ImplicitDependencies {
  /** The resource is built only when these exist. */
  readonly required: readonly string[];
  /** The resource is built without missing ones, and rebuilt when one of them appears. */
  readonly optional: readonly string[];
}

export interface Model {
  readonly api: string;
  /** For example `core:builtin:fake`. */
  readonly model: string;
  /** Its known attributes. Undefined: it checks them itself, as models of modules do. */
  readonly fields?: Fields;
  /**
   * Names of resources to which the configuration refers, besides `depends_on`. Called before each build. Throws a PlatformError that says
   * what is wrong with the configuration.
   */
  dependencies?(config: ResourceConfig, signal: AbortSignal): Promise<ImplicitDependencies>;
  /** Throws a PlatformError that says what is wrong with the attributes. */
  build(config: ResourceConfig, context: BuildContext): Promise<Resource>;
}
