/** The resources that one process of a module runs for us: added, changed and removed by the module protocol. */
import { asPlatformError, type Clock, errorText, type LogLevel, PlatformError } from '@platform/base';
import { componentConfigOf } from '@platform/machine-config/robot-config';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createProxy, formatResourceName, type Resource, type ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';
import type { BuildContext, ImplicitDependencies, Model, Reconfigurable } from '../graph/model.ts';
import { noticing, saysForgotten } from './forgotten.ts';

/** A resource that is not removed by then ends with its process. */
const removeTimeoutMs = 20_000;
const validateTimeoutMs = 5_000;
const noticeEveryMs = 60_000;

/** A resource that the module has, or may have: a call that failed may have had its effect. */
interface Held {
  /** Full names of the resources that it uses. */
  dependencies: readonly string[];
  /** The level of its log that the module was told last. */
  level: LogLevel;
  /** The module has it, with its last configuration. */
  isCertain: boolean;
  removal?: Promise<void>;
}

export interface ModuleResourcesDeps {
  readonly link: Pick<Link, 'client'>;
  /** PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT. */
  readonly configureTimeoutMs: number;
  /** Called when a call shows that the module no longer has a resource: it must be built again. */
  readonly onForgotten: (full: string) => void;
  /** The level of the log of a resource, by its full name. */
  readonly levelOf: (full: string) => LogLevel;
  /** Called when the module must be told another level. */
  readonly rebuild: (full: string) => void;
  readonly clock: Clock;
}

export class ModuleResources {
  readonly #link: Pick<Link, 'client'>;
  readonly #configureTimeoutMs: number;
  /** By full name. */
  readonly #held = new Map<string, Held>();
  /** Ends the change of a resource that is in progress, by full name. */
  readonly #changes = new Map<string, AbortController>();
  readonly #onForgotten: (full: string) => void;
  readonly #levelOf: (full: string) => LogLevel;
  readonly #rebuild: (full: string) => void;
  readonly #clock: Clock;
  /** When the module was last noticed to have forgotten a resource, by full name. Monotonic ms. */
  readonly #noticedMs = new Map<string, number>();

  constructor({ link, configureTimeoutMs, onForgotten, levelOf, rebuild, clock }: ModuleResourcesDeps) {
    this.#link = link;
    this.#configureTimeoutMs = configureTimeoutMs;
    this.#onForgotten = onForgotten;
    this.#levelOf = levelOf;
    this.#rebuild = rebuild;
    this.#clock = clock;
  }

  /** Returns a model of the module. */
  model(type: ResourceDescriptor, model: string): Model {
    return {
      api: type.api,
      model,
      dependencies: (config, signal) => this.#validate(config, signal),
      build: (config, context) => this.#build(type, config, context),
    };
  }

