/** The API key of a cloud on this computer. */
import { readFile } from 'node:fs/promises';
import { PlatformError } from '@platform/sdk/cloud';

export interface KeyFile {
  readonly organizationId: string;
  readonly keyId: string;
  readonly key: string;
}

/** Reads a file such as the demo's demo.json. @throws invalid_argument with the file and the problem */
export async function readKeyFile(file: string): Promise<KeyFile> {
  let value: Partial<Record<string, unknown>>;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PlatformError(
      'invalid_argument',

      `expected a key file, found none at ${file} (${reason}); is --data the data directory of a cloud?`,
    );
  }
  for (const field of ['organizationId', 'keyId', 'key']) {
    if (typeof value[field] !== 'string')
      throw new PlatformError('invalid_argument', `${file}: expected text at "${field}", found ${value[field]}`);
  }
  return value as unknown as KeyFile;
}
