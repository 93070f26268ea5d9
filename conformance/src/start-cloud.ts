/** The real cloud as a process, with its own data directory and port, as `platform up` starts it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { program } from '../../tools/bundles/program.ts';
import { cloudCommand, cloudEnvironment } from './cloud-command.ts';

/** For PLATFORM_MACHINE_SERVER. */
export const machineServer: string = program('machine-server');

export interface CloudProcess extends AsyncDisposable {
  readonly pid: number;
  readonly url: string;
  /** `host:port`, as gRPC clients take it. */
  readonly target: string;
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly partSecret: string;
  /** The owner's API key, which a first start prints once. */
  readonly keyId: string;
  readonly key: string;
  /** Signs in the first owner, once. */
  readonly signInLink: string;
  readonly dataDir: string;
  /** PEM of its own authority; empty without TLS. */
  readonly caFingerprint: string;
  /** Its log so far, as lines of JSON. */
  logged(): string;
}

/** @param env more settings (`PLATFORM_…`) @param more arguments */
export async function startCloud(
  env: Readonly<Record<string, string>> = {},
  more: readonly string[] = [],
): Promise<CloudProcess> {
  const directory = await temporaryDirectory('conformance-');
  const args = [...cloudCommand, '--data', directory.path, '--port', '0', '--json', ...more];
  const cloud = spawnChild(process.execPath, args, {
    env: { ...cloudEnvironment, PLATFORM_LOG_LEVEL: 'error', ...env },
  });
  const dispose = async (): Promise<void> => {
    await cloud.kill('SIGTERM');
    await directory[Symbol.asyncDispose]();
  };
  try {
    const ready = await cloud.waitForLine((line) => line['event'] === 'ready');
    const demo: unknown = JSON.parse(readFileSync(join(directory.path, 'demo.json'), 'utf8'));
    const url = textOf(ready, 'url');
    return {
      pid: cloud.pid,
      url,
      target: new URL(url).host,
      organizationId: textOf(ready, 'organizationId'),
      locationId: textOf(ready, 'locationId'),
      machineId: textOf(ready, 'machineId'),
      partId: textOf(ready, 'partId'),
      partSecret: textOf(demo, 'partSecret'),
      keyId: textOf(ready, 'keyId'),
      key: textOf(ready, 'key'),
      signInLink: textOf(ready, 'signInLink'),
      dataDir: directory.path,
      caFingerprint: String(ready['caFingerprint'] ?? ''),
      logged: () => cloud.stderr,
      [Symbol.asyncDispose]: dispose,
    };
  } catch (caught) {
    await dispose();
    throw caught;
  }
}

function textOf(object: unknown, name: string): string {
  const value: unknown = typeof object === 'object' && object !== null ? Reflect.get(object, name) : undefined;
  if (typeof value !== 'string' || value === '') {
    throw new Error(`expected text under "${name}", found ${JSON.stringify(object)}`);
  }
  return value;
}
