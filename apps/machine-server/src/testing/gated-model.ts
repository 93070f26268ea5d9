/** For tests of the graph: a sensor model whose builds wait until the test releases them, and that records every event. */
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import type { Model, Reconfigurable } from '../graph/model.ts';

export interface GatedModel {
  readonly model: Model;
  /** The model of a service that is reconfigured in place. */
  readonly service: Model;
  /** `build a`, `close a`, … in the order in which they happened; a version is named by its attribute `v`. */
  readonly events: string[];
  /** Releases the builds of a resource, or makes them fail; a build without a gate passes at once. */
  readonly gates: Map<string, Promise<void>>;
}

export function createGatedModel(): GatedModel {
  const events: string[] = [];
  const gates = new Map<string, Promise<void>>();
  const named = ({ name, attributes }: ResourceConfig): string => `${name}${attributes['v'] ?? ''}`;
  const model: Model = {
    api: 'core:component:sensor',
    model: 'core:builtin:gated',
    async build(config): Promise<Resource> {
      events.push(`build ${named(config)}`);
      await gates.get(named(config));
      events.push(`built ${named(config)}`);
      return { close: async () => void events.push(`close ${named(config)}`) };
    },
  };
  const service: Model = {
    api: 'core:service:data_manager',
    model: 'core:builtin:in-place',
    async build(first): Promise<Reconfigurable> {
      events.push(`build ${named(first)}`);
      return {
        async reconfigure(config, { associated }) {
          events.push(`reconfigure ${named(config)} of ${associated.map(({ name }) => name).join(' ')}`);
          await gates.get(named(config));
          return this;
        },
        close: async () => void events.push(`close ${first.name}`),
      };
    },
  };
  return { model, service, events, gates };
}

/** A configuration of a resource of the gated model. */
export function gated(name: string, depends_on: readonly string[] = [], v?: number): ResourceConfig {
  return {
    name,
    api: 'core:component:sensor',
    model: 'core:builtin:gated',
    attributes: v === undefined ? {} : { v },
    depends_on,
    service_configs: [],
  };
}
