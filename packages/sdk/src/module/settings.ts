/** Arguments and environment of a module's process, read once. The only file of the library that reads them. */
import { invalidArgument, type LogLevel, logLevels } from '@platform/base';
import type { Address } from './address.ts';
import { parseAddress } from './address.ts';

/** Information from the machine-server about the module and its machine. Omitted texts are empty. */
export interface ModuleInfo {
  /** Name of the module in the configuration. */
  readonly name: string;
  /** `<namespace>:<name>` of a module from the registry. */
  readonly moduleId: string;
  /** The folder with the files of the module. */
  readonly root: string;
  /** The module's folder for data that survives restarts and new versions. */
  readonly dataDirectory: string;
  /** The home directory of the machine-server. */
  readonly home: string;
  readonly machineId: string;
  readonly partId: string;
  readonly fqdn: string;
  readonly locationId: string;
  readonly organizationId: string;
  /** An API key with which the module may call the machine's own port. */
  readonly apiKeyId: string;
  readonly apiKey: string;
}

export interface ModuleSettings {
  /** Where to serve. */
  readonly address: Address;
  readonly logLevel: LogLevel;
  readonly info: ModuleInfo;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Arguments and variables of this process. */
export function ownSettings(): ModuleSettings {
  return readSettings(process.argv.slice(2), process.env);
}

/**
 * The machine-server passes the address as the first argument and in `PLATFORM_MODULE_ADDRESS`. Each variable also has its public name
 * (`VIAM_…`). Unknown options, which newer machine-servers may pass, are ignored.
 *
 * @throws invalid_argument with what was expected and what to do
 */
export function readSettings(args: readonly string[], env: Environment): ModuleSettings {
  const variable = (name: string): string => env[`PLATFORM_${name}`] || env[`VIAM_${name}`] || '';
  const given = args.find((arg) => !arg.startsWith('-')) || variable('MODULE_ADDRESS');
  if (given === '')
    throw invalidArgument(
      'expected the address to serve on as first argument (the path of a socket, or 127.0.0.1:port), found none. The machine-server passes it: add this program as executable_path to "modules" of a configuration',
    );
  return {
    address: parseAddress(given),
    logLevel: levelOf(args),
    info: {
      name: variable('MODULE_NAME'),
      moduleId: variable('MODULE_ID'),
      root: variable('MODULE_ROOT'),
      dataDirectory: variable('MODULE_DATA'),
      home: variable('HOME'),
      machineId: variable('MACHINE_ID'),
      partId: variable('MACHINE_PART_ID'),
      fqdn: variable('MACHINE_FQDN'),
      locationId: variable('LOCATION_ID'),
      organizationId: variable('PRIMARY_ORG_ID'),
      apiKeyId: variable('API_KEY_ID'),
      apiKey: variable('API_KEY'),
    },
  };
}

/** `--log-level=debug`; `info` without it. */
function levelOf(args: readonly string[]): LogLevel {
  const prefix = '--log-level=';
  const text = args.findLast((arg) => arg.startsWith(prefix))?.slice(prefix.length) ?? '';
  return parseLevel(text) ?? 'info';
}

/** A level as machine-servers spell it, in upper or lower case; undefined for other texts. */
export function parseLevel(text: string): LogLevel | undefined {
  const level = text.toLowerCase().replace(/^warning$/, 'warn');
  return logLevels.find((known) => known === level);
}
