/**
 * Reads the JSON text of a configuration that a person wrote. Unlike JSON.parse, it reports a mistake with its line and column, reports a
 * key that appears twice in an object, and knows the place of every value.
 */
import type { Problem } from '@platform/base';

export type JsonText =
  | { readonly kind: 'invalid'; readonly message: string }
  | {
      readonly kind: 'read';
      readonly document: unknown;
      /** Keys that appear twice; the last one counts. */
      readonly problems: readonly Problem[];
      /** `line 3, column 7`: the place of the value at this path, or of the value that contains it. */
      placeOf(path: string): string;
    };

/** Deeper nesting would be a mistake, and could overflow the stack of code that walks the values. */
const maxDepth = 200;
const quote = 34;
const backslash = 92;
const firstPrintable = 32;
const literals: Readonly<Record<string, boolean | null>> = { true: true, false: false, null: null };
const blank = /[ \t\r\n]*/y;
const literal = /true|false|null/y;
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;

export function readJson(text: string): JsonText {
  const reader = new Reader(text);
  try {
    const document = reader.read();
    return {
      ...{ kind: 'read', document, problems: reader.problems },
      placeOf: (path) => reader.place(offsetOf(text, path)),
    };
  } catch (caught) {
    if (caught instanceof Mistake) return { kind: 'invalid', message: `${reader.place(caught.at)}: ${caught.message}` };
    throw caught;
  }
}

class Mistake extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** The offset of the value at the path, or of the value that would contain it. */
function offsetOf(text: string, path: string): number {
  const offsets = new Map<string, number>();
  new Reader(text, (at, offset) => void offsets.set(at, offset)).read();
  for (let rest = path; rest !== ''; rest = rest.replace(/(\[\d+\]|(^|\.)[^.[]*|\[)$/, '')) {
    const offset = offsets.get(rest);
    if (offset !== undefined) return offset;
  }
  return offsets.get('') ?? 0;
}

class Reader {
  readonly problems: Problem[] = [];
  readonly #text: string;
  readonly #onValue: ((path: string, offset: number) => void) | undefined;
  #at = 0;

  constructor(text: string, onValue?: (path: string, offset: number) => void) {
    this.#text = text;
    this.#onValue = onValue;
  }

  read(): unknown {
    // Some editors put it before the text.
    if (this.#text.startsWith('\uFEFF')) this.#at = 1;
    const value = this.#value([], 0);
    if (this.#at < this.#text.length) this.#fail('the end of the file');
    return value;
  }

  /** `line 3, column 7` of an offset. */
  place(offset: number): string {
    const before = this.#text.slice(0, offset).replace(/^\uFEFF/, '');
    const lines = before.split(/\r\n|\r|\n/);
    return `line ${lines.length}, column ${(lines.at(-1) ?? '').length + 1}`;
  }

  #value(path: readonly (string | number)[], depth: number): unknown {
    this.#take(blank);
    const start = this.#at;
    if (depth > maxDepth) throw new Mistake(start, `expected at most ${maxDepth} levels, found more`);
    this.#onValue?.(pathText(path), start);
    const value = this.#plain() ?? this.#list(path, depth) ?? this.#object(path, depth);
    if (value === undefined) this.#fail('a value');
    this.#take(blank);
    return value.of;
  }

  #plain(): { readonly of: unknown } | undefined {
    const word = this.#take(literal);
    if (word !== undefined) return { of: literals[word] };
    const digits = this.#take(number);
    if (digits !== undefined) return { of: Number(digits) };
    const text = this.#string();
    return text === undefined ? undefined : { of: text };
  }

  #list(path: readonly (string | number)[], depth: number): { readonly of: unknown[] } | undefined {
    if (!this.#has('[')) return undefined;
    const list: unknown[] = [];
    this.#take(blank);
    if (this.#has(']')) return { of: list };
    do list.push(this.#value([...path, list.length], depth + 1));
    while (this.#has(','));
    if (!this.#has(']')) this.#fail('"," or "]"');
    return { of: list };
  }

  #object(path: readonly (string | number)[], depth: number): { readonly of: object } | undefined {
    if (!this.#has('{')) return undefined;
    const entries = new Map<string, unknown>();
    this.#take(blank);
    if (this.#has('}')) return { of: {} };
    do {
      this.#take(blank);
      const start = this.#at;
      const key = this.#string() ?? this.#fail('a key in quotes');
      const at = [...path, key];
      if (entries.has(key)) {
        const message = `expected each key once, found it again (${this.place(start)}): only the last one would count`;
        this.problems.push({ path: pathText(at), level: 'error', message });
      }
      this.#take(blank);
      if (!this.#has(':')) this.#fail('":"');
      entries.set(key, this.#value(at, depth + 1));
    } while (this.#has(','));
    if (!this.#has('}')) this.#fail('"," or "}"');
    return { of: Object.fromEntries(entries) };
  }

  #has(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #string(): string | undefined {
    const start = this.#at;
    if (this.#text[start] !== '"') return undefined;
    let end = start + 1;
    for (let code = this.#text.charCodeAt(end); code !== quote; code = this.#text.charCodeAt(++end)) {
      if (!(code >= firstPrintable))
        throw new Mistake(start, 'expected a string that ends on its line, without control characters');
      if (code === backslash) end++;
    }
    this.#at = end + 1;
    try {
      return JSON.parse(this.#text.slice(start, this.#at));
    } catch {
      throw new Mistake(start, 'expected a string with valid escapes, such as \\n or \\u00e9');
    }
  }

  #fail(expected: string): never {
    const found = this.#text[this.#at];
    throw new Mistake(
      this.#at,
      `expected ${expected}, found ${found === undefined ? 'the end of the file' : JSON.stringify(found)}`,
    );
  }
}

/** `components[0].attributes.tags`. */
export function pathText(path: readonly (string | number)[]): string {
  let text = '';
  for (const step of path) text += typeof step === 'number' ? `[${step}]` : text === '' ? step : `.${step}`;
  return text;
}
