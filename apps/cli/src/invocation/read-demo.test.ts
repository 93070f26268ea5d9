import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readDemo } from './read-demo.ts';

let dir: string;
beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'platform-key-'));
});
afterEach(() => rm(dir, { recursive: true }));

test('a missing or incomplete key file is reported, with what to do', async () => {
  const file = join(dir, 'demo.json');
  await expect(readDemo(dir)).rejects.toThrow(`found none at ${file}`);
  await writeFile(file, '{"organizationId":"o","keyId":7}');
  await expect(readDemo(dir)).rejects.toThrow(`${file}: expected text at "keyId", found 7`);
});
