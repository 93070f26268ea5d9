/** What the graph builds and the rest of the server uses. */
import type { Log } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';

/** A configured resource, running. */
export interface Resource {
  close(): Promise<void>;
}

export interface Sensor extends Resource {
  /** Named values. Synchronous where it can be: most readings of a busy machine pass here. */
  readings(extra: Readonly<Record<string, unknown>>): Readings | Promise<Readings>;
  doCommand(command: Readonly<Record<string, unknown>>): Promise<Readings>;
}

export type Readings = Readonly<Record<string, unknown>>;

export interface Model {
  readonly api: string;
  /** `core:builtin:fake`. */
  readonly model: string;
  /** Throws PlatformError with what is wrong about the attributes. */
  build(config: ResourceConfig, log: Log): Promise<Resource>;
}

export function isSensor(resource: Resource): resource is Sensor {
  return 'readings' in resource && 'doCommand' in resource;
}
