/**
 * One remote: another machine, whose resources are in the graph of this one.
 *
 * States: connecting → reached → away (a look failed, or its path was lost) → reached → … Reached, it is looked at every 10 s; away, after
 * 1 s, then doubled up to 10 s. Away, its resources stay in the graph, and each is unhealthy with the reason; before the first look it has
 * none. A resource that the remote no longer lists is removed.
 *
 * Calls that move something belong to one session with the remote: if this machine dies, the remote stops what it moved.
 */
import { getOption } from '@bufbuild/protobuf';
import { asPlatformError, backoffMs, type ClockAndLog, type CodeName, unavailable } from '@platform/base';
import { safety_heartbeat_monitored } from '@platform/proto/platform/common/v1/common';
import { createProxy, formatResourceName, type ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';
import { createSession, type Path, type Reached, type Session } from '@platform/webrtc';
import type { Model } from '../graph/model.ts';
import { type Provided, remoteModelPrefix } from '../graph/model-table.ts';
import type { RemoteResource } from '../graph/remote-resource.ts';
import { type ListedResource, listResources } from './list-resources.ts';
import type { RemoteConfig } from './remote-config.ts';
import { serviceConfigsOf } from './service-configs.ts';

export interface RemoteDeps extends ClockAndLog {
  /** Connects at the first call. @throws invalid_argument for an address that cannot be read */
  readonly open: (config: RemoteConfig) => Reached;
  /** The type of these resources; undefined: neither this version nor the remote knows it. */
  readonly typeOf: (
    api: string,
    link: Pick<Link, 'client'>,
    signal: AbortSignal,
  ) => Promise<ResourceDescriptor | undefined>;
  readonly ownPartId: string;
  /** Sets in the graph the models of the remote's resources; undefined: permanently none. */
  readonly provide: (provider: string, provided: Provided | undefined) => void;
  /** Sets in the graph the remote's resources. */
  readonly setRemote: (remote: string, resources: readonly RemoteResource[]) => void;
  /** Called after it was reached, or is away. */
  readonly onChange: () => void;
}

const longestWaitMs = 10_000;

interface Known {
  readonly type: ResourceDescriptor;
  readonly listed: ListedResource;
  /** Why it cannot be called; empty if it can. */
  problem: string;
  model: Model;
}

export class Remote implements AsyncDisposable {
  readonly #deps: RemoteDeps;
  readonly #stop = new AbortController();
  #config: RemoteConfig;
  #reached: Reached | undefined;
  #session: Session | undefined;
  /** The last one that worked. */
  #path: Path | undefined;
  #away: string;
  #awayCode: CodeName | undefined;
  #failures = 0;
  /** By full name in the graph. */
  #known = new Map<string, Known>();
  /** What is left out, as it was logged last. */
  #omitted = '';
  #wake = (): void => {};
  #over: Promise<void> = Promise.resolve();

  constructor(config: RemoteConfig, deps: RemoteDeps) {
    this.#config = config;
    this.#deps = deps;
    this.#away = this.#awayText('it is being connected');
  }

  get config(): RemoteConfig {
    return this.#config;
  }

  /** Why it is not reached; empty if it is. */
  get away(): string {
    return this.#away;
  }

  start(): void {
    this.#over = this.#run();
  }

  /** Only what is captured may differ from before. */
  change(config: RemoteConfig): void {
    this.#config = config;
    this.#setResources();
  }

  /** Leaves its resources in the graph. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    this.#wake();
    this.#session?.[Symbol.dispose]();
    await this.#over;
    await this.#reached?.[Symbol.asyncDispose]();
  }

  /** Removes it from the graph, and ends its connection. */
  async remove(): Promise<void> {
    const { provide, setRemote } = this.#deps;
    const ended = this[Symbol.asyncDispose]();
    setRemote(this.#config.name, []);
    provide(this.#provider, undefined);
    await ended;
  }

  get #provider(): string {
    return `remote "${this.#config.name}"`;
  }

  async #run(): Promise<void> {
    const { signal } = this.#stop;
    while (!signal.aborted) {
      const waitMs = await this.#look();
      await this.#pause(waitMs);
    }
  }

  /** @returns how long to wait before the next look */
  async #look(): Promise<number> {
    const { signal } = this.#stop;
    const { checkMs, reconnectMs, error } = this.#config;
    try {
      if (error !== '') throw unavailable(error);
      const link = this.#open().link;
      const { resources, omitted } = await listResources(link, this.#deps.ownPartId, signal);
      const left = await this.#take(resources, link);
      if (signal.aborted) return 0;
      this.#nowReached([...omitted, ...left]);
      // What is being built there is soon ready.
      return resources.some(({ problem }) => problem !== '') ? Math.min(checkMs, reconnectMs) : checkMs;
    } catch (caught) {
      if (signal.aborted) return 0;
      this.#failures++;
      const { code, message } = asPlatformError(caught);
      // On a busy computer, one answer may be late.
      if (code === 'deadline_exceeded' && this.#away === '' && this.#failures === 1) return 0;
      this.#nowAway(code, message);
      return backoffMs(this.#failures, { firstMs: reconnectMs, maxMs: Math.max(reconnectMs, longestWaitMs) });
    }
  }

  async #pause(ms: number): Promise<void> {
    if (this.#stop.signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    using _nap = this.#deps.clock.after(ms, resolve);
    this.#wake = resolve;
    await promise;
  }

  #open(): Reached {
    if (this.#reached !== undefined) return this.#reached;
    const reached = this.#deps.open(this.#config);
    reached.onPath(({ path, reason }) => {
      const { log } = this.#deps;
      if (path !== undefined) this.#path = path;
      if (path !== undefined) log.info(`remote "${this.#config.name}" is called by the path ${path}`);
      else if (reason !== undefined && this.#away === '') this.#wake();
    });
    this.#reached = reached;
    return reached;
  }

  /** @returns those that are left out, and why */
  async #take(listed: readonly ListedResource[], link: Pick<Link, 'client'>): Promise<string[]> {
    const { name, prefix } = this.#config;
    const known = new Map<string, Known>();
    const omitted: string[] = [];
    const types = new Map<string, ResourceDescriptor | undefined>();
    for (const { api } of listed)
      if (!types.has(api)) types.set(api, await this.#deps.typeOf(api, link, this.#stop.signal));
    this.#stop.signal.throwIfAborted();
    for (const one of listed) {
      const type = types.get(one.api);
      const full = formatResourceName({ api: one.api, name: `${name}:${prefix}${one.name}` });
      const problem = one.problem === '' ? '' : `at the remote "${name}", ${one.problem}`;
      const before = this.#known.get(full);
      if (type === undefined) omitted.push(`${full}: neither this machine nor the remote describes its type`);
      else if (before !== undefined && before.problem === problem && before.type === type)
        known.set(full, { ...before, listed: one });
      else known.set(full, { type, listed: one, problem, model: this.#modelOf(full, type, one, problem) });
    }
    const isSame =
      known.size === this.#known.size &&
      [...known].every(([full, { model }]) => this.#known.get(full)?.model === model);
    this.#known = known;
    if (!isSame) this.#setResources();
    return omitted;
  }

  #modelOf(full: string, type: ResourceDescriptor, { name }: ListedResource, problem: string): Model {
    return {
      api: type.api,
      model: `${remoteModelPrefix}${full}`,
      build: async () => {
        if (problem !== '') throw unavailable(problem);
        return createProxy(type, this.#connection, name);
      },
    };
  }

  /** Calls of methods that move something have the session with the remote. */
  get #connection(): Pick<Link, 'client'> {
    return this.#open().link.withHeaders(async (method) => {
      if (!getOption(method, safety_heartbeat_monitored)) return {};
      const { link, floor } = this.#open();
      this.#session ??= createSession(link, floor, this.#deps.clock);
      const id = await this.#session.id();
      return id === '' ? {} : { 'viam-sid': id };
    });
  }

  /** Tells the graph what there is now: models before the resources that need them, and for as long. */
  #setResources(): void {
    const { provide, setRemote } = this.#deps;
    const { name, prefix, serviceConfigs } = this.#config;
    const models = [...this.#known.values()].map(({ model }) => model);
    provide(this.#provider, { state: 'ready', models });
    const resources = [...this.#known.values()].map(
      ({ listed: { api, name: there, owner }, model }): RemoteResource => {
        const shortName = `${prefix}${there}`;
        const named = [there, shortName, `${name}:${shortName}`].map((each) => formatResourceName({ api, name: each }));
        return {
          ...{ name: `${name}:${shortName}`, api, model: model.model, attributes: {}, depends_on: [] },
          service_configs: serviceConfigsOf(serviceConfigs, new Set(named)),
          ...{ remote: name, shortName, owner },
        };
      },
    );
    setRemote(name, resources);
  }

  #nowReached(omitted: readonly string[]): void {
    const { log, onChange } = this.#deps;
    const { name } = this.#config;
    const all = omitted.join('; ');
    if (all !== this.#omitted && all !== '') log.warn(`remote "${name}": left out: ${all}`);
    this.#omitted = all;
    this.#failures = 0;
    if (this.#away === '') return;
    this.#awayCode = undefined;
    this.#away = '';
    log.info(`remote "${name}" is reached`, { path: this.#path, resources: this.#known.size });
    onChange();
  }

  /** A reason of the same kind does not replace the one before: each attempt may fail in its own words. */
  #nowAway(code: CodeName, reason: string): void {
    if (this.#awayCode === code) return;
    this.#awayCode = code;
    const { log, onChange } = this.#deps;
    // The remote has stopped what it moved, or has forgotten it.
    this.#session?.[Symbol.dispose]();
    this.#session = undefined;
    this.#away = this.#awayText(reason);
    log.warn(`${this.#away}; trying again`);
    for (const [full, one] of this.#known)
      this.#known.set(full, {
        ...{ type: one.type, listed: one.listed, problem: this.#away },
        model: this.#modelOf(full, one.type, one.listed, this.#away),
      });
    if (this.#known.size > 0) this.#setResources();
    onChange();
  }

  #awayText(reason: string): string {
    const { name, address } = this.#config;
    const path = this.#path;
    return `the remote "${name}" (${address}${path === undefined ? '' : `, by the path ${path}`}) is not reached: ${reason}`;
  }
}
