/** The address of a cloud when its demo last started, and its authority: from the credentials file of the demo's machine-server. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';

export interface DemoCloud {
  readonly url?: string;
  /** PEM. */
  readonly ca?: string;
}

/** Empty if there is no such file. */
export async function readDemoCloud(dataDir: string): Promise<DemoCloud> {
  const file = join(dataDir, 'machine', 'credentials.json');
  const { cloud } = Object(await readFile(file, 'utf8').then(JSON.parse, () => undefined));
  const { app_address: url, ca } = Object(cloud);
  return { ...(typeof url === 'string' && { url }), ...(typeof ca === 'string' && { ca }) };
}
