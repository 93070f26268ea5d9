import { mkdir, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Demo } from '../invocation/read-demo.ts';

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
  const cloud = { id: demo.partId, secret: demo.partSecret, app_address: url, ca };
  await writeFile(`${file}.new`, `${JSON.stringify({ cloud }, null, 2)}\n`, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return file;
}
