/**
 * Replaces `${environment.NAME}` in the texts of a configuration by the variable of that name of this process.
 *
 * An unset variable is a fault of the resource, module, … that names it; others continue to run. Settings outside such entries are omitted,
 * except in `auth`: there a random text replaces the placeholder, so that nothing matches it. The configuration itself, its revision and
 * its cache keep the placeholders, so no value leaves this process with them; errors also show the placeholders.
 */
import { randomUUID } from 'node:crypto';
import type { Problem, Steps } from '@platform/base';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Resolved {
  readonly config: RobotConfig;
  /** One for each placeholder whose variable is not set, with its path. */
  readonly problems: readonly Problem[];
}

const placeholder = /\$\{environment\.([A-Za-z_][A-Za-z0-9_]*)\}/g;
/** Sections whose entries have their own faults, so their texts stay. */
const withEntries = /^(components|services|modules|packages|remotes|processes|jobs)\[/;

/** Shorter values would also match unrelated texts. */
const leastLength = 4;

export class ConfigEnvironment {
  readonly #variables: Environment | undefined;
  /** All values used in configurations, with their placeholders; the longest first, because it may contain others. */
  #values: readonly (readonly [value: string, placeholder: string])[] = [];

  /** @param variables undefined if this server must not expose its variables */
  constructor(variables: Environment | undefined) {
    this.#variables = variables;
  }

  /** The values that must not be shown. */
  get secrets(): readonly string[] {
    return this.#values.map(([value]) => value);
  }

  /** The text with placeholders in place of their values. */
  hide(text: string): string {
    let shown = text;
    for (const [value, placeholder] of this.#values)
      if (value.length >= leastLength) shown = shown.replaceAll(value, () => placeholder);
    return shown;
  }

  *resolve(config: RobotConfig): Steps<Resolved> {
    if (!(yield* needsResolving(config))) return { config, problems: [] };
    const problems: Problem[] = [];
    const used = new Map<string, string>();
    const { components, services, ...sections } = config;
    // Messages keep their prototype, by which their absent fields have their defaults.
    const resolved = Object.assign(
      Object.create(Object.getPrototypeOf(config)) as RobotConfig,
      this.#valueOf(sections, '', problems, used),
    );
    for (const [key, list] of Object.entries({ components, services })) {
      const copies: unknown[] = [];
      for (const [at, each] of list.entries()) {
        copies.push(this.#valueOf(each, `${key}[${at}]`, problems, used));
        yield;
      }
      Object.assign(resolved, { [key]: copies });
    }
    this.#values = [...new Map([...this.#values, ...used])].toSorted(([a], [b]) => b.length - a.length);
    return { config: resolved, problems };
  }

  #valueOf(value: unknown, path: string, problems: Problem[], used: Map<string, string>): unknown {
    if (typeof value === 'string')
      return value.includes('${environment.') ? this.#textOf(value, path, problems, used) : value;
    if (Array.isArray(value))
      return value.map((item: unknown, index) => this.#valueOf(item, `${path}[${index}]`, problems, used));
    if (typeof value !== 'object' || value === null || value instanceof Uint8Array || plain.has(value)) return value;
    const isMessage = '$typeName' in value;
    // Messages keep their prototype, by which their absent fields have their defaults.
    const copy = Object.create(Object.getPrototypeOf(value));
    for (const [key, item] of Object.entries(value)) {
      const at = `${path}${path === '' ? '' : '.'}${isMessage ? keyOf(key) : key}`;
      const next = key.startsWith('$') && isMessage ? item : this.#valueOf(item, at, problems, used);
      if (next !== undefined || item === undefined) copy[key] = next;
      else if (isMessage) copy[key] = '';
    }
    return copy;
  }

  /** Undefined if it is omitted because a variable is not set. */
  #textOf(text: string, path: string, problems: Problem[], used: Map<string, string>): string | undefined {
    let isWhole = true;
    const resolved = text.replace(placeholder, (whole, name: string) => {
      const value = this.#variables?.[name];
      if (value !== undefined) {
        if (value !== '') used.set(value, whole);
        return value;
      }
      isWhole = false;
      const found = this.#variables === undefined ? '-untrusted-env, which does not allow this' : 'no such variable';
      const message = `expected the environment variable ${name} of the machine-server, found ${found}`;
      problems.push({ path, level: 'error', message });
      return whole;
    });
    if (isWhole) return resolved;
    if (path.startsWith('auth.')) return randomUUID();
    return withEntries.test(path) ? text : undefined;
  }
}

/** Resources without a placeholder, which stay the same objects in later configurations (see share-equal.ts). */
const plain = new WeakSet<object>();

/** Most configurations have no placeholder, and large ones take a while to copy. */
function* needsResolving({ components, services, ...sections }: RobotConfig): Steps<boolean> {
  let found = hasPlaceholder(sections);
  for (const list of [components, services])
    for (const each of list) {
      if (plain.has(each)) continue;
      if (hasPlaceholder(each)) found = true;
      else plain.add(each);
      yield;
    }
  return found;
}

function hasPlaceholder(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('${environment.');
  if (typeof value !== 'object' || value === null || value instanceof Uint8Array) return false;
  for (const key in value) if (hasPlaceholder((value as Readonly<Record<string, unknown>>)[key])) return true;
  return false;
}

/** Fields whose keys in a document have other names. */
const keys: Readonly<Record<string, string>> = { path: 'executable_path', otlpEndpoint: 'otlpendpoint' };

/** The key of a field in a document. */
function keyOf(field: string): string {
  return keys[field] ?? field.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
