import type { Json } from '../schema.ts';

export interface FragmentLimits {
  /** Total number of imports that are followed. */
  readonly maxImports: number;
  /** Approximate total of JSON characters that are copied during resolution. */
  readonly maxCharacters: number;
  /** A fragment in a fragment is the second level. */
  readonly maxNesting: number;
}

export const defaultFragmentLimits: FragmentLimits = {
  maxImports: 500,
  maxCharacters: 16 * 1024 * 1024,
  maxNesting: 5,
};

/** Deeper values are refused, because walking them would overflow the stack. */
export const maxDepth = 150;

/** Only thrown and caught inside the resolver. */
export class TooLarge extends Error {}

/** The remaining cost that resolution may incur. Without it, a few small fragments could grow exponentially by importing each other. */
export class Budget {
  readonly #limits: FragmentLimits;
  #imports = 0;
  #characters = 0;

  constructor(limits: Partial<FragmentLimits> = {}) {
    this.#limits = { ...defaultFragmentLimits, ...limits };
  }

  get maxNesting(): number {
    return this.#limits.maxNesting;
  }

  /** @throws TooLarge */
  takeImport(): void {
    this.#imports++;
    if (this.#imports > this.#limits.maxImports)
      throw new TooLarge(
        `expected at most ${this.#limits.maxImports} imports including nested ones, found more: nothing was imported`,
      );
  }

  /** @throws TooLarge */
  takeCharacters(count: number): void {
    this.#characters += count;
    if (this.#characters > this.#limits.maxCharacters)
      throw new TooLarge(
        `expected fragments of at most ${this.#limits.maxCharacters} characters in total, found more: nothing was imported`,
      );
  }

  /** A copy in which `replace` may substitute an object; its result is not walked again. */
  copy(value: Json, replace?: (object: { readonly [key: string]: Json }, path: string) => Json | undefined): Json {
    return this.#copy(value, replace, '', 0);
  }

  #copy(
    value: Json,
    replace: ((object: { readonly [key: string]: Json }, path: string) => Json | undefined) | undefined,
    path: string,
    depth: number,
  ): Json {
    if (typeof value === 'string') this.takeCharacters(value.length + 2);
    else this.takeCharacters(4);
    if (typeof value !== 'object' || value === null) return value;
    if (depth > maxDepth)
      throw new TooLarge(
        `expected at most ${maxDepth} levels of nesting in a fragment, found more: nothing was imported`,
      );
    if (Array.isArray(value))
      return value.map((item: Json, index) => this.#copy(item, replace, `${path}[${index}]`, depth + 1));
    const object = value as { readonly [key: string]: Json };
    const other = replace?.(object, path);
    if (other !== undefined) return other;
    // fromEntries defines keys, so "__proto__" stays an ordinary key.
    return Object.fromEntries(
      Object.entries(object).map(([key, item]) => {
        this.takeCharacters(key.length + 3);
        return [key, this.#copy(item, replace, path === '' ? key : `${path}.${key}`, depth + 1)];
      }),
    );
  }
}
