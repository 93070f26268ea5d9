/** Command line and environment, read once. The only file that reads the environment. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { PlatformError } from '@platform/base';
import { durationMs } from './config/duration.ts';

export interface Settings {
  readonly version: boolean;
  /** Path of the `-config` file. */
  readonly config: string | undefined;
  readonly debug: boolean;
  readonly allowInsecureCredentials: boolean;
  readonly untrustedEnvironment: boolean;
  readonly noTls: boolean;
  readonly disableMdns: boolean;
  readonly logFile: string | undefined;
  readonly dumpResources: string | undefined;
  readonly home: string;
  readonly alsoLogFile: string | undefined;
  readonly configReadTimeoutMs: number;
  readonly resourceConfigureTimeoutMs: number;
  readonly moduleStartupTimeoutMs: number;
  readonly resourceRequestsLimit: number;
  /** What the processes of modules inherit. */
  readonly environment: Environment;
  /** PLATFORM_BIND_ADDRESS: `host:port` where it listens unless its configuration says otherwise; port 0 picks a free one. */
  readonly bindAddress: string | undefined;
  /** Options and variables that were given but have no effect yet, one warning each. */
  readonly warnings: readonly string[];
}

/** `ignored…`: accepted because the public server has it, with a warning that it has no effect yet. */
type Kind = 'flag' | 'text' | 'ignored flag' | 'ignored text';

export const flags: Readonly<Record<string, Kind>> = {
  'allow-insecure-creds': 'flag',
  config: 'text',
  cpuprofile: 'ignored text',
  debug: 'flag',
  'disable-mdns': 'flag',
  'dump-resources': 'text',
  ftdc: 'ignored flag',
  'log-file': 'text',
  'network-check': 'ignored flag',
  'no-tls': 'flag',
  'output-telemetry': 'ignored flag',
  'reveal-sensitive-config-diffs': 'ignored flag',
  shareddir: 'ignored text',
  'untrusted-env': 'flag',
  version: 'flag',
  webprofile: 'ignored flag',
  webrtc: 'ignored flag',
};

type Environment = Readonly<Record<string, string | undefined>>;

/** More would be no limit: each call in progress holds its request in memory. */
const mostRequests = 1_000_000;
/** The longest wait that a timer can hold is 24.8 days. */
const longestMs = 24 * 86_400_000;

/** @throws PlatformError invalid_argument that names the option or the variable, what was expected and what was found (D16). */
export function readSettings(args: readonly string[], env: Environment): Settings {
  const given = readFlags(args);
  const warnings: string[] = [];
  for (const name of given.keys())
    if (flags[name]?.startsWith('ignored')) warnings.push(`option -${name} has no effect yet`);
  const on = (name: string): boolean => given.get(name) === 'true';
  return {
    version: on('version'),
    config: given.get('config'),
    debug: on('debug'),
    allowInsecureCredentials: on('allow-insecure-creds'),
    untrustedEnvironment: on('untrusted-env'),
    noTls: on('no-tls'),
    disableMdns: on('disable-mdns'),
    logFile: given.get('log-file'),
    dumpResources: given.get('dump-resources'),
    home: resolve(env['PLATFORM_HOME'] || join(homedir(), '.platform')),
    alsoLogFile: env['PLATFORM_LOGFILE'] || undefined,
    configReadTimeoutMs: durationOf(env, 'PLATFORM_CONFIG_READ_TIMEOUT', 15_000),
    resourceConfigureTimeoutMs: durationOf(env, 'PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT', 120_000),
    moduleStartupTimeoutMs: durationOf(env, 'PLATFORM_MODULE_STARTUP_TIMEOUT', 300_000),
    resourceRequestsLimit: requestsLimitOf(env),
    environment: env,
    bindAddress: env['PLATFORM_BIND_ADDRESS'] || undefined,
    warnings,
  };
}

function readFlags(args: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? '';
    const [, name = '', , value] = /^--?([a-z-]+)(=(.*))?$/s.exec(arg) ?? [];
    const kind = flags[name];
    if (kind === undefined) {
      throw new PlatformError(
        'invalid_argument',
        `unknown option "${arg}"; known: ${Object.keys(flags)
          .map((flag) => `-${flag}`)
          .join(' ')}. -help says what they do`,
      );
    }
    if (kind.endsWith('flag')) {
      if (value !== undefined && value !== 'true' && value !== 'false') {
        throw new PlatformError('invalid_argument', `option -${name}: expected true or false, found "${value}"`);
      }
      given.set(name, value ?? 'true');
      continue;
    }
    const text = value ?? args[++i];
    if (text === undefined || text === '')
      throw new PlatformError('invalid_argument', `option -${name}: expected a value, found none`);
    given.set(name, text);
  }
  return given;
}

/** An unset or empty variable means the default. */
function durationOf(env: Environment, name: string, fallbackMs: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallbackMs;
  const ms = durationMs(text);
  return ms !== undefined && ms > 0 && ms <= longestMs
    ? ms
    : refuse(name, 'a duration such as 30s or 1m30s (units ms, s, m, h), above 0 and at most 576h', text);
}

function requestsLimitOf(env: Environment): number {
  const name = 'PLATFORM_RESOURCE_REQUESTS_LIMIT';
  const text = env[name];
  if (text === undefined || text === '') return 100;
  const limit = Number(text);
  return /^\d+$/.test(text) && limit >= 1 && limit <= mostRequests
    ? limit
    : refuse(name, `a whole number from 1 to ${mostRequests}`, text);
}

function refuse(name: string, expected: string, found: string): never {
  throw new PlatformError('invalid_argument', `${name}: expected ${expected}, found ${JSON.stringify(found)}`);
}
