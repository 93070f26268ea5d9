/**
 * The running resources.
 *
 * States of a resource: configuring → ready | unhealthy (build failed, tried again with growing waits) → removing → gone.
 * A new version is built beside the old one, swapped, and the old one closed; while the new one cannot be built, the old
 * one goes on. One resource's trouble stops no other, except those that depend on it: they wait for it.
 */
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName } from '@platform/resources';
import { dependenciesOf, inDependencyOrder, plan } from './plan.ts';
import type { Model, Resource } from './resource.ts';

export type ResourceState = 'configuring' | 'ready' | 'unhealthy' | 'removing';

export interface ResourceStatus {
  readonly config: ResourceConfig;
  readonly state: ResourceState;
  readonly error: string;
  /** Wall ms of the last change of state. */
  readonly since: number;
  readonly revision: string;
}

export interface GraphOptions {
  readonly models: readonly Model[];
  /** PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT. */
  readonly configureTimeoutMs: number;
  readonly clock: Clock;
  readonly log: Log;
}

interface Node {
  config: ResourceConfig;
  resource: Resource | undefined;
  status: ResourceStatus;
  failures: number;
  retryAt: number;
}

export class Graph implements AsyncDisposable {
  readonly #options: GraphOptions;
  readonly #nodes = new Map<string, Node>();
  #wanted: readonly ResourceConfig[] = [];
  #revision = '';
  #work: Promise<void> = Promise.resolve();
  #retry: Disposable | undefined;

  constructor(options: GraphOptions) {
    this.#options = options;
  }

  /** Begins to retry what could not be built. */
  start(): void {
    this.#retry = this.#options.clock.every(500, () => {
      const now = this.#options.clock.monotonic();
      const due = this.#wanted.filter(
        (config) => (this.#nodes.get(formatResourceName(config))?.retryAt ?? Number.POSITIVE_INFINITY) <= now,
      );
      if (due.length > 0) void this.#exclusively(() => this.#buildAll(due));
    });
  }

  /** The running resource with this full name. */
  get(fullName: string): Resource | undefined {
    return this.#nodes.get(fullName)?.resource;
  }

  status(): ResourceStatus[] {
    return [...this.#nodes.values()].map((node) => node.status);
  }

  /** What is wrong with resources that could not be built, one to a line; empty when all is well. */
  errors(): string {
    const unhealthy = this.status().filter(({ state }) => state === 'unhealthy');
    return unhealthy.map(({ config, error }) => `${formatResourceName(config)}: ${error}`).join('\n');
  }

  /** Brings the resources to this configuration; resolves when every resource was built or failed once. */
  apply(wanted: readonly ResourceConfig[], revision: string): Promise<void> {
    return this.#exclusively(async () => {
      this.#revision = revision;
      this.#wanted = inDependencyOrder(wanted);
      const running = new Map([...this.#nodes].map(([name, node]) => [name, node.config]));
      const { remove, build } = plan(running, wanted);
      for (const name of remove) await this.#remove(name);
      await this.#buildAll(build);
    });
  }

  /** Closes everything, dependents first. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    return this.#exclusively(async () => {
      const configs = inDependencyOrder([...this.#nodes.values()].map((node) => node.config));
      for (const config of configs.toReversed()) await this.#remove(formatResourceName(config));
    });
  }

  #exclusively(task: () => Promise<void>): Promise<void> {
    this.#work = this.#work.then(task, task);
    return this.#work;
  }

  async #buildAll(configs: readonly ResourceConfig[]): Promise<void> {
    for (const config of inDependencyOrder(configs)) await this.#build(config);
  }

  async #build(config: ResourceConfig): Promise<void> {
    const { clock, log } = this.#options;
    const full = formatResourceName(config);
    const before = this.#nodes.get(full);
    const node: Node = before ?? {
      config,
      resource: undefined,
      status: this.#statusOf(config, 'configuring'),
      failures: 0,
      retryAt: Number.POSITIVE_INFINITY,
    };
    const errorBefore = node.status.error;
    node.config = config;
    this.#nodes.set(full, node);
    node.status = this.#statusOf(config, 'configuring');
    try {
      const unknown = config.depends_on.find(
        (name) => dependenciesOf({ ...config, depends_on: [name] }, this.#wanted).length === 0,
      );
      if (unknown !== undefined)
        throw new PlatformError('not_found', `${unknown}, which it depends on, is not in the configuration`);
      const waitsFor = dependenciesOf(config, this.#wanted).find((name) => this.get(name) === undefined);
      if (waitsFor !== undefined)
        throw new PlatformError('unavailable', `${waitsFor}, which it depends on, is not there yet`);
      const fresh = await this.#buildInTime(config);
      const old = node.resource;
      node.resource = fresh;
      node.failures = 0;
      node.retryAt = Number.POSITIVE_INFINITY;
      node.status = this.#statusOf(config, 'ready');
      if (old !== undefined)
        await old
          .close()
          .catch((caught) =>
            log.warn(`closing the old version of ${full} failed: ${errorText(caught)}`, { resource: full }),
          );
    } catch (caught) {
      node.failures++;
      const waitMs = backoffMs(node.failures, { firstMs: 1_000, maxMs: 60_000 });
      node.retryAt = clock.monotonic() + waitMs;
      const error = errorText(caught);
      if (errorBefore !== error)
        log.error(`${full} could not be built and is tried again: ${error}`, {
          resource: full,
          waitMs: Math.round(waitMs),
        });
      node.status = this.#statusOf(config, 'unhealthy', error);
    }
  }

  async #buildInTime(config: ResourceConfig): Promise<Resource> {
    const { models, configureTimeoutMs, clock, log } = this.#options;
    const model = models.find((known) => known.api === config.api && known.model === config.model);
    if (model === undefined) {
      const known = models.filter(({ api }) => api === config.api).map((each) => each.model);
      throw new PlatformError(
        'not_found',
        known.length === 0
          ? `this version of the machine-server has no resources of type ${config.api}`
          : `${config.api} has no model "${config.model}" in this version of the machine-server; known: ${known.join(', ')}`,
      );
    }
    const built = model.build(config, log.child(config.name));
    const timer = new AbortController();
    const late = clock.sleep(configureTimeoutMs, timer.signal).then(() => {
      // One that arrives after all has no place any more.
      built.then((resource) => resource.close()).catch(() => {});
      throw new PlatformError('deadline_exceeded', `it was not built within ${configureTimeoutMs} ms`);
    });
    try {
      return await Promise.race([built, late]);
    } finally {
      timer.abort();
      late.catch(() => {});
    }
  }

  async #remove(full: string): Promise<void> {
    const node = this.#nodes.get(full);
    if (node === undefined) return;
    node.status = this.#statusOf(node.config, 'removing');
    await node.resource
      ?.close()
      .catch((caught) => this.#options.log.warn(`closing ${full} failed: ${errorText(caught)}`, { resource: full }));
    this.#nodes.delete(full);
  }

  #statusOf(config: ResourceConfig, state: ResourceState, error = ''): ResourceStatus {
    return { config, state, error, since: this.#options.clock.now(), revision: this.#revision };
  }
}
