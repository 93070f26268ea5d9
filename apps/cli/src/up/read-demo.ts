import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What the cloud writes into the data directory for the demo (mode 0600): the secret of its part and an API key. */
export interface Demo {
  readonly organizationId: string;
  readonly locationId: string;
  readonly machineId: string;
  readonly partId: string;
  readonly partSecret: string;
  readonly keyId: string;
  readonly key: string;
}

/** Reads `<dataDir>/demo.json`. @throws with the file and the missing field */
export async function readDemo(dataDir: string): Promise<Demo> {
  const file = join(dataDir, 'demo.json');
  const value = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
  for (const field of ['organizationId', 'locationId', 'machineId', 'partId', 'partSecret', 'keyId', 'key']) {
    if (typeof value[field] !== 'string')
      throw new Error(`${file}: expected text at "${field}", found ${value[field]}`);
  }
  return value as unknown as Demo;
}

/**
 * Writes the machine-server's credentials file (D32) into its home, readable only by its owner; returns its path.
 *
 * @param ca PEM of the authority to trust; absent: the system's
 */
export async function writeCredentials(
  homeDir: string,
  url: string,
  ca: string | undefined,
  demo: Demo,
): Promise<string> {
  await mkdir(homeDir, { recursive: true, mode: 0o700 });
  const file = join(homeDir, 'credentials.json');
  const cloud = { id: demo.partId, secret: demo.partSecret, app_address: url, ...(ca === undefined ? {} : { ca }) };
  await writeFile(`${file}.new`, `${JSON.stringify({ cloud }, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return file;
}
