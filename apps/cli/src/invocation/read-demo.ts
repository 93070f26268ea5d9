/** The demo of a cloud on this computer: its key, and the address that its machine-server uses. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { invalidArgument } from '@platform/base/refusals';

const fields = ['organizationId', 'keyId', 'key', 'locationId', 'machineId', 'partId', 'partSecret'] as const;

/** What the cloud writes into its data directory for the demo (mode 0600): the secret of its part and an API key. */
export type Demo = Readonly<Record<(typeof fields)[number], string>>;

/** Reads `<dataDir>/demo.json`. @throws invalid_argument with the file and the problem */
export async function readDemo(dataDir: string): Promise<Demo> {
  const file = join(dataDir, 'demo.json');
  const value = await readFile(file, 'utf8')
    .then(JSON.parse)
    .catch((caught: Error) => {
      throw invalidArgument(
        `expected a key file, found none at ${file} (${caught.message}); is --data the data directory of a cloud?`,
      );
    });
  for (const field of fields) {
    if (typeof value[field] !== 'string')
      throw invalidArgument(`${file}: expected text at "${field}", found ${value[field]}`);
  }
  return value;
}

export interface DemoCloud {
  readonly url?: string;
  /** PEM. */
  readonly ca?: string;
}

/**
 * The address of the cloud when the demo last started, and its authority: from the credentials file of the demo's machine-server.
 * Empty if there is no such file.
 */
export async function readDemoCloud(dataDir: string): Promise<DemoCloud> {
  const file = join(dataDir, 'machine', 'credentials.json');
  const { cloud } = Object(await readFile(file, 'utf8').then(JSON.parse, () => undefined));
  const { app_address: url, ca } = Object(cloud);
  return { ...(typeof url === 'string' && { url }), ...(typeof ca === 'string' && { ca }) };
}
