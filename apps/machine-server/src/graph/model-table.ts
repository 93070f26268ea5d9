/** The available models: built-in ones, and those that modules currently provide. */
import { notFound, unavailable } from '@platform/base';
import type { ResourceConfig } from '@platform/machine-config/schema';
import type { Model } from './model.ts';

/** Models of the resources of other machines; nobody configures one. */
export const remoteModelPrefix = 'remote:';

/** What a module or a remote provides. `starting`: not known yet, so resources wait for it; `failed`: nothing until it runs again. */
export type Provided =
  | { readonly state: 'starting' }
  | { readonly state: 'ready'; readonly models: readonly Model[] }
  | { readonly state: 'failed'; readonly reason: string };

/** A model, or the module for which a resource of an unknown model waits. */
export type FoundModel = { readonly model: Model } | { readonly waitsFor: string };

interface Provider {
  provided: Provided;
  /** `<api> <model>` of each model that it last provided. */
  known: ReadonlySet<string>;
}

export class ModelTable {
  readonly #builtIn: readonly Model[];
  readonly #providers = new Map<string, Provider>();

  constructor(builtIn: readonly Model[]) {
    this.#builtIn = builtIn;
  }

  /** @param name such as `module "door"`. @param provided undefined: it is permanently gone. @returns the models that no longer exist. */
  set(name: string, provided: Provided | undefined): ReadonlySet<Model> {
    const before = this.#providers.get(name);
    const models = modelsOf(provided);
    if (provided === undefined) this.#providers.delete(name);
    else {
      const known = provided.state === 'ready' ? new Set(models.map(keyOf)) : (before?.known ?? new Set<string>());
      this.#providers.set(name, { provided, known });
    }
    const staying = new Set(models);
    return new Set(modelsOf(before?.provided).filter((model) => !staying.has(model)));
  }

  /** @throws not_found with the available models; unavailable if the module that had the model does not run */
  find({ api, model }: ResourceConfig): FoundModel {
    const all = [...this.#builtIn, ...[...this.#providers.values()].flatMap(({ provided }) => modelsOf(provided))];
    const found = all.find((known) => known.api === api && known.model === model);
    if (found !== undefined) return { model: found };
    for (const [name, { provided, known }] of this.#providers)
      if (provided.state === 'failed' && known.has(keyOf({ api, model })))
        throw unavailable(`${name}, which has its model, is not running: ${provided.reason}`);
    const starting = this.#namesOf('starting');
    if (starting.length > 0 && !model.startsWith('core:')) return { waitsFor: starting.join(' and ') };
    const ofApi = all.filter((known) => known.api === api && !known.model.startsWith(remoteModelPrefix));
    const text =
      ofApi.length === 0
        ? `this version of the machine-server has no resources of type ${api}`
        : `${api} has no model "${model}" in this version of the machine-server; known: ${ofApi.map((each) => each.model).join(', ')}`;
    const failed = this.#namesOf('failed');
    throw notFound(
      failed.length === 0 ? text : `${text}; it may come from a module that is not running: ${failed.join(', ')}`,
    );
  }

  #namesOf(state: Provided['state']): string[] {
    return [...this.#providers].flatMap(([name, { provided }]) => (provided.state === state ? [name] : []));
  }
}

function modelsOf(provided: Provided | undefined): readonly Model[] {
  return provided?.state === 'ready' ? provided.models : [];
}

function keyOf({ api, model }: { readonly api: string; readonly model: string }): string {
  return `${api} ${model}`;
}
