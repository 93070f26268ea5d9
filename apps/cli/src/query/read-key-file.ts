/** Asking a cloud from the command line: with which key. */
import { readFile } from 'node:fs/promises';
import { PlatformError } from '@platform/sdk/cloud';

export interface KeyFile {
  readonly organizationId: string;
  readonly keyId: string;
  readonly key: string;
}

/** Reads a file such as the demo's demo.json; throws a sentence that names the file and what is wrong. */
export async function readKeyFile(file: string): Promise<KeyFile> {
  let value: Partial<Record<string, unknown>>;
  try {
    value = JSON.parse(await readFile(file, 'utf8'));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new PlatformError(
      'invalid_argument',

      `expected a file with a key, found none at ${file} (${reason}); is --data the folder of a cloud?`,
    );
  }
  for (const field of ['organizationId', 'keyId', 'key']) {
    if (typeof value[field] !== 'string')
      throw new PlatformError('invalid_argument', `${file}: expected text at "${field}", found ${value[field]}`);
  }
  return value as unknown as KeyFile;
}
