import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { root } from '../repository.ts';
import { buildBundle } from './build-bundles.ts';
import { type Built, buildChanged, type Earlier, writeInputs } from './build-changed.ts';
import { buildOnce, clockTickMs } from './build-once.ts';
import { currentBundles, keptIn } from './find-bundles.js';
import { noticesOf } from './notices.ts';
import { program } from './program.ts';
import { ofMachineServer, programs } from './programs.ts';

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'platform-bundles-'));
});
afterEach(() => rmSync(dir, { recursive: true }));

const sourceFlags = ['--conditions=@platform/source', '--disable-warning=ExperimentalWarning'];

/** A file of the checkout in `dir`. @returns its path relative to it */
function file(path: string, text: string): string {
  mkdirSync(dirname(join(dir, path)), { recursive: true });
  writeFileSync(join(dir, path), text);
  return path;
}

/** As if the file had been changed long before a build. */
const settled = (path: string): Promise<void> =>
  expect
    .poll(() => performance.timeOrigin + performance.now() > statSync(join(dir, path)).ctimeMs + clockTickMs)
    .toBe(true) as Promise<void>;

/** A build that copies its only source. */
const copying =
  (counted: string[] = []) =>
  async (folder: string): Promise<string[]> => {
    counted.push(folder);
    writeFileSync(join(folder, 'a.js'), readFileSync(join(dir, 'a.ts')));
    return ['a.ts'];
  };

test('a build is used until a source changes, even if its size and its time of modification stay', async () => {
  file('a.ts', '1');
  await settled('a.ts');
  const built: string[] = [];
  const first = await buildOnce(dir, copying(built));
  expect(await buildOnce(dir, copying(built))).toBe(first);
  expect(built).toHaveLength(1);
  const { atime, mtime } = statSync(join(dir, 'a.ts'));
  file('a.ts', '2');
  utimesSync(join(dir, 'a.ts'), atime, mtime);
  expect(currentBundles(dir)).toBeUndefined();
  await settled('a.ts');
  const second = await buildOnce(dir, copying(built));
  expect(built).toHaveLength(2);
  expect(readFileSync(join(keptIn(dir), second, 'a.js'), 'utf8')).toBe('2');
});

test('a source that is removed, or that changes during the build, makes it build again', async () => {
  file('a.ts', '1');
  await settled('a.ts');
  const built: string[] = [];
  const build = copying(built);
  await buildOnce(dir, async (folder) => {
    const inputs = await build(folder);
    if (built.length === 1) file('a.ts', '2');
    await settled('a.ts');
    return inputs;
  });
  expect(built).toHaveLength(2);
  expect(readFileSync(join(String(currentBundles(dir)), 'a.js'), 'utf8')).toBe('2');
  rmSync(join(dir, 'a.ts'));
  expect(currentBundles(dir)).toBeUndefined();
});

test('a build that fails or is killed leaves nothing that is used; the next one removes what it wrote', async () => {
  file('a.ts', '1');
  await settled('a.ts');
  const failing = buildOnce(dir, async (folder) => {
    writeFileSync(join(folder, 'a.js'), 'half');
    throw new Error('a.ts:1: no');
  });
  await expect(failing).rejects.toThrow('a.ts:1: no');
  expect(currentBundles(dir)).toBeUndefined();
  // As a killed process leaves it: a draft, and a description that is not whole.
  mkdirSync(join(keptIn(dir), 'draft-of-a-killed-one'));
  writeFileSync(join(keptIn(dir), 'current.json'), '{"folder":"draft-of-a-killed-one","inputs":[["a.t');
  expect(currentBundles(dir)).toBeUndefined();
  const folder = await buildOnce(dir, copying());
  expect(readdirSync(keptIn(dir)).sort()).toEqual(['current.json', 'lock.sqlite', folder].sort());
});

test('a build that lost a file, or a part of one, is not used: it is made again', async () => {
  file('a.ts', 'a program');
  await settled('a.ts');
  for (const damage of [(path: string) => rmSync(path), (path: string) => truncateSync(path, 1)]) {
    const folder = await buildOnce(dir, copying());
    expect(currentBundles(dir)).toBe(join(keptIn(dir), folder));
    damage(join(keptIn(dir), folder, 'a.js'));
    expect(currentBundles(dir)).toBeUndefined();
  }
  const again = await buildOnce(dir, copying());
  expect(readFileSync(join(keptIn(dir), again, 'a.js'), 'utf8')).toBe('a program');
});

test('a lock that cannot be read is named, with what to do', async () => {
  file('a.ts', '1');
  const lock = join(dir, file('node_modules/.cache/bundles/lock.sqlite', 'no database, but long enough to look at'));
  await expect(buildOnce(dir, copying())).rejects.toThrow(
    `${lock}: expected the lock of builds, which this process could take: Error: file is not a database; remove it`,
  );
});

