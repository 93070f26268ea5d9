import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readKeyFile } from './read-key-file.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'platform-key-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('a missing or incomplete key file is named, with what to do', async () => {
  const file = join(dir, 'key.json');
  await expect(readKeyFile(file)).rejects.toThrow(`found none at ${file}`);
  await writeFile(file, '{"organizationId":"o","keyId":7}');
  await expect(readKeyFile(file)).rejects.toThrow(`${file}: expected text at "keyId", found 7`);
});

test('a key file may contain more than the key, as the demo file of a data directory does', async () => {
  const file = join(dir, 'demo.json');
  await writeFile(file, '{"organizationId":"o","keyId":"k","key":"s","partId":"p"}');
  expect(await readKeyFile(file)).toMatchObject({ organizationId: 'o', keyId: 'k', key: 's' });
});
