import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';

test.each([
  ['a call that never returns', 'pipe', null, 'SIGKILL'],
  ['a call that returns', 'text', 3, null],
])('a process ends with %s on a file', async (_, name, status, signal) => {
  await using directory = await temporaryDirectory();
  execFileSync('mkfifo', [directory.file('pipe')]);
  await writeFile(directory.file('text'), '');
  const own = JSON.stringify(new URL('./end-process.ts', import.meta.url).href);
  await writeFile(
    directory.file('main.ts'),
    `import { open } from 'node:fs'; import { endProcess } from ${own};
    open(${JSON.stringify(directory.file(name))}, () => {}); setImmediate(() => void endProcess(3));`,
  );
  const args = ['--disable-warning=ExperimentalWarning', directory.file('main.ts')];
  const ended = spawnSync(process.execPath, args, { timeout: 30_000, killSignal: 'SIGTERM', encoding: 'utf8' });
  expect(ended, ended.stderr).toMatchObject({ status, signal });
});
