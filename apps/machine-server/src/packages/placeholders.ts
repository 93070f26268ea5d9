/** Resolves `${packages.<name>}` and `${packages.<type>.<name>}` in a configuration to the folder of the package. */
import type { Json, JsonObject, MachineConfig, ResourceConfig } from '@platform/machine-config/schema';

const placeholder = /\$\{packages\.(?:([\w-]+)\.)?([\w-]+)\}/g;

/** @param folder finds the folder of a package by its name and, if given, its type; undefined if there is none: the text is unchanged. */
export function resolvePlaceholders(
  config: MachineConfig,
  folder: (name: string, type: string | undefined) => string | undefined,
): MachineConfig {
  const text = (found: string): string =>
    found.replace(placeholder, (whole, type: string | undefined, name: string) => folder(name, type) ?? whole);
  const value = (found: Json): Json => {
    if (typeof found === 'string') return found.includes('${packages.') ? text(found) : found;
    if (Array.isArray(found)) return found.map((item: Json) => value(item));
    return typeof found === 'object' && found !== null ? object(found as JsonObject) : found;
  };
  const object = (found: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(found).map(([key, item]) => [key, value(item)]));
  const resource = (found: ResourceConfig): ResourceConfig =>
    hasPlaceholder(found) ? { ...found, attributes: object(found.attributes) } : found;
  return {
    ...config,
    components: config.components.map(resource),
    services: config.services.map(resource),
    modules: config.modules.map(object),
  };
}

/** Resources without a placeholder, which stay the same objects in later configurations (see share-equal.ts). */
const plain = new WeakSet<ResourceConfig>();

function hasPlaceholder(resource: ResourceConfig): boolean {
  if (plain.has(resource)) return false;
  if (mentions(resource.attributes)) return true;
  plain.add(resource);
  return false;
}

function mentions(value: Json): boolean {
  if (typeof value === 'string') return value.includes('${packages.');
  return typeof value === 'object' && value !== null && Object.values(value).some(mentions);
}
