import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { memoryLimitBytes } from './memory-limit.ts';

const mebibyte = 1024 * 1024;

async function limitOf(files: Readonly<Record<string, string>>): Promise<number | undefined> {
  await using root = await temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    const path = join(root.path, name);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
  return memoryLimitBytes(root.path);
}

test('the least limit of the groups above a process counts, in both versions of control groups', async () => {
  expect(
    await limitOf({
      'proc/self/cgroup': '0::/system.slice/platform-cloud.service\n',
      'sys/fs/cgroup/system.slice/memory.max': `${512 * mebibyte}\n`,
      'sys/fs/cgroup/system.slice/platform-cloud.service/memory.max': 'max\n',
    }),
    'version 2, limited above',
  ).toBe(512 * mebibyte);
  expect(
    await limitOf({ 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/memory.max': `${256 * mebibyte}\n` }),
    'version 2, within a container',
  ).toBe(256 * mebibyte);
  expect(
    await limitOf({
      'proc/self/cgroup': '9:cpuset:/docker/ab\n4:memory:/docker/ab\n0::/docker/ab\n',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': `${128 * mebibyte}\n`,
    }),
    'version 1, within a container that sees its own group as the first',
  ).toBe(128 * mebibyte);
});

test('without a limit, and without control groups, there is none', async () => {
  expect(await limitOf({})).toBe(undefined);
  expect(await limitOf({ 'proc/self/cgroup': '0::/a\n', 'sys/fs/cgroup/a/memory.max': 'max\n' })).toBe(undefined);
  expect(
    await limitOf({
      'proc/self/cgroup': '4:memory:/a\n',
      'sys/fs/cgroup/memory/a/memory.limit_in_bytes': '9223372036854771712\n',
    }),
  ).toBe(undefined);
});
