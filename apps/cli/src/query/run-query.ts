/** Queries a cloud for rows, and reports the cost. */
import { join } from 'node:path';
import { type Cloud, openCloud, systemClock } from '@platform/sdk/cloud';
import { type Context, defaultUrl } from '../invocation/context.ts';
import { readDemoCloud } from '../invocation/read-demo-cloud.ts';
import { fromEnvironment } from '../settings.ts';
import { readKeyFile } from './read-key-file.ts';

export interface Answer {
  /** One BSON document each. */
  readonly rows: readonly Uint8Array[];
  /** As reported by the cloud; undefined if it does not report it. */
  readonly scannedBytes: number | undefined;
  /** As reported by the cloud, otherwise as measured here. */
  readonly elapsedMs: number;
  /** Conditions that are unlikely to match, and what to write instead. */
  readonly notices: readonly string[];
}

export interface CallOptions {
  readonly signal: AbortSignal;
  /** 0: only the cloud's own limit ends a query. */
  readonly timeoutMs: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly onHeader: (headers: Headers) => void;
  readonly onTrailer: (trailers: Headers) => void;
}

export interface Asked {
  readonly context: Context;
  /** Data directory of a cloud on this computer: the query uses the key of its demo. */
  readonly dataDir: unknown;
  /** The only row describes how the query runs. */
  readonly explain: boolean;
}

export type Query = (
  data: Cloud['data'],
  organizationId: string,
  options: CallOptions,
) => Promise<{ readonly rawData: readonly Uint8Array[] }>;

export async function runQuery({ context, dataDir, explain }: Asked, query: Query): Promise<Answer> {
  const metadata = new Headers();
  const keep = (found: Headers): void => {
    for (const [name, value] of found) metadata.set(name, value);
  };
  const options: CallOptions = {
    signal: context.signal,
    timeoutMs: 0,
    headers: explain ? { 'platform-explain': 'true' } : {},
    onHeader: keep,
    onTrailer: keep,
  };
  const numberOf = (name: string): number | undefined => {
    const text = metadata.get(name) ?? '';
    return /^\d+(\.\d+)?$/.test(text) ? Number(text) : undefined;
  };
  const before = systemClock.monotonic();
  const { rawData } = await withCloud(context, dataDir, (data, organizationId) => query(data, organizationId, options));
  return {
    rows: rawData,
    scannedBytes: numberOf('platform-scanned-bytes'),
    elapsedMs: numberOf('platform-elapsed-ms') ?? systemClock.monotonic() - before,
    notices: noticesOf(metadata.get('platform-notices') ?? ''),
  };
}

/** A malformed header must not make the query fail. */
function noticesOf(header: string): readonly string[] {
  try {
    return (JSON.parse(decodeURIComponent(header)) as unknown[]).map(String);
  } catch {
    return [];
  }
}

async function withCloud<T>(
  context: Context,
  dataDir: unknown,
  run: (data: Cloud['data'], organizationId: string) => Promise<T>,
): Promise<T> {
  if (dataDir === undefined) return run((await context.cloud()).data, (await context.find.organization()).id);
  const { organizationId, keyId, key } = await readKeyFile(join(String(dataDir), 'demo.json'));
  const of = await readDemoCloud(String(dataDir));
  const url = context.flags.url ?? (fromEnvironment.url || (of.url ?? defaultUrl));
  context.reaches(url, of.ca);
  await using cloud = openCloud({ url, keyId, key, ...(of.ca !== undefined && { ca: of.ca }) });
  return await run(cloud.data, organizationId);
}