test('two starts at once build once; a build from which a process runs stays', async () => {
  file('a.ts', '1');
  await settled('a.ts');
  const script = `
    import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
    import { setTimeout as sleep } from 'node:timers/promises';
    import { buildOnce } from ${JSON.stringify(new URL('./build-once.ts', import.meta.url).href)};
    const dir = ${JSON.stringify(dir)};
    console.log('up');
    for await (const _ of process.stdin) break;
    await buildOnce(dir, async (folder) => {
      appendFileSync(dir + '/built', 'x');
      writeFileSync(folder + '/a.js', '1');
      // Until the other one waits for the lock, or builds too.
      await sleep(200);
      return ['a.ts'];
    });`;
  const start = () => spawn(process.execPath, [...sourceFlags, '--input-type=module', '--eval', script]);
  const both = [start(), start()];
  await Promise.all(both.map((child) => once(child.stdout, 'data')));
  const ended = both.map((child) => once(child, 'exit'));
  for (const child of both) child.stdin.end('go');
  expect(await Promise.all(ended)).toEqual([
    [0, null],
    [0, null],
  ]);
  expect(readFileSync(join(dir, 'built'), 'utf8')).toBe('x');
  const first = String(currentBundles(dir));
  writeFileSync(join(first, `used-by-${process.pid}`), '');
  file('a.ts', '2');
  await settled('a.ts');
  await buildOnce(dir, copying());
  expect(currentBundles(dir)).not.toBe(first);
  expect(existsSync(first)).toBe(true);
  rmSync(join(first, `used-by-${process.pid}`));
  file('a.ts', '3');
  await settled('a.ts');
  await buildOnce(dir, copying());
  expect(existsSync(first)).toBe(false);
});

test('a build makes only the bundles whose sources have changed; all of them if what decides how they are made has', async () => {
  for (const path of ['a.ts', 'b.ts', 'shared.ts', 'lock.json']) file(path, path);
  const made: string[] = [];
  const build = async (folder: string, earlier: Earlier | undefined): Promise<string[]> => {
    const bundle = async (name: string): Promise<Built> => {
      made.push(name);
      const inputs = [`${name}.ts`, 'shared.ts'];
      const text = inputs.map((path) => readFileSync(join(dir, path), 'utf8')).join();
      for (const suffix of ['js', 'js.map']) writeFileSync(join(folder, `${name}.${suffix}`), text);
      return { inputs, packages: [] };
    };
    const inputs = await buildChanged({
      names: ['a', 'b'],
      common: ['lock.json'],
      folder,
      earlier,
      build: bundle,
    });
    writeInputs(folder, inputs);
    return ['a.ts', 'b.ts', 'shared.ts', 'lock.json'];
  };
  const after = async (change: string | (() => void)): Promise<{ made: string[]; texts: string[] }> => {
    if (typeof change === 'string') {
      file(change, `${change} 2`);
      await settled(change);
    } else change();
    made.length = 0;
    const folder = join(keptIn(dir), await buildOnce(dir, build));
    return { made: [...made], texts: ['a', 'b'].map((name) => readFileSync(join(folder, `${name}.js`), 'utf8')) };
  };
  await after('lock.json');
  expect(await after('a.ts')).toEqual({ made: ['a'], texts: ['a.ts 2,shared.ts', 'b.ts,shared.ts'] });
  expect(await after('b.ts')).toEqual({ made: ['b'], texts: ['a.ts 2,shared.ts', 'b.ts 2,shared.ts'] });
  expect(await after('shared.ts')).toMatchObject({ made: ['a', 'b'] });
  expect(await after('lock.json')).toMatchObject({ made: ['a', 'b'] });
  // A bundle that is not whole is no bundle to take.
  expect(await after(() => truncateSync(join(String(currentBundles(dir)), 'b.js'), 1))).toEqual({
    made: ['a', 'b'],
    texts: ['a.ts 2,shared.ts 2', 'b.ts 2,shared.ts 2'],
  });
});

/** Bundles a program of `dir`. */
const bundled = (source: string): Promise<unknown> =>
  buildBundle({ name: 'program', source: join(dir, source), folder: join(dir, 'out'), root: dir });

test('a bundle that cannot be made says where', async () => {
  file('main.ts', "import './part.ts';\n");
  file('part.ts', 'const one = 1;\nconst two = ;\n');
  await expect(bundled('main.ts')).rejects.toThrow(/part\.ts:2:13/);
  file('part.ts', "import { none } from './nowhere.ts';\nconsole.log(none);\n");
  await expect(bundled('main.ts')).rejects.toThrow(/nowhere\.ts[\s\S]*part\.ts/);
});

