/** Queries a cloud for rows, and reports the cost. */
import { type Cloud, openCloud, systemClock } from '@platform/sdk/cloud';
import { type Context, urlOrLocal } from '../invocation/context.ts';
import { readDemo, readDemoCloud } from '../invocation/read-demo.ts';

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

export interface Asked {
  readonly context: Context;
  /** Data directory of a cloud on this computer: the query uses the key of its demo. */
  readonly dataDir: unknown;
  /** The answer is a single row that describes how the query runs. */
  readonly explain: boolean;
}

export type Query = (
  data: Cloud['data'],
  organizationId: string,
  options: Parameters<Cloud['data']['tabularDataByMQL']>[1],
) => Promise<{ readonly rawData: readonly Uint8Array[] }>;

export async function runQuery({ context, dataDir, explain }: Asked, query: Query): Promise<Answer> {
  const metadata = new Headers();
  const keep = (found: Headers): void => {
    for (const [name, value] of found) metadata.set(name, value);
  };
  // No deadline: only the cloud's own limit ends a query.
  const headers = explain ? { 'platform-explain': 'true' } : {};
  const options = { timeoutMs: 0, headers, onHeader: keep, onTrailer: keep };
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
  const { settings } = context;
  const { organizationId, keyId, key } = await readDemo(String(dataDir));
  const of = await readDemoCloud(String(dataDir));
  const url = context.flags.url ?? (settings.fromEnvironment.url || (of.url ?? (await urlOrLocal({}, settings))));
  context.reaches(url, of.ca);
  await using cloud = openCloud({ url, keyId, key, ca: of.ca, signal: context.signal });
  return await run(cloud.data, organizationId);
}
