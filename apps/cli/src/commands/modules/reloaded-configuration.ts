/** Puts the folder of a developer's module into a configuration. */
import { invalidArgument } from '@platform/base/refusals';
import type { JsonObject } from '@platform/machine-config/schema';

export interface Reloaded {
  /** The name of the entry in `modules`; absent: the one with this module_id, or with the module's own name. */
  readonly name: string | undefined;
  /** Its own name, for a new entry. */
  readonly moduleName: string;
  readonly moduleId: string;
  /** The program to start. */
  readonly path: string;
}

/** Matches paths set by an earlier reload. */
const ofReload = /\/dist\/reload\/[0-9a-f]+\/run\.sh$/;

/**
 * The entry of the module gets `reload_path` and `reload_enabled`, so that `reload_enabled: false` restores the original; without an entry,
 * a local one is added.
 *
 * @throws invalid_argument if `modules` is not a list. @returns the name of the entry
 */
export function withReloaded(
  document: JsonObject,
  { name, moduleName, moduleId, path }: Reloaded,
): { readonly document: JsonObject; readonly name: string } {
  const modules = document['modules'] ?? [];
  if (!Array.isArray(modules)) throw invalidArgument(`modules: expected a list, found ${JSON.stringify(modules)}`);
  const entries = modules as readonly JsonObject[];
  const found =
    name === undefined
      ? (entries.find((one) => one['module_id'] === moduleId) ?? entries.find((one) => one['name'] === moduleName))
      : entries.find((one) => one['name'] === name);
  const changed: JsonObject =
    found === undefined
      ? { name: name ?? moduleName, type: 'local', executable_path: path }
      : ofReload.test(String(found['executable_path'])) && found['reload_enabled'] !== true
        ? { ...found, executable_path: path }
        : { ...found, reload_path: path, reload_enabled: true };
  const others = entries.map((one) => (one === found ? changed : one));
  return {
    document: { ...document, modules: found === undefined ? [...entries, changed] : others },
    name: String(changed['name']),
  };
}
