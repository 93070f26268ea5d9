/**
 * The running resources of a module.
 *
 * A resource: absent → (add) building → running → (reconfigure) in place, or rebuilt and swapped → (remove) closed, absent. Changes to
 * one resource run one after the other; changes to different resources may run concurrently.
 */
import { alreadyExists, errorText, failedPrecondition, type Log, notFound, unimplemented } from '@platform/base';
import {
  type Document,
  formatResourceName,
  type Resource,
  type ResourceDescriptor,
  shortType,
} from '@platform/resources';
import { authoredError } from './authored.ts';
import type { BuildConfig, Model, ModelResource, NeededResources, ResourceConfig } from './define-model.ts';

/** The context that a model gets besides the configuration of the resource. */
export type Context = Pick<BuildConfig, 'dependencies' | 'module' | 'log'>;

interface Running {
  readonly resource: BuiltResource;
  readonly model: Model;
  readonly log: Log;
}

export class RunningResources implements AsyncDisposable {
  readonly #models: readonly Model[];
  readonly #running = new Map<string, Running>();
  readonly #changes = new Map<string, Promise<void>>();

  constructor(models: readonly Model[]) {
    this.#models = models;
  }

  /** @throws not_found with the models of this module, invalid_argument from the model */
  async validate(config: ResourceConfig, log: Log): Promise<Required<NeededResources>> {
    return await authored(log, () => this.#modelOf(config).validate(config));
  }

  /** @throws already_exists, not_found, errors of the model */
  add(config: ResourceConfig, context: Context): Promise<void> {
    return this.#change(config, async (name) => {
      if (this.#running.has(name)) throw alreadyExists(`${name}: this module already has a resource of this name`);
      this.#running.set(name, await this.#build(config, context));
    });
  }

  /** @throws not_found, errors of the model; the old resource then continues to run */
  reconfigure(config: ResourceConfig, context: Context): Promise<void> {
    return this.#change(config, async (name) => {
      const old = this.#require(name);
      if (old.model === this.#modelOf(config) && old.resource.reconfigure !== undefined) {
        await authored(context.log, () => old.resource.reconfigure?.({ ...config, ...context }));
        this.#running.set(name, { ...old, log: context.log });
        return;
      }
      this.#running.set(name, await this.#build(config, context));
      // The new one runs even if the old one cannot be closed.
      await authored(old.log, () => old.resource.close()).catch((caught: unknown) =>
        old.log.warn('the previous resource could not be closed', { error: errorText(caught) }),
      );
    });
  }

  /** @param name full name. @throws not_found, errors from closing the resource, which is removed even then */
  remove(name: string): Promise<void> {
    return this.#inOrder(name, async () => {
      const { resource, log } = this.#require(name);
      this.#running.delete(name);
      await authored(log, () => resource.close());
    });
  }

  /** @throws not_found */
  get(type: ResourceDescriptor, name: string): { readonly resource: Resource; readonly log: Log } {
    const found = this.#running.get(`${type.api}/${name}`);
    if (found !== undefined) return found;
    throw notFound(`this module has no ${shortType(type)} "${name}"`);
  }

  /** Closes all, newest first, even if one cannot be closed. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const name of [...this.#running.keys()].reverse()) await this.remove(name).catch(() => {});
  }

  async #build(config: ResourceConfig, context: Context): Promise<Running> {
    const model = this.#modelOf(config);
    const resource = await authored(context.log, async () =>
      completeResource(model.type, await model.build({ ...config, ...context })),
    );
    return { resource, model, log: context.log };
  }

  #modelOf({ api, model }: ResourceConfig): Model {
    const found = this.#models.find((known) => known.type.api === api && known.model === model);
    if (found !== undefined) return found;
    const known = this.#models.map((each) => `${each.model} (${each.type.api})`).join(', ');
    throw notFound(`expected a model of this module (${known}), found ${model} (${api})`);
  }

  #require(name: string): Running {
    const found = this.#running.get(name);
    if (found !== undefined) return found;
    throw notFound(`this module has no resource ${name}`);
  }

  #change(config: ResourceConfig, change: (name: string) => Promise<void>): Promise<void> {
    const name = formatResourceName(config);
    return this.#inOrder(name, () => change(name));
  }

  /** Runs after the changes to this resource that were requested earlier. */
  async #inOrder(name: string, change: () => Promise<void>): Promise<void> {
    const before = this.#changes.get(name);
    const now = (async () => {
      await before?.catch(() => {});
      await change();
    })();
    this.#changes.set(name, now);
    try {
      await now;
    } finally {
      if (this.#changes.get(name) === now) this.#changes.delete(name);
    }
  }
}

async function authored<T>(log: Log, run: () => T | Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (caught) {
    throw authoredError(caught, undefined, log);
  }
}

interface BuiltResource extends Resource {
  reconfigure?(config: BuildConfig): Promise<void> | void;
}

/** Completes the object that a model built. @throws failed_precondition if it lacks methods of its type */
function completeResource(type: ResourceDescriptor, built: ModelResource<Resource>): BuiltResource {
  const completed = {
    doCommand: async (_command: Document): Promise<Document> => {
      throw unimplemented('this model has no commands');
    },
    close: async () => {},
    ...methodsOf(built),
  } as unknown as BuiltResource;
  if (type.implementedBy(completed)) return completed;
  const wanted = Object.keys(type.methods).map((name) => (name === 'getReadings' ? 'readings' : name));
  const missing = wanted.filter((name) => !(name in completed));
  throw failedPrecondition(
    `build: expected an object with the methods of ${type.api}, found one without ${missing.join(', ')}`,
  );
}

/** The methods of an object, including those of its class, bound to it. */
function methodsOf(built: object): Record<string, unknown> {
  const methods: Record<string, unknown> = {};
  for (let at = built; at !== null && at !== Object.prototype; at = Object.getPrototypeOf(at)) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(at)))
      if (typeof value === 'function' && name !== 'constructor') methods[name] ??= value.bind(built);
  }
  return methods;
}
