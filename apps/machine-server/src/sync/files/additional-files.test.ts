import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { appendFile, mkdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { PlatformError } from '@platform/base';
import { memoryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { left, startFilesRig } from '../../testing/files-rig.ts';
import type { AfterSync } from './after-sync.ts';

test('every regular file is sent, whatever its name and size, and then deleted', async () => {
  const rig = await startFilesRig();
  const names = [
    'plain',
    'empty',
    'a.capture',
    'b.prog',
    'c.tmp',
    'd.reason',
    'deep/er/file.txt',
    'failed/own.txt',
    '.hidden',
  ];
  for (const name of names) await rig.put(name, name === 'empty' ? '' : name);
  await rig.start([rig.root]).flush();
  expect(rig.sent.toSorted()).toEqual(names.map((name) => (name === 'empty' ? '' : name)).toSorted());
  expect(await left(rig.root)).toEqual([]);
});

test('links, sockets, pipes and the capture directory stay and are reported; nested paths are sent once; nothing else waits', async () => {
  const rig = await startFilesRig();
  const outside = join(rig.home, 'outside');
  await writeFile(outside, 'outside');
  await rig.put('inner/file');
  await rig.put('captured/x.prog');
  await symlink(outside, join(rig.root, 'link'));
  await symlink(rig.home, join(rig.root, 'link-to-folder'));
  execFileSync('mkfifo', [join(rig.root, 'pipe')]);
  const server = createServer().listen(join(rig.root, 'socket'));
  onTestFinished(() => void server.close());
  await rig.start([rig.root, join(rig.root, 'inner'), `${rig.root}/.`]).flush();
  expect(rig.sent).toEqual(['inner/file']);
  expect((await left(rig.root)).toSorted()).toEqual(['captured/x.prog', 'link', 'link-to-folder', 'pipe', 'socket']);
  expect(await readFile(outside, 'utf8')).toBe('outside');
  const named = (text: string): boolean => rig.told.some((line) => line.includes(text));
  expect(['links are not followed', 'it is a pipe', 'it is a socket'].filter(named)).toHaveLength(3);
});

test('paths that cannot be synced are reported, and the others are synced', async () => {
  const rig = await startFilesRig();
  const file = await rig.put('file');
  const inner = await rig.put('ok/inner');
  const refused = [join(rig.root, 'absent'), file, join(rig.captured), rig.home, '/'];
  await rig.start([...refused, dirname(inner)]).flush();
  expect(rig.sent).toEqual(['ok/inner']);
  for (const path of refused)
    expect(rig.told.filter((line) => line.startsWith(`additional_sync_paths: ${path} `))).toHaveLength(1);
});

test('a folder that contains PLATFORM_HOME is sent without it: it holds credentials', async () => {
  const rig = await startFilesRig();
  await writeFile(join(rig.home, 'credentials.json'), 'secret');
  await rig.put('file');
  await rig.start([dirname(rig.home)]).flush();
  expect(rig.sent).toEqual(['file']);
});

test('a file is sent only once it has been unmodified for file_last_modified_millis, even if its time is in the future', async () => {
  const rig = await startFilesRig();
  const [fresh, future] = [await rig.put('fresh'), await rig.put('future')];
  const now = Date.now() / 1_000;
  await utimes(fresh, now, now);
  await utimes(future, now + 1e8, now + 1e8);
  const sync = rig.start([rig.root]);
  await sync.flush();
  expect(rig.sent).toEqual([]);
  await expect
    .poll(
      async () => {
        await sync.flush();
        return rig.sent.toSorted();
      },
      { interval: 100 },
    )
    .toEqual(['fresh', 'future']);
});

test('a file that changes while it is sent stays, and its new content is also sent', async () => {
  const rig = await startFilesRig();
  const file = await rig.put('file', 'old');
  rig.during = async () => {
    rig.during = async () => {};
    await writeFile(file, 'new');
    await utimes(file, 2, 2);
  };
  const sync = rig.start([rig.root]);
  await sync.flush();
  expect(await left(rig.root)).toEqual(['file']);
  await sync.flush();
  expect(rig.sent).toEqual(['old', 'new']);
  expect(await left(rig.root)).toEqual([]);
});

test('additional_sync_action keep: files stay and are sent once, even after a restart, and again when they change', async () => {
  const rig = await startFilesRig();
  const file = await rig.put('file', 'old');
  const keep: AfterSync = { action: 'keep' };
  await rig.start([rig.root], keep).flush();
  // A restart, and a line torn by a power cut.
  await writeFile(join(rig.home, 'sent_files.jsonl'), '["torn', { flag: 'a' });
  const again = rig.start([rig.root], keep);
  await again.flush();
  expect(rig.sent).toEqual(['old']);
  await writeFile(file, 'new');
  await utimes(file, 3, 3);
  await again.flush();
  await again.flush();
  expect(rig.sent).toEqual(['old', 'new']);
  expect(await left(rig.root)).toEqual(['file']);
});

test('additional_sync_action move: files go to the same place below another folder, and replace none there', async () => {
  const rig = await startFilesRig();
  const to = join(rig.root, 'sent');
  await mkdir(join(to, 'deep'), { recursive: true });
  await writeFile(join(to, 'deep', 'file.txt'), 'was there');
  await rig.put('deep/file.txt', 'first');
  const sync = rig.start([rig.root], { action: 'move', to });
  await sync.flush();
  await rig.put('deep/file.txt', 'second');
  await sync.flush();
  expect(rig.sent).toEqual(['first', 'second']);
  const contents = ['file.txt', 'file.1.txt', 'file.2.txt'].map((name) => readFile(join(to, 'deep', name), 'utf8'));
  expect(await Promise.all(contents)).toEqual(['was there', 'first', 'second']);
  expect((await left(rig.root)).every((path) => path.startsWith('sent/'))).toBe(true);
});

test('additional_sync_action move: a file that was moved to a folder below a link is not sent again', async () => {
  const rig = await startFilesRig();
  await rig.put('real/file');
  const link = join(rig.root, 'link');
  await symlink('real', link);
  const sync = rig.start([link], { action: 'move', to: join(link, 'sent') });
  await sync.flush();
  await sync.flush();
  expect([rig.sent, await left(rig.root)]).toEqual([['real/file'], ['link', 'real/sent/file']]);
});

test.runIf(existsSync('/dev/shm'))(
  'additional_sync_action move to another disk: a file that grows while it is copied stays, and nothing of it is lost',
  async () => {
    const rig = await startFilesRig();
    const content = 'x'.repeat(7 * 1024 * 1024);
    const file = await rig.put('file', content);
    await using elsewhere = await memoryDirectory('moved-');
    const to = elsewhere.path;
    let appended: Promise<void> | undefined;
    rig.during = async () => {
      appended ??= (async () => {
        const copied = async (): Promise<number> => (await stat(join(to, `file.${process.pid}.tmp`))).size;
        while ((await copied().catch(() => 0)) === 0);
        await appendFile(file, 'more');
      })();
    };
    const sync = rig.start([rig.root], { action: 'move', to });
    await sync.flush();
    await appended;
    expect([(await stat(file)).size, await left(to)]).toEqual([content.length + 'more'.length, []]);
  },
);

test('D15 a refused file is set aside beside its reason and not sent again', async () => {
  const rig = await startFilesRig();
  await rig.put('bad');
  rig.during = async () => {
    throw new PlatformError('invalid_argument', 'not this one');
  };
  const sync = rig.start([rig.root]);
  await sync.flush();
  rig.during = async () => {};
  await rig.put('good');
  await sync.flush();
  expect(rig.sent).toEqual(['good']);
  expect((await left(rig.root)).toSorted()).toEqual(['failed/bad', 'failed/bad.reason']);
  expect(await readFile(join(rig.root, 'failed', 'bad.reason'), 'utf8')).toMatch(/invalid_argument: not this one\n$/);
  expect((await stat(join(rig.root, 'failed', 'bad'))).size).toBe(3);
});
