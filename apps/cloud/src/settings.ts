/** The only reader of the command line and the environment: turns both into one frozen object. */
import { X509Certificate } from 'node:crypto';
import { homedir, hostname } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { invalidArgument, type LogLevel, logLevels, parseTrustedProxies, type TrustedProxies } from '@platform/base';
import { type PaymentSettings, readPaymentSettings } from './billing/payments/settings.ts';
import { type IdentitySettings, readIdentitySettings } from './identity/settings.ts';
import type { TlsSettings } from './instance/tls-source.ts';
import { readMachineDomain } from './machines/machine-domain.ts';
import { type LoopbackTarget, readLoopbackTarget } from './outbox/webhook/loopback-target.ts';
import { type IceSettings, readIceSettings } from './signaling/settings.ts';

export interface Settings {
  /** Default PLATFORM_HOME/cloud, or ~/.platform/cloud. */
  readonly dataDirectory: string;
  /** Default 127.0.0.1. */
  readonly host: string;
  /** Default: plaintext on loopback, elsewhere TLS with the installation's own authority (D31). */
  readonly tls: TlsSettings;
  /** Default 8080; 0 takes any free port. */
  readonly port: number;
  /** PLATFORM_TRUSTED_PROXIES: reverse proxies that say for whom they ask. Default: none. */
  readonly trustedProxies: TrustedProxies;
  /**
   * --machine-domain, PLATFORM_MACHINE_DOMAIN: parts have their full names below it (D39). Default: `machines.` and the host of the public
   * address; `machines.internal` if that is an address or localhost.
   */
  readonly machineDomain: string;
  /** `postgres://…`; holds metadata and ingest log. May contain a password, so it is never logged. Absent: SQLite in the data directory. */
  readonly databaseUrl?: string | undefined;
  /** Port of the Postgres server; absent as `databaseUrl` is. */
  readonly databasePort?: number | undefined;
  /** Base64 of 32 bytes. Absent: read from the file instance.key. */
  readonly instanceKey: string | undefined;
  /** Base64 of 32 bytes: the next key, while an instance key from the environment is being replaced. */
  readonly nextInstanceKey: string | undefined;
  /** Whether to keep a copy of the metadata before an older data directory is upgraded. Default true. */
  readonly keepBeforeUpgrade: boolean;
  /**
   * PLATFORM_WEBHOOK_ALLOW_PRIVATE: whether webhooks may go to private address ranges. Default: only if the cloud listens only on loopback
   * (D23).
   */
  readonly allowPrivateWebhookTargets: boolean;
  /** --webhook-allow: loopback targets of webhooks, for as long as there is exactly one organization (D43). Default: none. */
  readonly webhookAllow: readonly LoopbackTarget[];
  /** PLATFORM_PAYMENT_PROVIDER and its settings. */
  readonly payments: PaymentSettings;
  /** PLATFORM_METRICS_TOKEN: bearer token of readers of `/metrics`; at least 16 characters. Absent: metrics are served only on loopback. */
  readonly metricsToken: string | undefined;
  /** PLATFORM_KEY_ROTATION_OVERLAP: how long a rotated secret still works. Default 24 h; 0: it ends at once. */
  readonly keyRotationOverlapMs: number;
  /** PLATFORM_SEAL_AGE: rows are written to files once the oldest has waited this long. Default 10 min; at least 1 s. */
  readonly sealAgeMs: number | undefined;
  /** PLATFORM_SCRUB_PERIOD: how often every file of readings is read completely. Default 7 d; 0: never. */
  readonly scrubPeriodMs: number | undefined;
  /** Sessions, mail and OpenID Connect. */
  readonly identity: IdentitySettings;
  /** STUN and TURN servers of connections over WebRTC. */
  readonly ice: IceSettings;
  readonly logLevel: LogLevel;
  /**
   * PLATFORM_MACHINE_SERVER: main module of the machine-server that other computers download; `platform up` sets it. Absent: there is none.
   */
  readonly machineServer: string | undefined;
  /** PLATFORM_WEB_UI: directory of the built web UI; `platform up` sets it. Absent: only the status page is served. */
  readonly webUi: string | undefined;
  /** PLATFORM_COMMAND: how the host administrator starts the command line, for hints; `platform up` sets it. Default: platform. */
  readonly command: string;
}

const usage =
  'expected: cloud [--data DIR] [--port N] [--host ADDRESS] [--tls-cert FILE --tls-key FILE | --tls [--tls-name NAME]... | --insecure] [--machine-domain DOMAIN] [--webhook-allow ADDRESS:PORT]...';

interface Values {
  readonly data?: string;
  readonly port?: string;
  readonly host?: string;
  readonly json?: boolean;
  readonly tls?: boolean;
  readonly 'tls-cert'?: string;
  readonly 'tls-key'?: string;
  readonly 'tls-name'?: string[];
  readonly insecure?: boolean;
  readonly 'machine-domain'?: string;
  readonly 'webhook-allow'?: string[];
}

