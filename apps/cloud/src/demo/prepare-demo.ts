/**
 * The demo: registers this computer as the first machine, with a key for the demo itself.
 *
 * `demo.json` (0600) in the data directory gives `platform up` the ids, the part's secret and that key, so that later starts need no
 * other key. It is written once and kept; after the first start the configuration belongs to the user.
 */
import { existsSync, readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { errorText, failedPrecondition, type Log, PlatformError } from '@platform/base';
import { createKey } from '../access/keys.ts';
import type { InstanceKey } from '../instance/instance-key.ts';
import { writeFileAtomic } from '../instance/write-file-atomic.ts';
import type { Configurations } from '../machines/configuration/configuration.ts';
import type { Registry } from '../machines/registry.ts';
import type { Database } from '../metadata/tables.ts';
import { demoConfiguration } from './demo-configuration.ts';

export interface DemoFile {
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly partSecret: string;
  readonly keyId: string;
  readonly key: string;
}

export interface DemoDeps {
  readonly db: Database;
  readonly instanceKey: InstanceKey;
  readonly registry: Registry;
  readonly configurations: Configurations;
  readonly file: string;
  readonly nowMs: number;
}

/**
 * Registers the machine unless an earlier start did, then writes the file. After a crash in between there is no file, and the next start
 * continues.
 */
export async function prepareDemo(
  deps: DemoDeps,
  account: { organizationId: string; locationId: string },
  baseUrl: string,
): Promise<DemoFile> {
  const { db, instanceKey, registry, configurations, file, nowMs } = deps;
  const { organizationId, locationId } = account;
  const machine = registry.machinesOf(locationId)[0];
  const part = registry.partsOf(machine?.id ?? '')[0];
  const { machineId, partId, partSecret } =
    machine === undefined || part === undefined
      ? await registry.register(locationId, hostname() || 'this-computer', nowMs)
      : { machineId: machine.id, partId: part.id, partSecret: await registry.secretOf(part.id) };
  if ((await configurations.current(partId)).version === 0) {
    await configurations.save({
      partId,
      document: JSON.stringify(demoConfiguration(`${baseUrl}/test-inbox/webhooks/demo`), null, 2),
      by: { kind: 'platform', name: 'first start' },
    });
  }
  const { id: keyId, key } = await createKey(
    db,
    instanceKey,
    'demo',
    [{ role: 'operator', organizationId, locationId: null, robotId: null }],
    nowMs,
  );
  const demo: DemoFile = { organizationId, locationId, machineId, partId, partSecret, keyId, key };
  writeFileAtomic(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

const demoFields = ['organizationId', 'locationId', 'machineId', 'partId', 'partSecret', 'keyId', 'key'] as const;

/** The demo of an earlier start; undefined if there is none. @throws failed_precondition if the file is damaged */
export function readDemo(file: string): DemoFile | undefined {
  if (!existsSync(file)) return undefined;
  const found = problemOf(file);
  if (typeof found !== 'string') return found;
  throw failedPrecondition(
    `${file}: expected an object with ${demoFields.join(', ')}, found ${found}. To restore the demo, delete the file and restart the cloud: it creates a new file with a new key for the demo`,
  );
}

function problemOf(file: string): DemoFile | string {
  try {
    const text = readFileSync(file, 'utf8');
    const value: unknown = JSON.parse(text);
    const demo: Partial<DemoFile> = typeof value === 'object' && value !== null ? value : {};
    const missing = demoFields.filter((field) => typeof demo[field] !== 'string');
    return missing.length === 0 ? (demo as DemoFile) : `no string at ${missing.join(', ')}`;
  } catch (caught) {
    // A JSON parser's message quotes the text, which contains secrets.
    return caught instanceof SyntaxError ? 'text that is not JSON' : `that it cannot be read: ${errorText(caught)}`;
  }
}

/**
 * The built-in test inbox has the address of this start: a demo trigger with an earlier address is updated. If the demo's machine was
 * deleted, or the user's configuration cannot be saved, nothing changes.
 */
export async function moveDemoTrigger(
  { configurations, registry, log }: Pick<DemoDeps, 'configurations' | 'registry'> & { readonly log: Log },
  partId: string,
  baseUrl: string,
): Promise<void> {
  if (registry.part(partId) === undefined) return;
  const { document } = await configurations.current(partId);
  const moved = document.replace(
    /https?:\/\/[^/"\s]+(\/test-inbox\/webhooks\/demo)/g,
    (_, path: string) => baseUrl + path,
  );
  if (moved === document) return;
  const by = { kind: 'platform', name: 'start at another address' } as const;
  await configurations.save({ partId, document: moved, by }).catch((caught: unknown) => {
    if (!(caught instanceof PlatformError)) throw caught;
    log.warn("the demo's trigger still points to the address of an earlier start", { error: caught.message });
  });
}
