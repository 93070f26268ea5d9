/** Settings for connections over WebRTC, from the environment; settings.ts of the app reads them. */
import { readFileSync } from 'node:fs';
import { errorText, invalidArgument } from '@platform/base';

export interface IceSettings {
  /** PLATFORM_STUN_URLS: servers that tell machines and callers their public addresses. Default: none. */
  readonly stunUrls: readonly string[];
  /** PLATFORM_TURN_URLS: servers that pass on what cannot go directly. Absent: none. */
  readonly turn:
    | {
        readonly urls: readonly string[];
        /** PLATFORM_TURN_SECRET or PLATFORM_TURN_SECRET_FILE: the `static-auth-secret` of coturn. */
        readonly secret: string;
        /** PLATFORM_TURN_TTL: how long a name and password work. Default 1 h. */
        readonly ttlMs: number;
      }
    | undefined;
}

/** Clients ask each server, which takes time. */
const maxUrls = 8;
const defaultTtlMs = 3_600_000;
/** Connections may outlive it, but not be set up anew. */
const minTtlMs = 60_000;

/** @param ttlMs PLATFORM_TURN_TTL @throws invalid_argument naming the variable, the expected and the found value; never a secret */
export function readIceSettings(env: NodeJS.ProcessEnv, ttlMs: number | undefined): IceSettings {
  const stunUrls = urlsIn(env, 'PLATFORM_STUN_URLS', ['stun', 'stuns']);
  const urls = urlsIn(env, 'PLATFORM_TURN_URLS', ['turn', 'turns']);
  const secret = secretIn(env);
  if (urls.length === 0) {
    if (secret !== undefined)
      throw invalidArgument(
        'PLATFORM_TURN_URLS: expected the servers to which PLATFORM_TURN_SECRET belongs, found none',
      );
    return { stunUrls, turn: undefined };
  }
  if (secret === undefined)
    throw invalidArgument(
      'PLATFORM_TURN_SECRET: expected the static-auth-secret of the servers in PLATFORM_TURN_URLS, or PLATFORM_TURN_SECRET_FILE, found neither',
    );
  if (ttlMs !== undefined && ttlMs < minTtlMs)
    throw invalidArgument(`PLATFORM_TURN_TTL: expected at least 1m, found ${ttlMs / 1_000}s`);
  return { stunUrls, turn: { urls, secret, ttlMs: ttlMs ?? defaultTtlMs } };
}

function urlsIn(env: NodeJS.ProcessEnv, name: string, schemes: readonly string[]): readonly string[] {
  const urls = (env[name] ?? '').split(/[\s,]+/).filter((url) => url !== '');
  const [scheme, ofTls] = schemes;
  const query = scheme === 'turn' ? '(\\?transport=(udp|tcp))?' : '';
  const valid = new RegExp(`^(${schemes.join('|')}):([a-zA-Z0-9.-]+|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?${query}$`);
  const wrong = urls.find((url) => !valid.test(url));
  if (wrong !== undefined)
    throw invalidArgument(
      `${name}: expected addresses such as ${scheme}:turn.example.com:3478 or ${ofTls}:turn.example.com, separated by commas, found ${JSON.stringify(wrong.slice(0, 100))}`,
    );
  if (urls.length > maxUrls)
    throw invalidArgument(`${name}: expected at most ${maxUrls} addresses, found ${urls.length}`);
  return urls;
}

function secretIn(env: NodeJS.ProcessEnv): string | undefined {
  const file = env['PLATFORM_TURN_SECRET_FILE'] || undefined;
  const given = env['PLATFORM_TURN_SECRET'] || undefined;
  if (file === undefined) return given;
  if (given !== undefined)
    throw invalidArgument('PLATFORM_TURN_SECRET and PLATFORM_TURN_SECRET_FILE: expected one of them, found both');
  let secret: string;
  try {
    secret = readFileSync(file, 'utf8').trim();
  } catch (caught) {
    throw invalidArgument(
      `PLATFORM_TURN_SECRET_FILE: expected a file that can be read, found ${file} (${errorText(caught)})`,
    );
  }
  if (secret === '') throw invalidArgument(`PLATFORM_TURN_SECRET_FILE: expected a secret, found an empty file ${file}`);
  return secret;
}