/** @throws invalid_argument naming the option, the expected and the found value. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  let values: Values;
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        data: { type: 'string' },
        port: { type: 'string' },
        host: { type: 'string' },
        json: { type: 'boolean' },
        tls: { type: 'boolean' },
        'tls-cert': { type: 'string' },
        'tls-key': { type: 'string' },
        'tls-name': { type: 'string', multiple: true },
        insecure: { type: 'boolean' },
        'machine-domain': { type: 'string' },
        'webhook-allow': { type: 'string', multiple: true },
      },
    }));
  } catch (caught) {
    throw invalidArgument(`${caught instanceof Error ? caught.message : String(caught)}; ${usage}`);
  }
  const port = values.port ?? '8080';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw invalidArgument(`--port: expected a number from 0 to 65535, found ${JSON.stringify(port)}`);
  }
  const host = values.host ?? '127.0.0.1';
  if (host === '') throw invalidArgument('--host: expected a name or an address, found none');
  const home = env['PLATFORM_HOME'] ?? join(homedir(), '.platform');
  const tls = tlsSettings(values, isLoopback(host));
  const identity = readIdentitySettings(env);
  const databaseUrl = readDatabaseUrl(env);
  const databasePort = databaseUrl === undefined ? undefined : portOfDatabase(databaseUrl, env);
  const publicHost = identity.publicUrl === undefined ? dialled({ host, tls }) : new URL(identity.publicUrl).hostname;
  return Object.freeze({
    dataDirectory: resolve(values.data ?? join(home, 'cloud')),
    host,
    tls,
    machineDomain: readMachineDomain(
      values['machine-domain'] ?? env['PLATFORM_MACHINE_DOMAIN'],
      values['machine-domain'] === undefined ? 'PLATFORM_MACHINE_DOMAIN' : '--machine-domain',
      publicHost,
    ),
    port: Number(port),
    webhookAllow: readWebhookAllow(values['webhook-allow'], [Number(port), databasePort]),
    trustedProxies: parseTrustedProxies(env['PLATFORM_TRUSTED_PROXIES']),
    databaseUrl,
    databasePort,
    instanceKey: env['PLATFORM_INSTANCE_KEY'],
    nextInstanceKey: env['PLATFORM_INSTANCE_KEY_NEXT'],
    keepBeforeUpgrade: readBoolean(env, 'PLATFORM_KEEP_BEFORE_UPGRADE') ?? true,
    payments: readPaymentSettings(env),
    allowPrivateWebhookTargets: readBoolean(env, 'PLATFORM_WEBHOOK_ALLOW_PRIVATE') ?? isLoopback(host),
    metricsToken: readMetricsToken(env),
    keyRotationOverlapMs: readDuration(env, 'PLATFORM_KEY_ROTATION_OVERLAP', maxOverlapMs) ?? 24 * 3_600_000,
    sealAgeMs: readSealAge(env),
    scrubPeriodMs: readDuration(env, 'PLATFORM_SCRUB_PERIOD', 366 * 86_400_000),
    identity,
    ice: readIceSettings(env, readDuration(env, 'PLATFORM_TURN_TTL', 7 * 86_400_000)),
    logLevel: readLogLevel(env) ?? 'info',
    machineServer: env['PLATFORM_MACHINE_SERVER'] || undefined,
    webUi: env['PLATFORM_WEB_UI'] || undefined,
    command: env['PLATFORM_COMMAND'] || 'platform',
  });
}

/** Whether a server on `host` is reachable only from this computer. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/** Host in addresses of this cloud. A host that stands for all interfaces is replaced by a name from the certificate or the host name. */
export function dialled({ host, tls }: Pick<Settings, 'host' | 'tls'>): string {
  const given = tls.kind === 'own' ? tls.names[0] : undefined;
  const name = given ?? (host === '0.0.0.0' || host === '::' ? hostname() : host);
  return name.includes(':') ? `[${name}]` : name;
}

/**
 * The host of the public address, if the certificate of --tls-cert is valid for it: then it is this cloud, and no proxy, that clients reach
 * there. @param certificate PEM
 */
export function certifiedHost(
  { tls, identity }: Pick<Settings, 'tls' | 'identity'>,
  certificate: string | undefined,
): string | undefined {
  if (tls.kind !== 'files' || identity.publicUrl === undefined || certificate === undefined) return undefined;
  const { hostname } = new URL(identity.publicUrl);
  return new X509Certificate(certificate).checkHost(hostname) === undefined ? undefined : hostname;
}

/** Names by which clients reach this cloud, besides addresses and `localhost`. */
export function ownHosts(settings: Pick<Settings, 'host' | 'tls' | 'identity'>): string[] {
  return [...[dialled(settings), hostname(), `${hostname().split('.', 1)[0]}.local`], ...namedHosts(settings)];
}

/** The names of the cloud that somebody has configured. */
export function namedHosts({ tls, identity }: Pick<Settings, 'tls' | 'identity'>): string[] {
  return [
    ...(tls.kind === 'own' ? tls.names : []),
    ...(identity.publicUrl === undefined ? [] : [new URL(identity.publicUrl).hostname]),
  ];
}

