import { existsSync, statSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createLog } from '@platform/base';
import { spawnChild, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { ballastStep, releaseBallastIfFull } from './ballast.ts';

const childFile = fileURLToPath(new URL('../testing/full-disk-child.ts', import.meta.url));
const mebibyte = 1024 * 1024;

test('I13 on a full disk the ballast is released: the log appends, deletes and checkpoints again; later it is rewritten', async () => {
  await using directory = await temporaryDirectory();
  // A separate disk, which disappears with the process.
  const mounted = `mount -t tmpfs -o size=32m none "$1" && exec "$0" --conditions=@platform/source "$2" "$1"`;
  const args = ['-rm', 'sh', '-c', mounted, process.execPath, directory.path, childFile];
  await using child = spawnChild('unshare', args);
  const { code } = await child.exited;
  expect(child.stderr).toBe('');
  expect(code).toBe(0);
  const said = Object.assign({}, ...child.lines.map((line) => ({ [Object.keys(line)[0] ?? '']: line })));
  expect(said.ballast).toEqual({ ballast: 8 * mebibyte });
  expect(said.stored).toEqual({ stored: 20 });
  expect(said.full).toMatchObject({ full: 'resource_exhausted', ballast: 8 * mebibyte });
  expect(said.full.free).toBeLessThan(mebibyte);
  expect(said.again).toEqual({ again: 'appended', ballast: 0 });
  expect(said.truncated).toMatchObject({ truncated: said.truncated.last, left: 0 });
  expect(said.rebuilt.rebuilt).toBe(8 * mebibyte);
  expect(said.rebuilt.free).toBeGreaterThan(4 * mebibyte);
});

test('I13 the ballast takes no space that uploads need, its release is logged, and a start on a full disk releases it first', async () => {
  await using directory = await temporaryDirectory();
  const file = directory.file('ballast');
  const told: string[] = [];
  let free = 139;
  const step = ballastStep({
    directory: directory.path,
    freeBytes: async () => free,
    neededBytes: () => 100,
    log: createLog((level, _logger, message) => void told.push(`${level} ${message}`)),
    sizes: { bytes: 40, fullBelowBytes: 10, stepBytes: 25 },
  });
  expect(await step()).toBe(false);
  expect(existsSync(file)).toBe(false);
  free = 140;
  await step();
  free = 115;
  await step();
  await step();
  expect(told).toEqual([]);
  const sizeOf = (): number => statSync(file).size;
  expect(sizeOf()).toBe(40);
  free = 9;
  await step();
  expect(existsSync(file)).toBe(false);
  free = 140;
  await step();
  await step();
  expect(sizeOf()).toBe(40);
  expect(told).toEqual([
    expect.stringMatching(/^error .*reserve is released/),
    expect.stringMatching(/^info .*reserve .* is restored/),
  ]);

  // A directory without an installation is left alone.
  const full = { bytes: 40, fullBelowBytes: Number.MAX_SAFE_INTEGER, stepBytes: 25 };
  releaseBallastIfFull(directory.path, full);
  expect(existsSync(file)).toBe(true);
  writeFileSync(directory.file('platform.json'), '{}');
  releaseBallastIfFull(directory.path, { ...full, fullBelowBytes: 0 });
  expect(existsSync(file)).toBe(true);
  releaseBallastIfFull(directory.path, full);
  expect(existsSync(file)).toBe(false);
});
