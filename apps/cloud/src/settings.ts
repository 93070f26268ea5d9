/** The only reader of the command line and the environment: both become one frozen object. */
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { PlatformError } from '@platform/base';

export interface Settings {
  /** Default PLATFORM_HOME/cloud, or ~/.platform/cloud. */
  readonly dataDirectory: string;
  /** Default 127.0.0.1. Beyond loopback the cloud needs TLS (D31), which this version does not offer yet. */
  readonly host: string;
  /** Default 8080; 0 takes any free port. */
  readonly port: number;
  /** Base64 of 32 bytes; absent: the file instance.key. */
  readonly instanceKey: string | undefined;
  /** Base64 of 32 bytes: the key that takes its place, while a key from the environment is being replaced. */
  readonly nextInstanceKey: string | undefined;
  /** Keep a copy of the metadata before an older data directory is brought up to date. Default true. */
  readonly keepBeforeUpgrade: boolean;
  /** Webhooks to private address ranges: default while the installation has one organization (D23). */
  readonly allowPrivateWebhookTargets: boolean | undefined;
  readonly logLevel: string;
}

const usage = 'expected: cloud [--data DIR] [--port N] [--host ADDRESS]';

/** @throws invalid_argument naming the option, what was expected and what was found. */
export function readSettings(args: readonly string[], env: NodeJS.ProcessEnv): Settings {
  let values: { data?: string; port?: string; host?: string; json?: boolean };
  try {
    ({ values } = parseArgs({
      args: [...args],
      options: {
        data: { type: 'string' },
        port: { type: 'string' },
        host: { type: 'string' },
        json: { type: 'boolean' },
      },
    }));
  } catch (caught) {
    throw new PlatformError(
      'invalid_argument',
      `${caught instanceof Error ? caught.message : String(caught)}; ${usage}`,
    );
  }
  const port = values.port ?? '8080';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new PlatformError(
      'invalid_argument',
      `--port: expected a number from 0 to 65535, found ${JSON.stringify(port)}`,
    );
  }
  const host = values.host ?? '127.0.0.1';
  if (!['127.0.0.1', '::1', 'localhost'].includes(host)) {
    throw new PlatformError(
      'invalid_argument',
      `--host: expected a loopback address (127.0.0.1, ::1 or localhost), found ${JSON.stringify(host)}: beyond loopback the cloud needs TLS, which this version does not serve yet`,
    );
  }
  const home = env['PLATFORM_HOME'] ?? join(homedir(), '.platform');
  return Object.freeze({
    dataDirectory: resolve(values.data ?? join(home, 'cloud')),
    host,
    port: Number(port),
    instanceKey: env['PLATFORM_INSTANCE_KEY'],
    nextInstanceKey: env['PLATFORM_INSTANCE_KEY_NEXT'],
    keepBeforeUpgrade: readBoolean(env, 'PLATFORM_KEEP_BEFORE_UPGRADE') ?? true,
    allowPrivateWebhookTargets: readBoolean(env, 'PLATFORM_WEBHOOK_ALLOW_PRIVATE'),
    logLevel: env['PLATFORM_LOG_LEVEL'] ?? 'info',
  });
}

function readBoolean(env: NodeJS.ProcessEnv, name: string): boolean | undefined {
  const value = env[name];
  if (value === undefined || value === '') return undefined;
  if (value === 'true' || value === '1') return true;
  if (value === 'false' || value === '0') return false;
  throw new PlatformError('invalid_argument', `${name}: expected true or false, found ${JSON.stringify(value)}`);
}
