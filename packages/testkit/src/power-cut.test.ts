import { writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { cutImages } from './power-cut.ts';
import { recordSyscalls, type Syscall } from './record-syscalls.ts';
import { temporaryDirectory } from './temporary-directory.ts';

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

function contents(calls: readonly Syscall[], path: string): Set<string | undefined> {
  const found = new Set<string | undefined>();
  for (let round = 0; round < 200; round++) {
    for (const image of cutImages(calls, { random: Math.random, randomInstants: 1 })) {
      if (image.at < calls.length) continue;
      const content = image.files.get(path);
      found.add(content && new TextDecoder().decode(content));
    }
  }
  return found;
}

test('synced data survives, later writes may or may not survive, a file whose name was never synced may be missing', () => {
  const written: Syscall[] = [
    { kind: 'create', path: '/d/f' },
    { kind: 'write', path: '/d/f', offset: 0, bytes: bytes('old') },
    { kind: 'sync', path: '/d/f', startedAt: 2 },
  ];
  const named: Syscall[] = [...written, { kind: 'sync', path: '/d', startedAt: 3 }];
  const changed: Syscall[] = [
    ...named,
    { kind: 'write', path: '/d/f', offset: 0, bytes: bytes('new') },
    { kind: 'sync', path: '/d', startedAt: 5 },
  ];
  const unlinked: Syscall[] = [...named, { kind: 'unlink', path: '/d/f' }, { kind: 'sync', path: '/x', startedAt: 4 }];
  expect(contents([...written, { kind: 'sync', path: '/x', startedAt: 3 }], '/d/f')).toEqual(
    new Set([undefined, 'old']),
  );
  expect(contents(named, '/d/f')).toEqual(new Set(['old']));
  expect(contents(changed, '/d/f')).toEqual(new Set(['old', 'new']));
  expect(contents(unlinked, '/d/f')).toEqual(new Set([undefined, 'old']));
});

test('a removal and a new name that the disk forgets are counted, and none is once their directory was synced', () => {
  const changed: Syscall[] = [
    { kind: 'create', path: '/d/f' },
    { kind: 'sync', path: '/d', startedAt: 1 },
    { kind: 'rename', path: '/d/f', to: '/d/g' },
    { kind: 'unlink', path: '/d/g' },
  ];
  const options = { random: () => 0, randomInstants: 0, everyBoundary: 0, atEnd: 1 };
  const [lost] = cutImages(changed, options);
  expect(lost?.forgotten).toEqual({ create: 0, mkdir: 0, link: 0, rename: 1, unlink: 1 });
  expect([...(lost?.files.keys() ?? [])]).toEqual(['/d/f']);
  const [kept] = cutImages([...changed, { kind: 'sync', path: '/d', startedAt: 4 }], options);
  expect(kept?.forgotten).toEqual({ create: 0, mkdir: 0, link: 0, rename: 0, unlink: 0 });
  expect([...(kept?.files.keys() ?? [])]).toEqual([]);
});

test('there are as many images as requested, even of a short recording', () => {
  const calls: Syscall[] = [
    { kind: 'create', path: '/d/f' },
    { kind: 'sync', path: '/d', startedAt: 1 },
    { kind: 'sync', path: '/d/f', startedAt: 2 },
  ];
  const images = (everyBoundary?: number): number[] =>
    [
      ...cutImages(calls, {
        random: Math.random,
        randomInstants: 50,
        ...(everyBoundary !== undefined && { everyBoundary }),
      }),
    ].map(({ at }) => at);
  expect(images()).toHaveLength(53);
  expect(images(2)).toHaveLength(52);
  expect(images(0)).toHaveLength(50);
  expect(images()).toEqual(expect.arrayContaining([1, 2, 3]));
});

test('no image is of an earlier instant than the first one asked for, and none is fewer', () => {
  const calls = Array.from({ length: 8 }, (_, startedAt): Syscall => ({ kind: 'sync', path: '/d', startedAt }));
  const images = [...cutImages(calls, { random: Math.random, randomInstants: 40, everyBoundary: 0, from: 6 })];
  expect(images).toHaveLength(40);
  expect(Math.min(...images.map(({ at }) => at))).toBeGreaterThanOrEqual(6);
});

test('a sync covers only what was written before it began', () => {
  const calls: Syscall[] = [
    { kind: 'create', path: '/d/f' },
    { kind: 'sync', path: '/d', startedAt: 1 },
    { kind: 'write', path: '/d/f', offset: 0, bytes: bytes('covered') },
    { kind: 'write', path: '/d/f', offset: 0, bytes: bytes('COVERED') },
    { kind: 'sync', path: '/d/f', startedAt: 3 },
  ];
  expect(contents(calls, '/d/f')).toEqual(new Set(['covered', 'COVERED']));
});

test('a recording has every write with its position, every sync, rename and unlink in the directory, and stdout', async () => {
  await using data = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const script = other.file('run.mjs');
  await writeFile(
    script,
    `import { closeSync, fsyncSync, openSync, renameSync, unlinkSync, writeSync } from 'node:fs';
     const at = (name) => ${JSON.stringify(data.path)} + '/' + name;
     const fd = openSync(at('a "é"'), 'w');
     writeSync(fd, 'first'); writeSync(fd, 'XY', 1); writeSync(fd, 'end');
     fsyncSync(fd); closeSync(fd); renameSync(at('a "é"'), at('b')); writeSync(1, 'said'); unlinkSync(at('b'));
     writeSync(openSync(${JSON.stringify(other.file('elsewhere'))}, 'w'), 'not ours');`,
  );
  const calls = await recordSyscalls({
    command: process.execPath,
    args: [script],
    directory: data.path,
    traceFile: other.file('trace'),
  });
  const told = calls.map((call) => ('bytes' in call ? { ...call, bytes: new TextDecoder().decode(call.bytes) } : call));
  const path = data.file('a "é"');
  expect(told).toEqual([
    { kind: 'create', path },
    { kind: 'truncate', path, length: 0 },
    { kind: 'write', path, offset: 0, bytes: 'first' },
    { kind: 'write', path, offset: 1, bytes: 'XY' },
    { kind: 'write', path, offset: 5, bytes: 'end' },
    { kind: 'sync', path, startedAt: 5 },
    { kind: 'rename', path, to: data.file('b') },
    { kind: 'write', path: 'stdout', offset: 0, bytes: 'said' },
    { kind: 'unlink', path: data.file('b') },
  ]);
});

test('a program that fails is an error', async () => {
  await using data = await temporaryDirectory();
  await using other = await temporaryDirectory();
  const recording = recordSyscalls({
    command: 'false',
    args: [],
    directory: data.path,
    traceFile: other.file('trace'),
  });
  await expect(recording).rejects.toThrow();
});
