import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { FakeClock, recordSyscalls, temporaryDirectory } from '@platform/testkit';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { blobPath } from './blob-path.ts';
import { openBlobStore } from './blob-store.ts';

const here = fileURLToPath(new URL('.', import.meta.url));

async function files(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
}

test('I4 a payload is synced, then renamed, then its directories are synced, before put resolves', async () => {
  await using data = await temporaryDirectory();
  await using trace = await temporaryDirectory();
  const script = `
    import { writeSync } from 'node:fs';
    import { systemClock } from '@platform/base';
    import { openBlobStore } from ${JSON.stringify(join(here, 'blob-store.ts'))};
    const store = await openBlobStore({ directory: ${JSON.stringify(data.path)}, clock: systemClock });
    await store.put('a/b/file', [Buffer.from('pay'), Buffer.from('load')]);
    writeSync(1, 'stored');`;
  await writeFile(join(trace.path, 'run.mjs'), script.replace('@platform/base', import.meta.resolve('@platform/base')));
  const calls = await recordSyscalls({
    command: process.execPath,
    args: ['--conditions=@platform/source', join(trace.path, 'run.mjs')],
    directory: data.path,
    traceFile: trace.file('trace'),
  });
  const at = (found: (call: (typeof calls)[number]) => boolean): number => calls.findLastIndex(found);
  const written = at((call) => call.kind === 'write' && call.path.includes('.incoming'));
  const synced = at((call) => call.kind === 'sync' && call.path.includes('.incoming/'));
  const renamed = at((call) => call.kind === 'rename' && call.to === data.file('a/b/file'));
  const directories = ['', 'a', 'a/b'].map((name) =>
    at((call) => call.kind === 'sync' && call.path === join(data.path, name)),
  );
  const told = at((call) => call.path === 'stdout');
  expect(written).toBeGreaterThanOrEqual(0);
  expect(synced).toBeGreaterThan(written);
  expect(renamed).toBeGreaterThan(synced);
  expect(directories[2]).toBeGreaterThan(renamed);
  for (const directory of directories) expect(directory).toBeGreaterThanOrEqual(0);
  expect(told).toBeGreaterThan(Math.max(...directories));
});

test('I4 a stored payload is read back completely with its hash, and a failing source leaves nothing', async () => {
  await using directory = await temporaryDirectory();
  const store = await openBlobStore({ directory: directory.path, clock: new FakeClock() });
  using stored = await store.put('x/y/one', [Buffer.from('pay'), Buffer.from('load')]);
  expect(stored.sizeBytes).toBe(7);
  expect(Buffer.from(stored.sha256).toString('hex')).toMatch(
    /^239f59ed55e737c77147cf55ad0c1b030b6d7ee748a7426952f9b852d5a935e5$/,
  );
  const contents = { sizeBytes: 7, sha256: Buffer.from(stored.sha256).toString('hex') };
  const chunks = await store.get('x/y/one', contents);
  let text = '';
  for await (const chunk of chunks) text += Buffer.from(chunk).toString();
  expect(text).toBe('payload');

  const failing = async function* (): AsyncIterable<Uint8Array> {
    yield Buffer.from('half');
    throw new Error('the sender went away');
  };
  await expect(store.put('x/y/two', failing())).rejects.toThrow('the sender went away');
  await expect(store.get('x/y/two', contents)).rejects.toMatchObject({ code: 'not_found' });
  expect(await files(directory.path)).toEqual([directory.file('x/y/one')]);
});

test('I4 I14 a start removes incomplete payloads, and the sweep removes old ones that are neither named nor held', async () => {
  await using directory = await temporaryDirectory();
  await mkdir(directory.file('.incoming'), { recursive: true });
  await writeFile(directory.file('.incoming/left'), 'half');
  const clock = new FakeClock(Date.now());
  const store = await openBlobStore({ directory: directory.path, clock });
  expect(await files(directory.path)).toEqual([]);

  (await store.put('a/named', [Buffer.from('1')]))[Symbol.dispose]();
  (await store.put('a/orphan', [Buffer.from('2')]))[Symbol.dispose]();
  const held = await store.put('a/held', [Buffer.from('3')]);
  const belongs = (path: string): boolean => path === 'a/named';
  expect(await store.sweep(belongs)).toBe(0);
  await clock.advance(3_700_000);
  expect(await store.sweep(belongs)).toBe(1);
  expect((await files(directory.path)).sort()).toEqual([directory.file('a/held'), directory.file('a/named')]);
  held[Symbol.dispose]();
  expect(await store.sweep(belongs)).toBe(1);
  expect(await readFile(directory.file('a/named'), 'utf8')).toBe('1');
});

test('a blob path has nine plain segments for any names, and never leaves the directory', () => {
  const name = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom('', '.', '..', '../..', '/', 'a/b', '\0', '.incoming', 'x'.repeat(500)),
  );
  fc.assert(
    fc.property(fc.array(name, { minLength: 8, maxLength: 8 }), (names) => {
      const [
        organizationId = '',
        locationId = '',
        robotId = '',
        partId = '',
        componentType = '',
        componentName = '',
        methodName = '',
        file = '',
      ] = names;
      const path = blobPath({
        organizationId,
        locationId,
        robotId,
        partId,
        componentType,
        componentName,
        methodName,
        captureDay: '2026-01-01',
        file,
      });
      const segments = path.split('/');
      expect(segments).toHaveLength(9);
      for (const segment of segments) expect(segment).toMatch(/^[A-Za-z0-9_:%-][A-Za-z0-9._:%-]{0,199}$/);
    }),
  );
});

test('a path that leaves the store is refused', async () => {
  await using directory = await temporaryDirectory();
  const store = await openBlobStore({ directory: directory.file('blobs'), clock: new FakeClock() });
  for (const path of ['../x', 'a/../../x', '/etc/passwd', 'a//b', '.incoming/x', '']) {
    await expect(store.put(path, [Buffer.from('1')])).rejects.toMatchObject({ code: 'internal' });
  }
});
