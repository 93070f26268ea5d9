/**
 * The running resources.
 *
 * States of a resource: configuring → ready | unhealthy (build failed, retried with growing waits) → removing → gone. A new version is
 * built beside the old one, swapped, and the old one closed once nothing that depends on it uses it any more; while the new one cannot be built, the old one continues. A resource that can
 * change in place gets its new configuration instead. A failing resource affects only those that depend on it: they wait for it.
 *
 * Each resource is built in its own attempt, all at the same time; an attempt waits for those of its dependencies. A configuration that
 * changes a resource supersedes only its attempt; a resource that a superseded attempt still produces is closed.
 *
 * Models come and go with the modules that provide them (`provide`). A resource whose model a starting module may bring is configuring
 * until then; a resource whose module failed is gone, and unhealthy until the module has its model again.
 */
import { backoffMs, type Clock, errorText, type Log, PlatformError } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { formatResourceName, type Resource } from '@platform/resources';
import { type Observe, observed } from '../telemetry/observe.ts';
import { Attempt } from './attempt.ts';
import { buildResource } from './build-resource.ts';
import type { ImplicitDependencies, Model } from './model.ts';
import { ModelTable, type Provided } from './model-table.ts';
import { associatedWith, type Dependencies, dependenciesAmong, inDependencyOrder, plan } from './plan.ts';
import { withTimeout } from './with-timeout.ts';

export type ResourceState = 'configuring' | 'ready' | 'unhealthy' | 'removing';

export interface ResourceStatus {
  readonly config: ResourceConfig;
  readonly state: ResourceState;
  readonly error: string;
  /** Wall clock ms of the last change of state. */
  readonly since: number;
  readonly revision: string;
}

export interface GraphDeps {
  /** The models that are built in. */
  readonly models: readonly Model[];
  /** PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT; also the longest wait for a resource to close. */
  readonly configureTimeoutMs: number;
  /** Looks at builds. */
  readonly observe?: Observe | undefined;
  /** An error as it may be shown. */
  readonly hide?: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
}

interface Node {
  readonly full: string;
  config: ResourceConfig;
  resource: Resource | undefined;
  /** The model that built `resource`. */
  model: Model | undefined;
  /** The model that builds it at the moment. */
  building: Model | undefined;
  /** What its model said of its configuration. */
  implicit: ImplicitDependencies;
  /** The dependencies that `resource` was built with, by full name. */
  uses: ReadonlyMap<string, Resource>;
  /** The dependencies that the build in progress gets. */
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

const retryEveryMs = 500;
const none: ReadonlyMap<string, Resource> = new Map();
const noDependencies: ImplicitDependencies = { required: [], optional: [] };

export class Graph implements AsyncDisposable {
  readonly #deps: GraphDeps;
  readonly #nodes = new Map<string, Node>();
  readonly #models: ModelTable;
  /** Dependencies in the wanted configuration, in build order. A cycle is broken by building its first resource without the rest. */
  #dependencies: ReadonlyMap<string, Dependencies> = new Map();
  #positions: ReadonlyMap<string, number> = new Map();
  /** Old versions that what depends on them still uses. */
  readonly #replaced = new Map<Resource, { readonly full: string; readonly uses: ReadonlyMap<string, Resource> }>();
  #wanted: readonly ResourceConfig[] = [];
  #revision = '';
  #faults: ReadonlyMap<string, string> = new Map();
  #retry: Disposable | undefined;

  constructor(deps: GraphDeps) {
    this.#deps = deps;
    this.#models = new ModelTable(deps.models);
  }

