/**
 * The running resources.
 *
 * States of a resource: configuring → ready | unhealthy (build failed, retried after increasing delays) → removing → gone. A new version is
 * built beside the old one and swapped in, and the old one is closed once no dependent uses it any longer; while the new one cannot be
 * built, the old one continues. A resource that can change in place gets its new configuration instead. A failing resource affects only its
 * dependents, which wait for it.
 *
 * Each resource is built in its own attempt, all at the same time; an attempt waits for those of its dependencies. A configuration that
 * changes a resource supersedes only its attempt; a resource that a superseded attempt still produces is closed.
 *
 * Models come and go with the modules that provide them (`provide`). A resource whose model a starting module may bring is configuring
 * until then; a resource whose module failed is gone, and unhealthy until the module has its model again.
 *
 * Resources of other machines are added to those of the configuration (`setRemote`); their models come from the remote, too.
 */
import type { Clock, Log } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Resource } from '@platform/resources';
import type { Observe } from '../telemetry/observe.ts';
import { Attempt } from './attempt.ts';
import { type BuildNodeDeps, buildNode } from './build-node.ts';
import { fullNameOf } from './full-name.ts';
import type { Model } from './model.ts';
import { ModelTable, type Provided } from './model-table.ts';
import { type Node, newNode, noResources, type ResourceState, type ResourceStatus } from './node.ts';
import { OldVersions } from './old-versions.ts';
import { plan } from './plan.ts';
import { Relations } from './relations.ts';
import { type RemoteResource, remoteShortNames } from './remote-resource.ts';
import { type RemoveNodesDeps, removeNodes } from './remove-nodes.ts';
import { Starts } from './starts.ts';

export interface GraphDeps {
  /** The built-in models. */
  readonly models: readonly Model[];
  /** PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT; also the longest wait for a resource to close. */
  readonly configureTimeoutMs: number;
  /** Observes builds. */
  readonly observe?: Observe | undefined;
  /** Hides secrets in an error. */
  readonly hide?: (text: string) => string;
  readonly clock: Clock;
  readonly log: Log;
}

const retryEveryMs = 500;
/** The longest wait for all resources at the stop: longer than a module may take to remove one, shorter than the process waits. */
const stopLimitMs = 25_000;

export class Graph implements AsyncDisposable {
  readonly #deps: GraphDeps;
  readonly #nodes = new Map<string, Node>();
  readonly #models: ModelTable;
  readonly #relations = new Relations();
  readonly #starts = new Starts();
  readonly #oldVersions: OldVersions;
  readonly #builds: BuildNodeDeps & RemoveNodesDeps;
  /** Of the configuration. */
  #configured: readonly ResourceConfig[] = [];
  /** Of other machines, by the name of the remote. */
  readonly #remote = new Map<string, readonly RemoteResource[]>();
  /** Full names by those with the short name of a remote's resource. */
  #shortNames: ReadonlyMap<string, string> = new Map();
  #wanted: readonly ResourceConfig[] = [];
  #revision = '';
  #faults: ReadonlyMap<string, string> = new Map();
  #retry: Disposable | undefined;

  constructor(deps: GraphDeps) {
    this.#deps = deps;
    this.#models = new ModelTable(deps.models);
    this.#oldVersions = new OldVersions(deps);
    this.#builds = {
      ...deps,
      ...{ models: this.#models, oldVersions: this.#oldVersions, nodes: this.#nodes },
      faultOf: (full) => this.#faults.get(full),
      wanted: () => this.#wanted,
      resourcesFor: (node) => this.#relations.resourcesFor(node, (full) => this.get(full)),
      dependenciesDone: ({ full }, signal) => this.#relations.attemptsDone(full, this.#nodes, signal),
      relate: () => this.#relate(),
      built: (full, fresh) => this.#built(full, fresh),
      statusOf: (config, state, error) => this.#statusOf(config, state, error),
    };
  }

