/** The environment of a module's process: information about its machine, under our names and those of the public API. */
import type { MachineIdentity } from '../modules-deps.ts';

export interface ModuleEnvironment {
  readonly home: string;
  readonly dataDirectory: string;
  readonly name: string;
  /** Where it listens. */
  readonly address: string;
  readonly moduleId: string;
  readonly root: string;
  readonly machine: MachineIdentity;
  /** `no_api_key`: the process gets no key of the machine, not even one of the machine-server's own environment. */
  readonly noApiKey: boolean;
}

const ofKey = ['API_KEY_ID', 'API_KEY'];
const spellings = (name: string): string[] => [`PLATFORM_${name}`, `VIAM_${name}`];

/** @param inherited the environment of this process. @param own `env` of the module's configuration, which overrides everything. */
export function environmentOf(
  module: ModuleEnvironment,
  inherited: Readonly<Record<string, string | undefined>>,
  own: Readonly<Record<string, string>>,
): Record<string, string | undefined> {
  const { machine, noApiKey } = module;
  const withheld = new Set(noApiKey ? ofKey.flatMap(spellings) : []);
  const values: Readonly<Record<string, string>> = {
    HOME: module.home,
    MODULE_DATA: module.dataDirectory,
    MODULE_NAME: module.name,
    MODULE_ADDRESS: module.address,
    MODULE_ID: module.moduleId,
    MODULE_ROOT: module.root,
    MACHINE_ID: machine.machineId,
    MACHINE_PART_ID: machine.partId,
    MACHINE_FQDN: machine.fqdn,
    LOCATION_ID: machine.locationId,
    PRIMARY_ORG_ID: machine.primaryOrgId,
    API_KEY_ID: machine.apiKeyId,
    API_KEY: machine.apiKey,
  };
  const given = Object.entries(values).filter(([, value]) => value !== '');
  const known = given.flatMap(([key, value]) => spellings(key).map((name) => [name, value] as const));
  return {
    // For modules that run on Node, which need not be on the path.
    PLATFORM_NODE: process.execPath,
    ...Object.fromEntries([...Object.entries(inherited), ...known].filter(([name]) => !withheld.has(name))),
    ...own,
  };
}