function tlsSettings(values: Values, loopback: boolean): TlsSettings {
  const { 'tls-cert': certFile, 'tls-key': keyFile, 'tls-name': names, tls = false, insecure = false } = values;
  const refuse = (text: string): never => {
    throw invalidArgument(text);
  };
  if ((certFile === undefined) !== (keyFile === undefined))
    return refuse('--tls-cert and --tls-key: expected both or neither, found one');
  if (insecure && (certFile !== undefined || tls || names !== undefined))
    return refuse('--insecure: expected no TLS options, found some: choose either');
  if (certFile !== undefined && keyFile !== undefined) {
    if (names !== undefined) return refuse('--tls-name: the certificate of --tls-cert already contains the names');
    return { kind: 'files', certFile: resolve(certFile), keyFile: resolve(keyFile) };
  }
  if (insecure || (loopback && !tls && names === undefined)) return { kind: 'plaintext' };
  return { kind: 'own', names: names ?? [] };
}

/** Only checks the scheme; the rest is parsed when the database is opened. */
function readDatabaseUrl(env: NodeJS.ProcessEnv): string | undefined {
  const value = env['PLATFORM_DATABASE_URL'];
  if (value === undefined || value === '') return undefined;
  if (/^postgres(ql)?:\/\//.test(value)) return value;
  throw invalidArgument(
    'PLATFORM_DATABASE_URL: expected postgres://USER:PASSWORD@HOST:PORT/DATABASE, found something else (not shown, because it may contain a password)',
  );
}

/** As the driver reads it. Port 5432 also where the URL is not valid, which is refused later. */
function portOfDatabase(url: string, env: NodeJS.ProcessEnv): number {
  const read = URL.parse(url);
  return Number(read?.searchParams.get('port') || read?.port || env['PGPORT'] || 5432);
}

function readWebhookAllow(
  texts: readonly string[] = [],
  ownPorts: readonly (number | undefined)[],
): readonly LoopbackTarget[] {
  return texts.map((text) => {
    const target = readLoopbackTarget(text, '--webhook-allow');
    if (ownPorts.includes(target.port))
      throw invalidArgument(
        `--webhook-allow: expected a port of another program, found ${target.port}, which the platform or its database uses`,
      );
    return target;
  });
}

function readBoolean(env: NodeJS.ProcessEnv, name: string): boolean | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw invalidArgument(`${name}: expected true or false, found ${JSON.stringify(value)}`);
}

function readMetricsToken(env: NodeJS.ProcessEnv): string | undefined {
  const value = env['PLATFORM_METRICS_TOKEN'];
  if (value === undefined || value === '') return undefined;
  if (/^[\x21-\x7e]{16,200}$/.test(value)) return value;
  throw invalidArgument(
    `PLATFORM_METRICS_TOKEN: expected 16 to 200 ASCII characters without spaces, found ${value.length} characters (not shown, because it is a secret)`,
  );
}

const unitsMs: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };
/** If both secrets must work for longer, use two keys. */
const maxOverlapMs = 366 * 86_400_000;

/** Returns milliseconds from a text such as 90s, 30m, 24h, 7d or 0. */
function readDuration(env: NodeJS.ProcessEnv, name: string, maxMs: number): number | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  const [, number = '', unit = ''] = /^(\d{1,9})([smhd]?)$/.exec(value) ?? [];
  const ms = number === '' ? Number.NaN : Number(number) === 0 ? 0 : Number(number) * (unitsMs[unit] ?? Number.NaN);
  if (ms <= maxMs) return ms;
  throw invalidArgument(
    `${name}: expected a duration such as 30m, 24h or 7d, or 0, at most ${maxMs / 86_400_000}d, found ${JSON.stringify(value)}`,
  );
}

function readLogLevel(env: NodeJS.ProcessEnv): LogLevel | undefined {
  const text = env['PLATFORM_LOG_LEVEL'];
  if (text === undefined) return undefined;
  const level = logLevels.find((each) => each === text);
  if (level !== undefined) return level;
  throw invalidArgument(`PLATFORM_LOG_LEVEL: expected ${logLevels.join(', ')}, found ${JSON.stringify(text)}`);
}

function readSealAge(env: NodeJS.ProcessEnv): number | undefined {
  const ms = readDuration(env, 'PLATFORM_SEAL_AGE', 86_400_000);
  return ms === undefined ? undefined : Math.max(1_000, ms);
}

/** Reads the settings that a process of the host administrator needs; `dataDirectory` is absolute. */
export function readStoreSettings(
  dataDirectory: string | undefined,
  env: NodeJS.ProcessEnv = process.env,
): Pick<
  Settings,
  | 'dataDirectory'
  | 'databaseUrl'
  | 'databasePort'
  | 'instanceKey'
  | 'nextInstanceKey'
  | 'keepBeforeUpgrade'
  | 'logLevel'
> {
  const settings = readSettings(dataDirectory === undefined ? [] : ['--data', dataDirectory], env);
  return { ...settings, logLevel: readLogLevel(env) ?? 'warn' };
}