  /** Starts to retry resources that could not be built. */
  start(): void {
    this.#retry = this.#deps.clock.every(retryEveryMs, () => {
      const now = this.#deps.clock.monotonic();
      this.#beginThose((node) => node.retryAt <= now);
    });
  }

  /** The running resource with this full name, or with this short name if only one remote has it. */
  get(fullName: string): Resource | undefined {
    return this.#nodes.get(this.fullNameOf(fullName))?.resource;
  }

  /** The same name, or the full one that a name with the short name of a remote's resource stands for. */
  fullNameOf(name: string): string {
    return this.#nodes.has(name) ? name : (this.#shortNames.get(name) ?? name);
  }

  /** Whether a build of it is in progress. */
  isConfiguring(fullName: string): boolean {
    return this.#nodes.get(fullName)?.status.state === 'configuring';
  }

  /** The resources of the latest configuration, in its order, then those of remotes; the same list until one of them changes. */
  get configuration(): readonly ResourceConfig[] {
    return this.#wanted;
  }

  status(): ResourceStatus[] {
    return [...this.#nodes.values()].map((node) => node.status);
  }

  /** Errors of the resources that could not be built, one per line; empty if there are none. */
  errors(): string {
    const unhealthy = this.status().filter(({ state }) => state === 'unhealthy');
    return unhealthy.map(({ config, error }) => `${fullNameOf(config)}: ${error}`).join('\n');
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
    this.#configured = wanted;
    await this.#applyWanted();
  }

  /** Sets the resources that a remote has. Their models must be known already (`provide`). */
  setRemote(remote: string, resources: readonly RemoteResource[]): void {
    if (resources.length === 0) this.#remote.delete(remote);
    else this.#remote.set(remote, resources);
    void this.#applyWanted();
  }

  async #applyWanted(): Promise<void> {
    const own = new Set(this.#configured.map(fullNameOf));
    const others = [...this.#remote.values()].flat().filter((config) => !own.has(fullNameOf(config)));
    const wanted = others.length === 0 ? this.#configured : [...this.#configured, ...others];
    this.#wanted = wanted;
    this.#shortNames = new Map(
      [...remoteShortNames(wanted)].flatMap(([name, [one]]) =>
        one !== undefined && name.includes('/') ? [[name, fullNameOf(one)]] : [],
      ),
    );
    this.#relate();
    const staying = [...this.#nodes.values()].filter(({ removal }) => removal === undefined);
    const { remove, build } = plan(new Map(staying.map(({ full, config }) => [full, config])), wanted);
    const removed = removeNodes(remove, this.#builds);
    for (const config of build) this.#begin(config, removed);
    await Promise.all([removed, ...[...this.#nodes.values()].flatMap(({ attempt }) => attempt?.done ?? [])]);
  }

  /**
   * Sets what a module provides now; undefined: it is permanently gone. Resources of models that no longer exist are lost without being
   * closed, because their process is gone; resources that can be built now are built.
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
        Object.assign(node, { resource: undefined, model: undefined, uses: noResources });
      }
      const waits = node.attempt === undefined && node.status.state !== 'ready';
      if (lost || waits) this.#begin(node.config, Promise.resolve());
    }
  }

  /** Builds a resource again that no longer works, unless that is in progress. */
  rebuild(fullName: string): void {
    this.#beginThose(({ full }) => full === fullName);
  }

  /** Immediately retries the resources that could not be built. */
  retry(): void {
    this.#beginThose(({ status }) => status.state === 'unhealthy');
  }

  /** Closes everything, dependents first; logs the resources that do not stop in time, and abandons them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#retry?.[Symbol.dispose]();
    const { clock, log } = this.#deps;
    const removed = removeNodes([...this.#nodes.keys()], this.#builds);
    const inTime = new AbortController();
    const isLate = await Promise.race([removed, clock.sleep(stopLimitMs, inTime.signal).then(() => true)]);
    inTime.abort();
    if (isLate !== true) return;
    const late = Map.groupBy(this.status(), ({ state }) => (state === 'removing' ? 'hanging' : 'waiting'));
    const namesOf = (which: 'hanging' | 'waiting'): string[] =>
      (late.get(which) ?? []).map(({ config }) => fullNameOf(config));
    const names = { hanging: namesOf('hanging'), waiting: namesOf('waiting') };
    log.error(`these resources did not stop within ${stopLimitMs} ms`, names);
  }

  /** Starts an attempt, in build order, for each idle node that fulfils the condition. */
  #beginThose(isDue: (node: Node) => boolean): void {
    const due = this.#inBuildOrder((node) => node.attempt === undefined && node.removal === undefined && isDue(node));
    for (const { config } of due) this.#begin(config, Promise.resolve());
  }

  #inBuildOrder(fits: (node: Node) => boolean): Node[] {
    return this.#relations.inBuildOrder([...this.#nodes.values()].filter(fits));
  }

  /** Recomputes the dependencies between the wanted resources. */
  #relate(): void {
    this.#relations.relate(this.#wanted, this.#nodes);
  }

  /** @param removed resolves when the resources that this configuration removes are gone: they may hold devices that this one needs. */
  #begin(config: ResourceConfig, removed: Promise<void>): void {
    const full = fullNameOf(config);
    const before = this.#nodes.get(full);
    const node =
      before !== undefined && before.removal === undefined
        ? before
        : newNode(full, config, this.#statusOf(config, 'configuring'));
    this.#nodes.set(full, node);
    node.attempt?.supersede();
    node.config = config;
    node.retryAt = Number.POSITIVE_INFINITY;
    const attempt = new Attempt();
    node.attempt = attempt;
    attempt.start(async (signal) => {
      await Promise.all([removed, before?.removal]);
      await this.#relations.attemptsDone(full, this.#nodes, signal);
      if (!signal.aborted) await this.#starts.next();
      if (!signal.aborted) await buildNode(node, signal, this.#builds);
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
      return now !== undefined && now !== resource && this.#relations.isBefore(other, full);
    });
  }

  /** Builds its dependents, unless they were built with this version. */
  #built(full: string, fresh: Resource): void {
    this.#beginThose(
      (other) =>
        this.#relations.foundBy(other.full).includes(full) &&
        this.#relations.isBefore(full, other.full) &&
        other.uses.get(full) !== fresh,
    );
  }

  #statusOf(config: ResourceConfig, state: ResourceState, error = ''): ResourceStatus {
    return { config, state, error, since: this.#deps.clock.now(), revision: this.#revision };
  }
}
