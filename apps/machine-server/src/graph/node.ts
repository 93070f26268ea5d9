/** The graph's data about one resource. */
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import type { Attempt } from './attempt.ts';
import type { ImplicitDependencies, Model } from './model.ts';

export type ResourceState = 'configuring' | 'ready' | 'unhealthy' | 'removing';

export interface ResourceStatus {
  readonly config: ResourceConfig;
  readonly state: ResourceState;
  readonly error: string;
  /** Wall clock ms of the last change of state. */
  readonly since: number;
  readonly revision: string;
}

export interface Node {
  readonly full: string;
  config: ResourceConfig;
  resource: Resource | undefined;
  /** The model that built `resource`. */
  model: Model | undefined;
  /** The model that is currently building it. */
  building: Model | undefined;
  /** The dependencies that its model found in its configuration. */
  implicit: ImplicitDependencies;
  /** The dependencies that `resource` was built with, by full name. */
  uses: ReadonlyMap<string, Resource>;
  /** The dependencies of the build in progress. */
  buildingWith: ReadonlyMap<string, Resource>;
  status: ResourceStatus;
  /** The last error logged; cleared by the next success. */
  loggedError: string;
  failures: number;
  retryAt: number;
  /** The build in progress. */
  attempt: Attempt | undefined;
  /** Set once removal begins: resolves when the resource is gone. */
  removal: Promise<void> | undefined;
}

export const noResources: ReadonlyMap<string, Resource> = new Map();
export const noDependencies: ImplicitDependencies = { required: [], optional: [] };

export function newNode(full: string, config: ResourceConfig, status: ResourceStatus): Node {
  return {
    ...{ full, config, resource: undefined, model: undefined, uses: noResources },
    ...{ building: undefined, buildingWith: noResources, implicit: noDependencies, status },
    ...{ loggedError: '', failures: 0, retryAt: Number.POSITIVE_INFINITY },
    ...{ attempt: undefined, removal: undefined },
  };
}

/** Its configuration with all of its dependencies in `depends_on`. */
export function withImplicit({ config, implicit }: Pick<Node, 'config' | 'implicit'>): ResourceConfig {
  const { required, optional } = implicit;
  if (required.length + optional.length === 0) return config;
  return { ...config, depends_on: [...config.depends_on, ...required, ...optional] };
}
