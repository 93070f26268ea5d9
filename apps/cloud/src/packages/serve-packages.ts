/**
 * Packages and registry modules in the configurations that machines receive.
 *
 * A module of type `registry` names `<organization>:<package>` and a version. The machine receives a package entry with the version for its
 * platform, and a path into the package, which the machine resolves itself (`${packages.module.<name>}/…`). A package that this
 * installation cannot serve carries the reason as `status`: machine-servers skip it and run the rest. So does the package of a module that it
 * cannot serve, by which our machine-servers keep the version that they run. Public ones get no such module: they compare the modules that
 * they run with those of the configuration, and would reconfigure forever.
 */
import type { Problem } from '@platform/base';
import type { JsonObject, MachineConfig } from '@platform/machine-config/schema';
import type { Vocabulary } from '@platform/rpc/server';
import type { Database } from '../metadata/tables.ts';
import { choose, packageId, packagesOf, servedVersion } from './find-packages.ts';
import { textOf } from './modules/module-message.ts';
import { typeName, typeNamed } from './package-type.ts';
import type { PackageRow } from './store.ts';

export interface ServePackages {
  /** Changes whenever the organization's packages change. */
  stampOf(organizationId: string): string;
  /** Must be called after a commit. */
  changed(organizationId: string): void;
  /** The configuration as a machine receives it. */
  resolved(config: MachineConfig, organizationId: string, peer: PackagePeer): Promise<MachineConfig>;
  /** Packages and registry modules of a configuration that cannot be served, as warnings with their paths. */
  problemsOf(config: MachineConfig, organizationId: string): Promise<readonly Problem[]>;
}

/** The machine-server that asks. */
export interface PackagePeer {
  /** Such as `linux/amd64`; empty: unknown. */
  readonly platform: string;
  readonly vocabulary: Vocabulary;
}

/** For a module whose package names no entrypoint: public machine servers read the `meta.json` next to it. */
const defaultEntrypoint = 'run.sh';

type Found =
  | { readonly row: PackageRow }
  | {
      readonly problem: string /** Its newest version for the machine; undefined: none. */;
      readonly newest?: PackageRow | undefined;
    };

interface Asked {
  readonly owner: string;
  readonly name: string;
  readonly type: string;
  readonly version: string;
}

