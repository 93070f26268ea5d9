/** Command line and environment, read once. The only file that reads the environment. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { invalidValue, parseTrustedProxies, type TrustedProxies } from '@platform/base';
import { durationMs } from './config/duration.ts';
import { readFlags } from './read-flags.ts';

export interface Settings {
  readonly version: boolean;
  /** Path of the `-config` file. */
  readonly config: string | undefined;
  /** Where to write the CPU profile of the whole run. */
  readonly cpuProfile: string | undefined;
  readonly debug: boolean;
  readonly allowInsecureCredentials: boolean;
  readonly untrustedEnvironment: boolean;
  readonly noTls: boolean;
  readonly disableMdns: boolean;
  readonly logFile: string | undefined;
  readonly revealSensitiveConfigDiffs: boolean;
  readonly dumpResources: string | undefined;
  readonly networkCheck: boolean;
  /** `-ftdc`: full-time diagnostics. */
  readonly diagnostics: boolean;
  /** `-output-telemetry`: metrics and spans on standard output. */
  readonly telemetry: boolean;
  /** `-shareddir`, absolute. */
  readonly sharedDirectory: string | undefined;
  readonly webProfile: boolean;
  /** `-webrtc`: callers may connect over WebRTC. */
  readonly webRtc: boolean;
  /** PLATFORM_WEBRTC_PORT: the UDP port of all WebRTC connections; 0 picks a free one with the first. */
  readonly webRtcPort: number;
  readonly home: string;
  /** INVOCATION_ID, which systemd sets: this process is a service. */
  readonly isService: boolean;
  readonly alsoLogFile: string | undefined;
  /** PLATFORM_NO_WINDOWS_EVENT_LOGGER, whatever its value. */
  readonly noWindowsEventLog: boolean;
  readonly configReadTimeoutMs: number;
  readonly resourceConfigureTimeoutMs: number;
  readonly moduleStartupTimeoutMs: number;
  readonly resourceRequestsLimit: number;
  /** The environment that module processes inherit. */
  readonly environment: Environment;
  /** PLATFORM_BIND_ADDRESS: `host:port` on which it listens unless its configuration says otherwise; port 0 picks a free one. */
  readonly bindAddress: string | undefined;
  /** PLATFORM_TRUSTED_PROXIES: reverse proxies that say for whom they ask. Default: none. */
  readonly trustedProxies: TrustedProxies;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** A higher limit would have no effect: each call in progress holds its request in memory. */
const mostRequests = 1_000_000;
/** The longest wait that a timer can hold is 24.8 days. */
const longestMs = 24 * 86_400_000;

/** @throws PlatformError invalid_argument with the option or variable, what was expected and what was found (D16). */
export function readSettings(args: readonly string[], env: Environment): Settings {
  const given = readFlags(args);
  return {
    version: given.on('version'),
    config: given.text('config'),
    cpuProfile: given.text('cpuprofile'),
    debug: given.on('debug'),
    allowInsecureCredentials: given.on('allow-insecure-creds'),
    untrustedEnvironment: given.on('untrusted-env'),
    noTls: given.on('no-tls'),
    disableMdns: given.on('disable-mdns'),
    logFile: given.text('log-file'),
    revealSensitiveConfigDiffs: given.on('reveal-sensitive-config-diffs'),
    dumpResources: given.text('dump-resources'),
    networkCheck: given.on('network-check'),
    diagnostics: given.on('ftdc'),
    telemetry: given.on('output-telemetry'),
    sharedDirectory: absolute(given.text('shareddir')),
    webProfile: given.on('webprofile'),
    webRtc: given.on('webrtc'),
    webRtcPort: portOf(env, 'PLATFORM_WEBRTC_PORT'),
    home: resolve(env['PLATFORM_HOME'] || join(homedir(), '.platform')),
    isService: (env['INVOCATION_ID'] ?? '') !== '',
    alsoLogFile: env['PLATFORM_LOGFILE'] || undefined,
    noWindowsEventLog: env['PLATFORM_NO_WINDOWS_EVENT_LOGGER'] !== undefined,
    configReadTimeoutMs: durationOf(env, 'PLATFORM_CONFIG_READ_TIMEOUT', 15_000),
    resourceConfigureTimeoutMs: durationOf(env, 'PLATFORM_RESOURCE_CONFIGURATION_TIMEOUT', 120_000),
    moduleStartupTimeoutMs: durationOf(env, 'PLATFORM_MODULE_STARTUP_TIMEOUT', 300_000),
    resourceRequestsLimit: requestsLimitOf(env),
    environment: env,
    bindAddress: env['PLATFORM_BIND_ADDRESS'] || undefined,
    trustedProxies: parseTrustedProxies(env['PLATFORM_TRUSTED_PROXIES']),
  };
}

function absolute(path: string | undefined): string | undefined {
  return path === undefined ? undefined : resolve(path);
}

/** An unset or empty variable means the default. */
function durationOf(env: Environment, name: string, fallbackMs: number): number {
  const text = env[name];
  if (text === undefined || text === '') return fallbackMs;
  const ms = durationMs(text);
  if (ms !== undefined && ms > 0 && ms <= longestMs) return ms;
  throw invalidValue(name, 'a duration such as 30s or 1m30s (units ms, s, m, h), above 0 and at most 576h', text);
}

/** An unset or empty variable means 0. */
function portOf(env: Environment, name: string): number {
  const text = env[name];
  if (text === undefined || text === '') return 0;
  const port = Number(text);
  if (/^\d+$/.test(text) && port >= 1 && port <= 65_535) return port;
  throw invalidValue(name, 'a port from 1 to 65535', text);
}

function requestsLimitOf(env: Environment): number {
  const name = 'PLATFORM_RESOURCE_REQUESTS_LIMIT';
  const text = env[name];
  if (text === undefined || text === '') return 100;
  const limit = Number(text);
  if (/^\d+$/.test(text) && limit >= 1 && limit <= mostRequests) return limit;
  throw invalidValue(name, `a whole number from 1 to ${mostRequests}`, text);
}
