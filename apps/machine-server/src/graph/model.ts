/** How resources come into being. */
import type { Log } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';

/** What a resource says to a service in its `service_configs`. */
export type Associated = Pick<ResourceConfig, 'api' | 'name' | 'service_configs'>;

/** What a model gets beside the configuration of the resource. */
export interface BuildContext {
  /** The running resources that `depends_on` names, by full name. When one of them is swapped, the resource is built again. */
  readonly dependencies: ReadonlyMap<string, Resource>;
  /** Of every resource that says something to this service, in the order of the configuration. A change is a change of the service's configuration. */
  readonly associated: readonly Associated[];
  readonly log: Log;
}

/**
 * A resource that continues, as the same one, when its configuration changes; any other is built again beside the old one and
 * swapped.
 */
export interface Reconfigurable extends Resource {
  /** Throws PlatformError and continues as before. May be called again before it returned: the last call holds. */
  reconfigure(config: ResourceConfig, context: BuildContext): Promise<void>;
}

export function isReconfigurable(resource: Resource): resource is Reconfigurable {
  return 'reconfigure' in resource;
}

export interface Model {
  readonly api: string;
  /** `core:builtin:fake`. */
  readonly model: string;
  /** Throws PlatformError with what is wrong about the attributes. */
  build(config: ResourceConfig, context: BuildContext): Promise<Resource>;
}