export function createServePackages(deps: {
  readonly db: Database;
  /** Id of the organization with this id or public namespace. */
  readonly organizationNamed: (name: string) => string | undefined;
}): ServePackages {
  const { db, organizationNamed } = deps;
  const changes = new Map<string, number>();

  /** Queries the store once for each configuration, and not at all for those without packages. */
  const finder = (organizationId: string, platform: string): ((asked: Asked) => Promise<Found>) => {
    let all: Promise<readonly PackageRow[]> | undefined;
    return async ({ owner, name, type, version }) => {
      if (organizationNamed(owner) !== organizationId) {
        const expected =
          type === 'module'
            ? `a module of this organization (${organizationId}:NAME)`
            : `a package of this organization (${organizationId}/NAME)`;
        return { problem: `expected ${expected}, found one of ${shown(owner)}` };
      }
      all ??= packagesOf(db, organizationId);
      const named = (await all).filter((row) => row.name === name && row.type === typeNamed(type));
      const row = choose(named, { version, platform });
      if (row !== undefined) return { row };
      const what = `${type} package ${shown(name)}`;
      if (named.length === 0)
        return {
          problem: `this installation has no ${what}; upload it with "platform ${type === 'module' ? 'module' : 'packages'} upload"`,
        };
      const versions = [...new Set(named.map(servedVersion))].slice(0, 5).join(', ');
      return {
        problem: `expected a version of ${what}${platform === '' ? '' : ` for ${platform}`} (${versions}), found ${shown(version)}`,
        newest: choose(named, { version: '', platform }),
      };
    };
  };

  /** The package of a module that cannot be served. Its id is that of its other versions, so that machines keep them. */
  const missing = (module: JsonObject, organizationId: string): JsonObject => {
    const { owner, name, version } = askedByModule(module);
    const id = organizationNamed(owner) === organizationId ? organizationId : owner;
    return { package: `${id}/${name}`, version: version || 'latest' };
  };

  return {
    stampOf: (organizationId) => String(changes.get(organizationId) ?? 0),
    changed: (organizationId) => void changes.set(organizationId, (changes.get(organizationId) ?? 0) + 1),

    async resolved(config, organizationId, { platform, vocabulary }) {
      if (config.packages.length === 0 && config.modules.every((module) => !isFromRegistry(module))) return config;
      const find = finder(organizationId, platform);
      const packages: JsonObject[] = [];
      const modules: JsonObject[] = [];
      for (const entry of config.packages) {
        const found = await find(askedBy(entry));
        packages.push('problem' in found ? withStatus(entry, found.problem) : { ...entry, ...servedAs(found.row) });
      }
      for (const given of config.modules) {
        const module = reloaded(given);
        const found = isFromRegistry(module) ? await find(askedByModule(module)) : undefined;
        if (found === undefined) {
          modules.push(module);
          continue;
        }
        if ('problem' in found && vocabulary === 'rdk') continue;
        const name = packageNameOf(module);
        const [entry, entrypoint] =
          'problem' in found
            ? [withStatus(missing(module, organizationId), found.problem), entrypointOf(found.newest)]
            : [servedAs(found.row), entrypointOf(found.row)];
        packages.push({ name, ...entry, type: 'module' });
        modules.push({ ...module, executable_path: `\${packages.module.${name}}/${entrypoint}` });
      }
      return { ...config, packages, modules };
    },

    async problemsOf(config, organizationId) {
      const find = finder(organizationId, '');
      const problems: Problem[] = [];
      const look = async (path: string, asked: Asked): Promise<void> => {
        const found = await find(asked);
        if ('problem' in found)
          problems.push({
            path,
            level: 'warning',
            message: `${found.problem}: machines keep the version that they have, or run without it`,
          });
      };
      for (const [index, entry] of config.packages.entries()) await look(`packages[${index}].package`, askedBy(entry));
      for (const [index, given] of config.modules.entries()) {
        const module = reloaded(given);
        if (isFromRegistry(module)) await look(`modules[${index}].module_id`, askedByModule(module));
      }
      return problems;
    },
  };
}

function isFromRegistry(module: JsonObject): boolean {
  return module['type'] === 'registry';
}

/** A module that a developer has put on the machine (`module reload-local` of the public command line) runs from there. */
function reloaded(module: JsonObject): JsonObject {
  const path = textOf(module, 'reload_path');
  if (module['reload_enabled'] !== true || path === '') return module;
  return { ...module, type: 'local', executable_path: path };
}

function askedBy(entry: JsonObject): Asked {
  const [owner = '', name = ''] = textOf(entry, 'package').split('/');
  return { owner, name, type: textOf(entry, 'type'), version: textOf(entry, 'version') };
}

function askedByModule(module: JsonObject): Asked {
  const [owner = '', name = ''] = textOf(module, 'module_id').split(':');
  return { owner, name, type: 'module', version: textOf(module, 'version') };
}

/** A name used only on the machine: unique, because module names are. */
function packageNameOf(module: JsonObject): string {
  return `synthetic-${textOf(module, 'name')}`;
}

function servedAs(row: PackageRow): { package: string; version: string; type: string } {
  return { package: packageId(row), version: servedVersion(row), type: typeName(row.type) };
}

function withStatus(entry: JsonObject, error: string): JsonObject {
  return { ...entry, status: { error } };
}

/** The path always stays inside the package. */
function entrypointOf(row: PackageRow | undefined): string {
  const entrypoint = textOf(JSON.parse(row?.metadata ?? '{}') as JsonObject, 'entrypoint').replace(/^\.\//, '');
  const segments = entrypoint.split('/');
  const isInside = entrypoint !== '' && !segments.some((segment) => ['', '.', '..'].includes(segment));
  return isInside && !/[\0\\$]/.test(entrypoint) ? entrypoint : defaultEntrypoint;
}

function shown(text: string): string {
  return text === '' ? 'nothing' : JSON.stringify(text.slice(0, 64));
}
