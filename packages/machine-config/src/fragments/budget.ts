import type { Json } from '../schema.ts';

export interface FragmentLimits {
  /** Imports that are followed in total. */
  readonly maxImports: number;
  /** Characters of JSON, about, that are copied in all while resolving. */
  readonly maxCharacters: number;
  /** A fragment in a fragment is the second level. */
  readonly maxNesting: number;
}

export const defaultFragmentLimits: FragmentLimits = {
  maxImports: 500,
  maxCharacters: 16 * 1024 * 1024,
  maxNesting: 5,
};

/** Values deeper than this are refused: whoever walks them would overflow its stack. */
export const maxDepth = 150;

/** Thrown inside the resolver alone, and caught by it. */
export class TooLarge extends Error {}

/** What resolving may still cost. A few small fragments that import each other many times are a bomb otherwise. */
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

  /** A copy in which `replace` may put another value in the place of an object; what it answers is not walked again. */
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
    // fromEntries defines keys, so that "__proto__" stays a key like any other.
    return Object.fromEntries(
      Object.entries(object).map(([key, item]) => {
        this.takeCharacters(key.length + 3);
        return [key, this.#copy(item, replace, path === '' ? key : `${path}.${key}`, depth + 1)];
      }),
    );
  }
}