  /** Changes the resources whose level has changed in place; the module protocol has no other way to tell it. */
  setLevels(): void {
    for (const [full, { level }] of this.#held) if (this.#levelOf(full) !== level) this.#rebuild(full);
  }

  /** Removes all resources, dependents before their dependencies; those that the module does not remove in time stay. */
  async removeAll(): Promise<void> {
    const all = [...this.#held];
    const begun = new Set<Held>();
    const begin = async (full: string, held: Held): Promise<void> => {
      if (begun.has(held)) return held.removal;
      begun.add(held);
      const dependents = all.filter(([, { dependencies }]) => dependencies.includes(full));
      const first = Promise.allSettled(dependents.map(([other, each]) => begin(other, each)));
      held.removal ??= first.then(() => this.#removeNow(full, held));
      await held.removal;
    };
    await Promise.allSettled(all.map(([full, held]) => begin(full, held)));
  }

  async #validate(config: ResourceConfig, signal: AbortSignal): Promise<ImplicitDependencies> {
    try {
      const { validateConfig } = this.#link.client(ModuleService);
      const options = { signal, timeoutMs: validateTimeoutMs };
      const answer = await validateConfig({ config: componentConfigOf(config) }, options);
      return { required: answer.dependencies, optional: answer.optionalDependencies };
    } catch (caught) {
      if (asPlatformError(caught).code === 'unimplemented') return { required: [], optional: [] };
      throw caught;
    }
  }

  /** Adds it, after the module has removed what it has, or may have, under that name. */
  async #build(type: ResourceDescriptor, config: ResourceConfig, context: BuildContext): Promise<Reconfigurable> {
    const full = formatResourceName(config);
    const before = this.#held.get(full);
    const level = this.#levelOf(full);
    const held: Held = { dependencies: [...context.dependencies.keys()], level, isCertain: false };
    this.#held.set(full, held);
    await this.#change(full, async (signal) => {
      if (before !== undefined) await this.#clear(full, context, signal);
      const { addResource } = this.#link.client(ModuleService);
      await addResource(requestOf(config, level, context), { timeoutMs: this.#configureTimeoutMs, signal });
    });
    held.isCertain = true;
    const isLost = (): boolean => this.#held.get(full) !== held;
    const noticed = noticing(this.#link, (caught) => this.#noticed(full, held, config.name, caught));
    const proxy: Reconfigurable = Object.assign(createProxy(type, noticed, config.name), {
      isLost,
      reconfigure: async (next: ResourceConfig, nextContext: BuildContext): Promise<Resource> => {
        const isChanged = !isLost() && (await this.#reconfigure(full, held, next, nextContext));
        return isChanged ? proxy : await this.#build(type, next, nextContext);
      },
      close: async () => {
        if (isLost()) return;
        held.removal ??= this.#removeNow(full, held);
        await held.removal;
      },
    });
    return proxy;
  }

  /** Changes it in place. @returns whether it was possible; if not, it must be added again */
  async #reconfigure(full: string, held: Held, config: ResourceConfig, context: BuildContext): Promise<boolean> {
    // After a failed change, only the module knows what is left of it.
    if (!held.isCertain) return false;
    held.isCertain = false;
    held.dependencies = [...context.dependencies.keys()];
    const level = this.#levelOf(full);
    held.level = level;
    const { reconfigureResource } = this.#link.client(ModuleService);
    const options = { timeoutMs: this.#configureTimeoutMs };
    try {
      const request = requestOf(config, level, context);
      await this.#change(full, (signal) => reconfigureResource(request, { ...options, signal }));
    } catch (caught) {
      if (['unimplemented', 'not_found'].includes(asPlatformError(caught).code)) return false;
      throw caught;
    }
    held.isCertain = true;
    return true;
  }

  #noticed(full: string, held: Held, name: string, caught: unknown): void {
    if (!held.isCertain || this.#held.get(full) !== held || !saysForgotten(caught, name)) return;
    const now = this.#clock.monotonic();
    // A resource that answers like this by itself must not be rebuilt at every call.
    if (now - (this.#noticedMs.get(full) ?? Number.NEGATIVE_INFINITY) < noticeEveryMs) return;
    this.#noticedMs.set(full, now);
    held.isCertain = false;
    this.#onForgotten(full);
  }

  /** Makes a change to a resource, which ends an earlier one that is still in progress. */
  async #change(full: string, change: (signal: AbortSignal) => Promise<unknown>): Promise<void> {
    this.#changes.get(full)?.abort();
    const mine = new AbortController();
    this.#changes.set(full, mine);
    try {
      await change(mine.signal);
    } finally {
      if (this.#changes.get(full) === mine) this.#changes.delete(full);
    }
  }

  /** A resource that cannot be removed does not keep the new one from being added: some modules forget it even then. */
  async #clear(full: string, { log }: BuildContext, signal: AbortSignal): Promise<void> {
    try {
      await this.#removeFromModule(full, signal);
    } catch (caught) {
      if (!signal.aborted) log.warn(`${errorText(caught)}; adding it nevertheless`);
    }
  }

  async #removeNow(full: string, held: Held): Promise<void> {
    try {
      await this.#removeFromModule(full);
    } finally {
      if (this.#held.get(full) === held) this.#held.delete(full);
    }
  }

  async #removeFromModule(name: string, signal = new AbortController().signal): Promise<void> {
    try {
      await this.#link.client(ModuleService).removeResource({ name }, { timeoutMs: removeTimeoutMs, signal });
    } catch (caught) {
      const { code, message } = asPlatformError(caught);
      // Without its process there is nothing to remove.
      if (code === 'not_found' || code === 'unavailable' || code === 'canceled') return;
      throw new PlatformError(code, `the module did not remove it: ${message}`, caught);
    }
  }
}

function requestOf(config: ResourceConfig, level: LogLevel, { dependencies }: BuildContext) {
  return {
    config: componentConfigOf({ ...config, log_configuration: { level } }),
    dependencies: [...dependencies.keys()],
  };
}