  /** Starts to retry resources that could not be built. */
  start(): void {
    this.#retry = this.#deps.clock.every(retryEveryMs, () => {
      const now = this.#deps.clock.monotonic();
      this.#beginThose((node) => node.retryAt <= now);
    });
  }

  /** The running resource with this full name. */
  get(fullName: string): Resource | undefined {
    return this.#nodes.get(fullName)?.resource;
  }

  /** Whether a build of it is in progress. */
  isConfiguring(fullName: string): boolean {
    return this.#nodes.get(fullName)?.status.state === 'configuring';
  }

  /** The resources of the latest configuration, in its order; the same list until the next one. */
  get configuration(): readonly ResourceConfig[] {
    return this.#wanted;
  }

  status(): ResourceStatus[] {
    return [...this.#nodes.values()].map((node) => node.status);
  }

  /** Errors of the resources that could not be built, one per line; empty if there are none. */
  errors(): string {
    const unhealthy = this.status().filter(({ state }) => state === 'unhealthy');
    return unhealthy.map(({ config, error }) => `${formatResourceName(config)}: ${error}`).join('\n');
  }

  /**
   * Applies this configuration to the resources; resolves when every resource was built or failed once, or a later configuration changed
   * it.
   *
   * @param faults why a resource cannot be built from this configuration, by full name
   */
  async apply(
    wanted: readonly ResourceConfig[],
    revision: string,
    faults: ReadonlyMap<string, string> = new Map(),
  ): Promise<void> {
    this.#revision = revision;
    this.#faults = faults;
    this.#wanted = wanted;
    this.#relate();
    const staying = [...this.#nodes.values()].filter(({ removal }) => removal === undefined);
    const { remove, build } = plan(new Map(staying.map(({ full, config }) => [full, config])), wanted);
    const removed = this.#removeAll(remove);
    for (const config of build) this.#begin(config, removed);
    await Promise.all([removed, ...[...this.#nodes.values()].map(({ attempt }) => attempt?.done)]);
  }

  /**
   * Says what a module provides now; undefined: it is gone for good. Resources of models that are no longer there are lost without being
   * closed, because their process is gone; resources that can be built now are.
   *
   * @param provider as errors name it, such as `module "door"`
   */
  provide(provider: string, provided: Provided | undefined): void {
    const gone = this.#models.set(provider, provided);
    const isLost = ({ model, building }: Node): boolean =>
      (model !== undefined && gone.has(model)) || (building !== undefined && gone.has(building));
    for (const node of this.#inBuildOrder(({ removal }) => removal === undefined)) {
      const lost = isLost(node);
      if (lost && node.model !== undefined && gone.has(node.model)) {
        Object.assign(node, { resource: undefined, model: undefined, uses: none });
      }
      const waits = node.attempt === undefined && node.status.state !== 'ready';
      if (lost || waits) this.#begin(node.config, Promise.resolve());
    }
  }

  /** Tries again at once what could not be built. */
  retry(): void {
    this.#beginThose(({ status }) => status.state === 'unhealthy');
  }

  /** Closes everything, dependents first. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    await this.#removeAll([...this.#nodes.keys()]);
  }

  /** Starts an attempt, in build order, for each idle node that fulfils the condition. */
  #beginThose(isDue: (node: Node) => boolean): void {
    const due = this.#inBuildOrder((node) => node.attempt === undefined && node.removal === undefined && isDue(node));
    for (const { config } of due) this.#begin(config, Promise.resolve());
  }

  #inBuildOrder(fits: (node: Node) => boolean): Node[] {
    const found = [...this.#nodes.values()].filter(fits);
    return found.toSorted((a, b) => this.#positionOf(a.full) - this.#positionOf(b.full));
  }

  /** Finds out anew which of the wanted resources depend on which. */
  #relate(): void {
    const configs = this.#wanted.map((config) => {
      const node = this.#nodes.get(formatResourceName(config));
      return node === undefined ? config : withImplicit({ config, implicit: node.implicit });
    });
    const ordered = inDependencyOrder(configs);
    this.#dependencies = dependenciesAmong(ordered);
    this.#positions = new Map(ordered.map((config, position) => [formatResourceName(config), position]));
  }

  #positionOf(full: string): number {
    return this.#positions.get(full) ?? Number.POSITIVE_INFINITY;
  }

  /** @param removed resolves when the resources that this configuration removes are gone: they may hold something that this one needs. */
  #begin(config: ResourceConfig, removed: Promise<void>): void {
    const full = formatResourceName(config);
    const before = this.#nodes.get(full);
    const node =
      before !== undefined && before.removal === undefined
        ? before
        : {
            ...{ full, config, resource: undefined, model: undefined, uses: none },
            ...{ building: undefined, buildingWith: none, implicit: noDependencies },
            status: this.#statusOf(config, 'configuring'),
            ...{ loggedError: '', failures: 0, retryAt: Number.POSITIVE_INFINITY },
            ...{ attempt: undefined, removal: undefined },
          };
    this.#nodes.set(full, node);
    node.attempt?.supersede();
    node.config = config;
    node.retryAt = Number.POSITIVE_INFINITY;
    const attempt = new Attempt();
    node.attempt = attempt;
    attempt.start(async (signal) => {
      await Promise.all([removed, before?.removal]);
      await this.#dependenciesDone(node, signal);
      if (!signal.aborted) await this.#build(node, signal);
      if (node.attempt !== attempt) return;
      node.attempt = undefined;
      // A dependency was replaced during the build.
      if (this.#usesReplaced(node)) this.#begin(node.config, Promise.resolve());
    });
  }

  #usesReplaced({ full, uses, status }: Node): boolean {
    if (status.state !== 'ready') return false;
    return [...uses].some(([other, resource]) => {
      const now = this.get(other);
      return now !== undefined && now !== resource && this.#positionOf(other) < this.#positionOf(full);
    });
  }

  /** Waits for the attempts of its dependencies, including attempts that replace them meanwhile. */
  async #dependenciesDone(node: Node, signal: AbortSignal): Promise<void> {
    const found = this.#dependencies.get(node.full)?.found ?? [];
    while (!signal.aborted) {
      const pending = found
        .filter((full) => this.#positionOf(full) < this.#positionOf(node.full))
        .flatMap((full) => this.#nodes.get(full)?.attempt?.done ?? []);
      if (pending.length === 0) return;
      await Promise.all(pending);
    }
  }

  async #build(node: Node, signal: AbortSignal): Promise<void> {
    const { configureTimeoutMs, observe, clock, log } = this.#deps;
    const { full, config } = node;
    node.status = this.#statusOf(config, 'configuring');
    try {
      const fault = this.#faults.get(full);
      if (fault !== undefined) throw new PlatformError('failed_precondition', fault);
      const found = this.#models.find(config);
      if ('waitsFor' in found) return this.#wait(node, found.waitsFor);
      const { model } = found;
      node.building = model;
      await this.#ask(node, model, signal);
      if (signal.aborted) return;
      const uses = this.#dependenciesOf(node);
      node.buildingWith = uses;
      const old = node.resource;
      const context = {
        dependencies: uses,
        associated: associatedWith(config, this.#wanted),
        log: log.child(full),
      };
      const build = { config, model, context, running: node };
      const fresh = await observed(observe, 'resource.build', { resource: full, model: model.model }, () =>
        buildResource(build, configureTimeoutMs, clock, signal),
      );
      if (signal.aborted) return fresh === old ? undefined : await this.#close(fresh, full, `the late ${full}`);
      if (old !== undefined && old !== fresh) this.#replaced.set(old, { full, uses: node.uses });
      Object.assign(node, { resource: fresh, model, uses, loggedError: '', failures: 0 });
      node.status = this.#statusOf(config, 'ready');
      this.#beginThose(
        (other) =>
          this.#positionOf(other.full) > this.#positionOf(full) &&
          this.#dependencies.get(other.full)?.found.includes(full) === true &&
          other.uses.get(full) !== fresh,
      );
    } catch (caught) {
      if (signal.aborted) return;
      node.failures++;
      const waitMs = backoffMs(node.failures, { firstMs: 1_000, maxMs: 60_000 });
      node.retryAt = clock.monotonic() + waitMs;
      const error = this.#deps.hide?.(errorText(caught)) ?? errorText(caught);
      const what =
        node.resource === undefined
          ? `${full} could not be built`
          : `the new version of ${full} could not be built, and the old one keeps running`;
      if (node.loggedError !== error)
        log.child(full).error(`${what}; trying again: ${error}`, {
          resource: full,
          waitMs: Math.round(waitMs),
        });
      node.loggedError = error;
      node.status = this.#statusOf(config, 'unhealthy', error);
    } finally {
      // A superseded build leaves these to the one that replaced it.
      if (!signal.aborted) Object.assign(node, { building: undefined, buildingWith: none });
      await this.#closeReplaced();
    }
  }

  /** Until a module says what it provides. */
  #wait(node: Node, what: string): void {
    const { full, config } = node;
    node.status = this.#statusOf(config, 'configuring', `waits for its model ${config.model}: ${what} is starting`);
    this.#deps.log.child(full).info(`${full} waits for its model: ${what} is starting`, { resource: full });
  }

  /** Asks the model what the configuration refers to, and waits for those resources. */
  async #ask(node: Node, model: Model, signal: AbortSignal): Promise<void> {
    if (model.dependencies === undefined && node.implicit === noDependencies) return;
    const { configureTimeoutMs: limitMs, clock } = this.#deps;
    const asked = model.dependencies?.(node.config, signal) ?? Promise.resolve(noDependencies);
    const text = `its model did not check its configuration within ${limitMs} ms`;
    const implicit = await withTimeout(asked, limitMs, text, clock, signal);
    if (JSON.stringify(implicit) === JSON.stringify(node.implicit)) return;
    node.implicit = implicit;
    this.#relate();
    await this.#dependenciesDone(node, signal);
  }

  /** The running resources that it depends on. @throws PlatformError if one is missing. */
  #dependenciesOf({ full, implicit }: Node): ReadonlyMap<string, Resource> {
    const { found, unknown: all } = this.#dependencies.get(full) ?? { found: [], unknown: [] };
    const unknown = all.filter((name) => !implicit.optional.includes(name));
    if (unknown[0] !== undefined)
      throw new PlatformError(
        'not_found',
        `${JSON.stringify(unknown[0])}, which it depends on, is not in the configuration, or is disabled there`,
      );
    const isOptional = (name: string): boolean =>
      implicit.optional.some((each) => name === each || name.endsWith(`/${each}`));
    return new Map(
      found.flatMap((name): [string, Resource][] => {
        const resource = this.get(name);
        if (resource !== undefined) return [[name, resource]];
        if (isOptional(name)) return [];
        throw new PlatformError('unavailable', `${name}, which it depends on, is not available yet`);
      }),
    );
  }

  /** Dependents before their dependencies. @param names in any order */
  async #removeAll(names: readonly string[]): Promise<void> {
    const configs = names.flatMap((full) => this.#nodes.get(full) ?? []).map(withImplicit);
    const ordered = inDependencyOrder(configs).map(formatResourceName).toReversed();
    const nodes = ordered.flatMap((full) => this.#nodes.get(full) ?? []);
    const dependencies = dependenciesAmong(nodes.map(withImplicit));
    for (const node of nodes) {
      node.attempt?.supersede();
      node.attempt = undefined;
      const dependents = nodes.filter((other) => dependencies.get(other.full)?.found.includes(node.full));
      const first = dependents.flatMap(({ removal }) => removal ?? []);
      node.removal ??= this.#remove(node, first);
    }
    await Promise.all(nodes.flatMap(({ removal }) => removal ?? []));
  }

  async #remove(node: Node, first: readonly Promise<void>[]): Promise<void> {
    await Promise.all(first);
    node.status = this.#statusOf(node.config, 'removing');
    if (node.resource !== undefined) await this.#close(node.resource, node.full, node.full);
    node.resource = undefined;
    if (this.#nodes.get(node.full) === node) this.#nodes.delete(node.full);
    await this.#closeReplaced();
  }

  /** Closes the old versions that nothing uses any more: what depends on them is built anew first. */
  async #closeReplaced(): Promise<void> {
    while (this.#replaced.size > 0) {
      const users = [...this.#nodes.values(), ...this.#replaced.values()];
      const building = [...this.#nodes.values()].map((node) => node.buildingWith);
      const used = new Set([...users.map(({ uses }) => uses), ...building].flatMap((uses) => [...uses.values()]));
      const unused = [...this.#replaced].filter(([resource]) => !used.has(resource));
      if (unused.length === 0) return;
      for (const [resource] of unused) this.#replaced.delete(resource);
      await Promise.all(
        unused.map(([resource, { full }]) => this.#close(resource, full, `the old version of ${full}`)),
      );
    }
  }

  async #close(resource: Resource, full: string, what: string): Promise<void> {
    const { configureTimeoutMs: limitMs, clock, log } = this.#deps;
    try {
      await withTimeout(resource.close(), limitMs, `it was not closed within ${limitMs} ms`, clock);
    } catch (caught) {
      log.child(full).warn(`closing ${what} failed: ${errorText(caught)}`, { resource: full });
    }
  }

  #statusOf(config: ResourceConfig, state: ResourceState, error = ''): ResourceStatus {
    return { config, state, error, since: this.#deps.clock.now(), revision: this.#revision };
  }
}

/** Its configuration with all that it depends on in `depends_on`. */
function withImplicit({ config, implicit }: Pick<Node, 'config' | 'implicit'>): ResourceConfig {
  const { required, optional } = implicit;
  if (required.length + optional.length === 0) return config;
  return { ...config, depends_on: [...config.depends_on, ...required, ...optional] };
}
