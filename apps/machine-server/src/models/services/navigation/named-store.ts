/** What a fake navigation service keeps under names: locations, routes, zones. */
import { alreadyExists, invalidArgument, notFound, resourceExhausted } from '@platform/base';

/** Far more than experiments need; it bounds memory. */
const most = 1_000;

export class NamedStore<T extends { readonly name: string }> {
  readonly #kind: string;
  readonly #items = new Map<string, T>();

  /** @param kind of the items, in messages and, with `_name`, as the field of requests */
  constructor(kind: string) {
    this.#kind = kind;
  }

  /** @throws invalid_argument without a name, already_exists, resource_exhausted */
  add(item: T): T {
    this.#requireFree(item.name, `${this.#kind}_name`);
    if (this.#items.size >= most) throw resourceExhausted(`expected at most ${most} ${this.#kind}s, found one more`);
    this.#items.set(item.name, item);
    return item;
  }

  /** @throws invalid_argument without a name, not_found */
  get(name: string): T {
    const found = this.#items.get(name);
    if (found !== undefined) return found;
    const field = `${this.#kind}_name`;
    if (name === '') throw invalidArgument(`${field}: expected the name of a saved ${this.#kind}, found none`);
    throw notFound(`${field}: there is no ${this.#kind} "${name}"`);
  }

  list(): T[] {
    return [...this.#items.values()];
  }

  /** Replaces an item, which may get another name. @throws as `get` and, for the new name, as `add` */
  update(name: string, item: T): T {
    this.get(name);
    if (item.name !== name) this.#requireFree(item.name, 'new_name');
    this.#items.delete(name);
    this.#items.set(item.name, item);
    return item;
  }

  /** @throws as `get` */
  delete(name: string): void {
    this.get(name);
    this.#items.delete(name);
  }

  #requireFree(name: string, field: string): void {
    if (name === '') throw invalidArgument(`${field}: expected the name of the ${this.#kind}, found none`);
    if (this.#items.has(name)) throw alreadyExists(`${field}: there is already a ${this.#kind} "${name}"`);
  }
}
