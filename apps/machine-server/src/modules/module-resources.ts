/** The resources that one process of a module runs for us: added, changed and removed by the module protocol. */
import { asPlatformError, PlatformError } from '@platform/base';
import { componentConfigOf } from '@platform/machine-config/robot-config';
import type { ResourceConfig } from '@platform/machine-config/schema';
import { ModuleService } from '@platform/proto/platform/module/v1/module';
import { createProxy, formatResourceName, type ResourceDescriptor } from '@platform/resources';
import type { Link } from '@platform/rpc/client';
import type { BuildContext, ImplicitDependencies, Model, Reconfigurable } from '../graph/model.ts';

/** A resource that is not removed by then ends with its process. */
const removeTimeoutMs = 20_000;
const validateTimeoutMs = 5_000;

export class ModuleResources {
  readonly #link: Pick<Link, 'client'>;
  readonly #configureTimeoutMs: number;
  /** Full names of the process's resources, each with the owner that may remove it. */
  readonly #held = new Map<string, symbol>();

  /** @param configureTimeoutMs PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT */
  constructor(link: Pick<Link, 'client'>, configureTimeoutMs: number) {
    this.#link = link;
    this.#configureTimeoutMs = configureTimeoutMs;
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

  /** Removes all resources at the same time; those that the module does not remove in time stay. */
  async removeAll(): Promise<void> {
    await Promise.allSettled([...this.#held.keys()].map((full) => this.#remove(full)));
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

  async #build(type: ResourceDescriptor, config: ResourceConfig, context: BuildContext): Promise<Reconfigurable> {
    const full = formatResourceName(config);
    // Until now, another model of this module had that name.
    if (this.#held.has(full)) await this.#remove(full);
    const owner = Symbol(full);
    this.#held.set(full, owner);
    try {
      await this.#add(config, context);
    } catch (caught) {
      if (this.#held.get(full) === owner) this.#held.delete(full);
      throw caught;
    }
    return Object.assign(createProxy(type, this.#link, config.name), {
      reconfigure: (next: ResourceConfig, nextContext: BuildContext) => this.#reconfigure(next, nextContext),
      close: async () => {
        if (this.#held.get(full) === owner) await this.#remove(full);
      },
    });
  }

  async #add(config: ResourceConfig, { dependencies }: BuildContext): Promise<void> {
    const { addResource } = this.#link.client(ModuleService);
    const request = { config: componentConfigOf(config), dependencies: [...dependencies.keys()] };
    await addResource(request, { timeoutMs: this.#configureTimeoutMs });
  }

  async #reconfigure(config: ResourceConfig, context: BuildContext): Promise<void> {
    const { reconfigureResource } = this.#link.client(ModuleService);
    const request = { config: componentConfigOf(config), dependencies: [...context.dependencies.keys()] };
    try {
      await reconfigureResource(request, { timeoutMs: this.#configureTimeoutMs });
    } catch (caught) {
      if (asPlatformError(caught).code !== 'unimplemented') throw caught;
      await this.#removeFromModule(formatResourceName(config));
      await this.#add(config, context);
    }
  }

  async #remove(full: string): Promise<void> {
    this.#held.delete(full);
    await this.#removeFromModule(full);
  }

  async #removeFromModule(name: string): Promise<void> {
    try {
      await this.#link.client(ModuleService).removeResource({ name }, { timeoutMs: removeTimeoutMs });
    } catch (caught) {
      const { code, message } = asPlatformError(caught);
      // Without its process there is nothing to remove.
      if (code === 'not_found' || code === 'unavailable' || code === 'canceled') return;
      throw new PlatformError(code, `the module did not remove it: ${message}`, caught);
    }
  }
}
