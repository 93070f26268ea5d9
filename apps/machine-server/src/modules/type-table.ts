/** The resource types of this machine: those of this version, and those that only modules know. */
import type { ResourceDescriptor } from '@platform/resources';

export class TypeTable {
  readonly #known: readonly ResourceDescriptor[];
  readonly #added = new Map<string, ResourceDescriptor>();
  readonly #listeners: (() => void)[] = [];
  #byApi: ReadonlyMap<string, ResourceDescriptor>;

  constructor(known: readonly ResourceDescriptor[]) {
    this.#known = known;
    this.#byApi = new Map(known.map((type) => [type.api, type]));
  }

  get all(): readonly ResourceDescriptor[] {
    return [...this.#known, ...this.#added.values()];
  }

  get known(): readonly ResourceDescriptor[] {
    return this.#known;
  }

  /** Types from modules. A type stays after its module is gone; the error of its calls is then that there is no such resource. */
  get added(): readonly ResourceDescriptor[] {
    return [...this.#added.values()];
  }

  of(api: string): ResourceDescriptor | undefined {
    return this.#byApi.get(api);
  }

  /** Adds a type, or replaces an earlier one from a module. */
  add(type: ResourceDescriptor): void {
    this.#added.set(type.api, type);
    this.#byApi = new Map([...this.#added.values(), ...this.#known].map((each) => [each.api, each]));
    for (const listener of this.#listeners) listener();
  }

  /** Calls the listener after each change. */
  onChange(listener: () => void): void {
    this.#listeners.push(listener);
  }
}