test('stack traces of a bundle point at its sources: thrown while it loads, later, and uncaught', async () => {
  file(
    'deep/part.ts',
    '// A comment moves the lines.\n\nexport function fail(what: string): never {\n  throw new Error(what);\n}\n',
  );
  file(
    'main.ts',
    "import { fail } from './deep/part.ts';\ntry {\n  fail('caught');\n} catch (caught) {\n  console.log((caught as Error).stack);\n}\nsetTimeout(() => fail('uncaught'));\n",
  );
  await bundled('main.ts');
  const { stdout, stderr, status } = spawnSync(process.execPath, [join(dir, 'out', 'program.js')], {
    encoding: 'utf8',
  });
  expect(stdout).toMatch(/^Error: caught\n {4}at fail \(deep\/part\.ts:4:\d+\)\n {4}at main\.ts:3:3/);
  expect(stderr).toMatch(/Error: uncaught\n {4}at fail \(deep\/part\.ts:4:\d+\)\n {4}at .*main\.ts:7:\d+/);
  expect(status).toBe(1);
  // A map that is lost costs only the places.
  rmSync(join(dir, 'out', 'program.js.map'));
  const without = spawnSync(process.execPath, [join(dir, 'out', 'program.js')], { encoding: 'utf8' });
  expect(without.stdout).toMatch(/^Error: caught\n {4}at fail \(file:.*program\.js:\d+:\d+\)/);
});

test('a bundle is in ASCII, so that V8 keeps it in one byte a character, and does what its sources say', async () => {
  file(
    'main.ts',
    "const größe = '…\\n😀';\nconsole.log('→ ' + größe, /^[←-↓]$/u.test('→'), /\\u{1F600}/u.test('😀'), '\\u00b0'); // …\n",
  );
  await bundled('main.ts');
  const path = join(dir, 'out', 'program.js');
  expect(readFileSync(path, 'utf8')).toMatch(/^[\0-\x7f]+$/);
  const { stdout } = spawnSync(process.execPath, [path], { encoding: 'utf8' });
  expect(stdout).toBe('→ …\n😀 true true °\n');
  file('main.ts', 'console.log(/\\…/.source);\n');
  await expect(bundled('main.ts')).rejects.toThrow('\\… cannot be written as a Unicode escape');
});

test('every program and every thread of the product is a bundle beside the others', async () => {
  const folder = dirname(program('cloud'));
  for (const name of Object.keys(programs)) expect(existsSync(join(folder, `${name}.js`)), name).toBe(true);
  // Whatever code starts beside itself is there under its name.
  const started = Object.keys(programs).flatMap((name) =>
    [
      ...readFileSync(join(folder, `${name}.js`), 'utf8').matchAll(
        /siblingEntry(?:\$\d+)?\(import\.meta\.url, "([^"]+)"\)/g,
      ),
    ].map(([, path = '']) => path.slice(path.lastIndexOf('/') + 1)),
  );
  expect([...new Set(started)].sort()).toEqual(
    Object.keys(programs)
      .filter((name) => ['tabular', 'webrtc-engine'].includes(name) || name.endsWith('-thread'))
      .sort(),
  );
  const machine = readFileSync(join(folder, 'machine-server.js'), 'utf8');
  const threads = Object.keys(programs).filter((name) => machine.includes(`/${name}")`));
  expect(ofMachineServer.toSorted()).toEqual(['machine-server', ...threads].sort());
});

test('a manifest of ours, whose exports say which file is meant, makes the bundles be built again; licences are beside them', () => {
  const { inputs, files } = JSON.parse(readFileSync(join(keptIn(root), 'current.json'), 'utf8')) as {
    inputs: [string, string][];
    files: [string, number][];
  };
  expect(inputs.map(([name]) => name)).toEqual(
    expect.arrayContaining(['apps/cloud/package.json', 'packages/base/package.json', 'package-lock.json']),
  );
  expect(files.map(([name]) => name)).toEqual(expect.arrayContaining(['cloud.js', 'cloud.js.map', 'licences.txt']));
  const machine = JSON.parse(readFileSync(join(dirname(program('cloud')), 'machine-server.json'), 'utf8')) as {
    files: string[];
  };
  expect(machine.files).toContain('licences.txt');
});

test('D34 DuckDB is loaded with the first statement, after its settings are in the environment, not with the bundle', () => {
  const folder = dirname(program('tabular'));
  for (const name of Object.keys(programs)) {
    const text = readFileSync(join(folder, `${name}.js`), 'utf8');
    expect(text, name).not.toMatch(/^import .*"@duckdb/m);
    expect(text.includes('__require("@duckdb/node-api")'), name).toBe(['tabular', 'admin-main'].includes(name));
  }
});

test('licence notices name each package that is in a bundle, and refuse one whose licence is not permissive', () => {
  const notices = noticesOf([
    'apps/cloud/src/main.ts',
    'node_modules/kysely/dist/index.js',
    'node_modules/@bufbuild/protobuf/dist/esm/wire/base64-encoding.js',
  ]);
  expect(notices).toMatch(/^kysely \d/m);
  expect(notices).toMatch(/^@bufbuild\/protobuf \d[\s\S]*Apache-2\.0/m);
  expect(() => noticesOf(['node_modules/typescript-not-there/index.js'])).toThrow('expected a package around it');
  const folder = mkdtempSync(join(root, 'node_modules', '.cache', 'licence-'));
  try {
    writeFileSync(join(folder, 'package.json'), '{"name":"odd","version":"1.0.0","license":"MIT AND GPL-3.0-only"}');
    expect(() => noticesOf([`node_modules/.cache/${folder.split('/').pop()}/index.js`])).toThrow(
      'expected a permissive licence',
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
});
