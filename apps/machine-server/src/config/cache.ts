/**
 * `<home>/cached_cloud_config_<part id>.json`: the last configuration, and when the cloud last confirmed it (D8).
 * Mode 0600, replaced atomically. The time is inside the file, because copying and restoring a file changes its own times.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { errorText, PlatformError } from '@platform/base';
import { type RobotConfig, RobotConfigSchema } from '@platform/proto/platform/app/v1/robot';
import { writeDurably } from '../directories/write-durably.ts';

export interface CachedConfig {
  readonly config: RobotConfig;
  readonly confirmedMs: number;
}

const dayMs = 86_400_000;
const warnFromDays = 45;

export function cacheFile(home: string, partId: string): string {
  return join(home, `cached_cloud_config_${partId.replaceAll(/[^\w-]/g, '_')}.json`);
}

/** Undefined if there is none. @throws PlatformError data_loss if it cannot be read. */
export async function readCache(path: string): Promise<CachedConfig | undefined> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw caught;
  }
  try {
    const { confirmed, config } = JSON.parse(text) as { confirmed: string; config: JsonValue };
    const confirmedMs = Date.parse(confirmed);
    if (Number.isNaN(confirmedMs)) throw new Error(`expected a time at "confirmed", found ${confirmed}`);
    return { config: fromJson(RobotConfigSchema, config, { ignoreUnknownFields: true }), confirmedMs };
  } catch (caught) {
    throw new PlatformError(
      'data_loss',
      `the cached configuration ${path} cannot be read: ${errorText(caught)}`,
      caught,
    );
  }
}

export async function writeCache(path: string, config: RobotConfig, confirmedMs: number): Promise<void> {
  const content = { confirmed: new Date(confirmedMs).toISOString(), config: toJson(RobotConfigSchema, config) };
  await writeDurably(path, `${JSON.stringify(content)}\n`);
}

export type CacheAge =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'old'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/** What the age of a cached configuration means for a start without the cloud (D8). Pure. @param limitDays 0: no limit */
export function checkAge(cached: CachedConfig, nowMs: number, limitDays: number, path: string): CacheAge {
  const days = (nowMs - cached.confirmedMs) / dayMs;
  const since = `the configuration cached in ${path} was last confirmed by the cloud ${Math.floor(days)} days ago (${new Date(cached.confirmedMs).toISOString()})`;
  if (limitDays > 0 && days > limitDays) {
    return {
      kind: 'refused',
      message: `${since}; the limit is ${limitDays}. Connect the machine once, or set "offline_limit_days" in the credentials file (0: none)`,
    };
  }
  if (days >= warnFromDays) {
    const end = limitDays > 0 ? `; after ${limitDays} days, a start without the cloud is refused` : '';
    return { kind: 'old', message: `${since}${end}` };
  }
  return { kind: 'fresh' };
}
