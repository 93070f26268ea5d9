import { spawnSync } from 'node:child_process';
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeModule } from '@platform/sdk/module';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { buildFolder } from './build-folder.ts';
import { moduleFiles } from './template.ts';

const model = 'acme:my-sensor:load';

interface Folder {
  readonly path: string;
  write(file: string, text: string): Promise<void>;
  /** Replaces a text of a file. */
  edit(file: string, text: string | RegExp, by: string): Promise<void>;
  build(): ReturnType<typeof buildFolder>;
}

/** The folder of a new module. */
async function create(): Promise<Folder> {
  const directory = await temporaryDirectory('module-');
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const { path } = directory;
  const write = (file: string, text: string): Promise<void> => writeFile(join(path, file), text);
  for (const [file, text] of Object.entries(moduleFiles({ name: 'my-sensor', namespace: 'acme' })))
    await write(file, text);
  return {
    path,
    write,
    async edit(file, text, by) {
      const old = await readFile(join(path, file), 'utf8');
      expect(old).toMatch(text);
      await write(file, old.replace(text, by));
    },
    build: () => buildFolder(path, join(path, 'dist'), process.execPath),
  };
}

test('a new module is built into a program that runs elsewhere and provides the models in its meta.json', async () => {
  const folder = await create();
  expect(await folder.build()).toMatchObject({
    ...{ name: 'my-sensor', moduleId: 'acme:my-sensor', models: [{ api: 'core:component:sensor', model }] },
  });
  const elsewhere = await temporaryDirectory('elsewhere-');
  onTestFinished(() => elsewhere[Symbol.asyncDispose]());
  for (const file of ['module.mjs', 'run.sh'])
    await writeFile(elsewhere.file(file), await readFile(join(folder.path, 'dist', file)), { mode: 0o755 });
  expect(await describeModule(elsewhere.file('run.sh'))).toEqual([{ api: 'core:component:sensor', model }]);
});

test('an old Node is reported, with the variable to set', async () => {
  const folder = await create();
  await folder.build();
  await folder.write('old-node', '#!/bin/sh\necho v20.1.0\n');
  await chmod(join(folder.path, 'old-node'), 0o755);
  const ran = spawnSync(join(folder.path, 'dist', 'run.sh'), ['/tmp/module.sock'], {
    ...{ encoding: 'utf8', env: { PATH: process.env['PATH'], PLATFORM_NODE: join(folder.path, 'old-node') } },
  });
  expect([ran.status, ran.stdout]).toEqual([1, '']);
  expect(ran.stderr).toMatch(
    /^expected Node 24 or newer as .*old-node, found: v20\.1\.0; set PLATFORM_NODE to its path in the env of the module$/m,
  );
});

test('the imports of the program are bundled, and files listed in package.json are copied', async () => {
  const folder = await create();
  await mkdir(join(folder.path, 'node_modules', 'names'), { recursive: true });
  await folder.write('node_modules/names/package.json', '{"name":"names","type":"module","exports":"./index.js"}');
  await folder.write('node_modules/names/index.js', `export const model = 'acme:my-sensor:other';`);
  await folder.edit('my-sensor.ts', `'${model}'`, 'model');
  await folder.edit('my-sensor.ts', `import {`, `import { model } from 'names';\nimport {`);
  await folder.edit('meta.json', model, 'acme:my-sensor:other');
  await folder.write('table.csv', '1,2\n');
  await folder.edit('package.json', '"files": []', '"files": ["table.csv"]');
  expect((await folder.build()).models).toEqual([{ api: 'core:component:sensor', model: 'acme:my-sensor:other' }]);
  expect(await readFile(join(folder.path, 'dist', 'table.csv'), 'utf8')).toBe('1,2\n');
});

test.each([
  [
    'meta.json',
    '"acme:my-sensor"',
    '"my-sensor"',
    /meta\.json: module_id: expected <namespace>:<name>, .* found "my-s/,
  ],
  ['meta.json', '"run.sh"', '"main"', /meta\.json: entrypoint: expected "run\.sh", .* found "main"/],
  ['meta.json', /^\{/, '', /meta\.json: expected JSON, found a mistake/],
  ['meta.json', ':load', ':other', /models: expected .*acme:my-sensor:load .*found acme:my-sensor:other/],
  ['package.json', '"my-sensor.ts"', '"x.ts"', /package\.json: main: expected the file of the program, found "x\.ts"/],
  [
    'package.json',
    '"files": []',
    '"files": ["../x"]',
    /files: expected a list of relative paths .* found \["\.\.\/x"\]/,
  ],
  ['package.json', '"files": []', '"files": ["none"]', /files: expected a file or folder .* found none: ENOENT/],
  ['my-sensor.ts', 'const load =', 'const load = =', /^Unexpected token\s.*\[ my-sensor\.ts:5:14 \]/s],
  ['my-sensor.ts', "'node:os'", "'no-such-package'", /install them with npm: Could not resolve 'no-such-package'/],
  [
    'my-sensor.ts',
    model,
    'load',
    /exit code 1; it printed: PlatformError: model: expected <namespace>:<family>:<name>.*"load"$/,
  ],
  ['my-sensor.ts', 'await serveModule', 'process.exit(3);\nawait serveModule', /but it ended with exit code 3$/],
] as const)('%s with %s replaced by %s is refused in words', async (file, text, by, message) => {
  const folder = await create();
  await folder.edit(file, text, by);
  await expect(folder.build()).rejects.toThrow(message);
});
