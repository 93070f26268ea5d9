import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { recordSyscalls, type Syscall, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { dataVersion } from './data-directory.ts';
import { openInstanceKey } from './instance/instance-key.ts';

/** Opens a directory in a process of its own, which is refused, after what is tested here, for a wrong key. */
const opens = `
  const { openStores } = await import(${JSON.stringify(new URL('open-stores.ts', import.meta.url).href)});
  const { silentLog, systemClock } = await import('@platform/base');
  const [dataDirectory] = process.argv.slice(1);
  const settings = { dataDirectory, databaseUrl: 'postgres://localhost', instanceKey: 'wrong', keepBeforeUpgrade: false };
  const onFatal = (caught) => { throw caught; };
  await openStores(settings, { clock: systemClock, log: silentLog, onFatal }).catch(() => {});
  process.exit();
`;

test('I14 a start writes platform.json, postgres.json and instance.key once more, syncs them and their names, and leaves content and mode', async () => {
  await using directory = await temporaryDirectory();
  await using trace = await temporaryDirectory();
  const path = directory.file('data');
  mkdirSync(path, { mode: 0o700 });
  const at = (name: string): string => join(path, name);
  writeFileSync(at('platform.json'), `{"format":"platform-data","version":${dataVersion},"stage":"complete"}\n`, {
    mode: 0o640,
  });
  writeFileSync(at('postgres.json'), '{"installation":"i"}\n', { mode: 0o600 });
  openInstanceKey(at('instance.key'), undefined);
  const names = ['platform.json', 'postgres.json', 'instance.key'];
  const found = () => names.map((name) => [readFileSync(at(name), 'utf8'), statSync(at(name)).mode]);
  const before = found();
  const calls = await recordSyscalls({
    command: process.execPath,
    args: ['--conditions=@platform/source', '--input-type=module', '-e', opens, path],
    ...{ directory: path, traceFile: trace.file('trace') },
  });
  for (const name of names) expect(stepsOf(calls, at(name), path), name).toEqual(['write', 'sync', 'rename', 'sync']);
  expect(found()).toEqual(before);
});

const steps: readonly string[] = ['write', 'sync', 'rename'];

/** What was done with the draft that became the file, and with the folder after that. */
function stepsOf(calls: readonly Syscall[], file: string, folder: string): readonly string[] {
  const renamed = calls.findIndex((call) => call.kind === 'rename' && call.to === file);
  const draft = calls[renamed]?.path;
  const ofDraft = calls.slice(0, renamed + 1).filter(({ kind, path }) => path === draft && steps.includes(kind));
  const after = calls.slice(renamed).filter((call) => call.kind === 'sync' && call.path === folder);
  return [...ofDraft, ...after.slice(0, 1)].map(({ kind }) => kind);
}
