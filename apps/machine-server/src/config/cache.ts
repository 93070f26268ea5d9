/**
 * The configuration in use and the previous one, each in a file of the home: `cached_cloud_config_<part id>.json`, for a local file
 * `cached_local_config_<hash of its path>.json`, and the same with `.previous`.
 *
 * Mode 0600, replaced atomically, with a checksum. The time when the source last confirmed it (D8) is inside the file, because copying and
 * restoring a file changes its own times. A damaged file is reported, and the previous one used.
 */
import { createHash } from 'node:crypto';
import { join, resolve } from 'node:path';
import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { errorText, readWhole, runInTurns, type Steps } from '@platform/base';
import {
  ComponentConfigSchema,
  type RobotConfig,
  RobotConfigSchema,
  ServiceConfigSchema,
} from '@platform/proto/platform/app/v1/robot';
import { writeDurably } from '../directories/write-durably.ts';

export interface CachedConfig {
  readonly config: RobotConfig;
  readonly confirmedMs: number;
  /** The file that contains it. */
  readonly path: string;
}

export interface CacheContent {
  /** Undefined if there is no usable one. */
  readonly cached: CachedConfig | undefined;
  /** Which files are damaged, and how; empty if none is. */
  readonly damage: string;
}

const dayMs = 86_400_000;
const warnFromDays = 45;

export function cacheFile(home: string, partId: string): string {
  return join(home, `cached_cloud_config_${partId.replaceAll(/[^\w-]/g, '_')}.json`);
}

/** @param path the local file with the configuration. */
export function localCacheFile(home: string, path: string): string {
  return join(home, `cached_local_config_${hashOf(resolve(path)).slice(0, 16)}.json`);
}

/** Whether the cache has a file, even a damaged one. */
export async function isCached(path: string): Promise<boolean> {
  return (await textOf(path).catch(() => '')) !== undefined;
}

export async function readCache(path: string): Promise<CacheContent> {
  const faults: string[] = [];
  for (const each of [path, previousOf(path)]) {
    const text = await textOf(each).catch((caught: unknown) => new Error(errorText(caught)));
    if (text === undefined) continue;
    const cached = text instanceof Error ? text : decode(text, each);
    if (!(cached instanceof Error)) return { cached, damage: faults.join('; ') };
    faults.push(`the cached configuration ${each} cannot be read: ${cached.message}`);
  }
  return { cached: undefined, damage: faults.join('; ') };
}

/** Keeps the previous configuration beside it, unless it is the same. */
export async function writeCache(path: string, config: RobotConfig, confirmedMs: number): Promise<void> {
  const before = await readWhole(path).catch(() => undefined);
  const text = Buffer.from(await runInTurns(jsonOf(config)));
  const isOther = before !== undefined && !before.includes(text);
  if (isOther && (await isWhole(before))) await writeDurably(previousOf(path), before);
  const head = `{"confirmed":${JSON.stringify(new Date(confirmedMs))},"config":`;
  const sum = await runInTurns(sumOf([Buffer.from(head), text, Buffer.from('}')]));
  await writeDurably(path, Buffer.concat([Buffer.from(head), text, Buffer.from(`,"sha256":"${sum}"}\n`)]));
}

/** The same text for equal configurations. */
function* jsonOf(config: RobotConfig): Steps<string> {
  const sections = Object.assign(Object.create(Object.getPrototypeOf(config)) as RobotConfig, config, {
    ...{ components: [], services: [] },
  });
  const texts = Object.entries(toJson(RobotConfigSchema, sections) as object).map(
    ([key, value]) => `${JSON.stringify(key)}:${JSON.stringify(value)}`,
  );
  const components: string[] = [];
  for (const each of config.components) {
    components.push(JSON.stringify(toJson(ComponentConfigSchema, each)));
    yield;
  }
  const services: string[] = [];
  for (const each of config.services) {
    services.push(JSON.stringify(toJson(ServiceConfigSchema, each)));
    yield;
  }
  texts.push(`"components":[${components.join(',')}]`, `"services":[${services.join(',')}]`);
  return `{${texts.join(',')}}`;
}

/** Whether a file is as it was written. Its text is not parsed, which would take long. */
async function isWhole(bytes: Buffer): Promise<boolean> {
  const end = /,"sha256":"([0-9a-f]{64})"\}\n$/.exec(bytes.subarray(-100).toString('latin1'));
  if (end === null) return false;
  const content = bytes.subarray(0, bytes.length - end[0].length);
  return (await runInTurns(sumOf([content, Buffer.from('}')]))) === end[1];
}

const pieceBytes = 1 << 20;

function* sumOf(parts: readonly Buffer[]): Steps<string> {
  const hash = createHash('sha256');
  for (const part of parts)
    for (let at = 0; at < part.length; at += pieceBytes) {
      hash.update(part.subarray(at, at + pieceBytes));
      yield;
    }
  return hash.digest('hex');
}

export type CacheAge =
  | { readonly kind: 'fresh' }
  | { readonly kind: 'old'; readonly message: string }
  | { readonly kind: 'refused'; readonly message: string };

/** What the age of a cached configuration means for a start without the cloud (D8). Pure. @param limitDays 0: no limit */
export function checkAge(
  { confirmedMs, path }: Pick<CachedConfig, 'confirmedMs' | 'path'>,
  nowMs: number,
  limitDays: number,
): CacheAge {
  const days = (nowMs - confirmedMs) / dayMs;
  const since = `the configuration cached in ${path} was last confirmed by the cloud ${Math.floor(days)} days ago (${new Date(confirmedMs).toISOString()})`;
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

function decode(text: string, path: string): CachedConfig | Error {
  try {
    const { sha256, ...content } = JSON.parse(text) as { sha256: string; confirmed: string; config: JsonValue };
    if (sha256 !== hashOf(JSON.stringify(content))) throw new Error('its checksum does not match its content');
    const confirmedMs = Date.parse(content.confirmed);
    if (Number.isNaN(confirmedMs)) throw new Error(`expected a time at "confirmed", found ${content.confirmed}`);
    const config = fromJson(RobotConfigSchema, content.config, { ignoreUnknownFields: true });
    return { config, confirmedMs, path };
  } catch (caught) {
    return new Error(errorText(caught));
  }
}

async function textOf(path: string): Promise<string | undefined> {
  try {
    return (await readWhole(path)).toString();
  } catch (caught) {
    if ((caught as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw caught;
  }
}

function previousOf(path: string): string {
  return path.replace(/\.json$/, '.previous.json');
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}
