import { execFileSync } from 'node:child_process';
import { mkdir, readdir, readFile, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import {
  create,
  type DescMessage,
  fromBinary,
  type JsonObject,
  type MessageInitShape,
  type MessageShape,
  toBinary,
} from '@bufbuild/protobuf';
import { systemClock } from '@platform/base';
import {
  CopyFilesFromMachineRequestSchema,
  CopyFilesSourceType,
  CopyFilesToMachineRequestSchema,
  FileDataSchema,
  ShellRequestSchema,
} from '@platform/proto/platform/service/shell/v1/shell';
import { type Shell, shell as shellType } from '@platform/resources';
import { temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openKernel } from '../../../hardware/kernel.ts';
import { buildModel } from '../../../testing/build-model.ts';
import { until } from '../../../testing/start-test-server.ts';
import { inHome } from './copy-from.ts';
import { createShell } from './shell.ts';

const model = createShell(systemClock, { untrusted: false, kernel: openKernel, home: '/srv/platform' });

async function build(lines: string[] = []): Promise<Shell> {
  const resource = await buildModel(model, { shell: '/bin/sh' }, { lines });
  if (!shellType.implementedBy(resource)) throw new Error('expected a shell');
  return resource;
}

async function directory() {
  const made = await temporaryDirectory();
  onTestFinished(() => made[Symbol.asyncDispose]());
  return made;
}

/** Messages that the test sends one by one. */
function outbox<S extends DescMessage>(schema: S) {
  const queue: MessageShape<S>[] = [];
  let isEnded = false;
  let arrived = Promise.withResolvers<void>();
  const wake = (): void => {
    arrived.resolve();
    arrived = Promise.withResolvers();
  };
  async function* messages(): AsyncGenerator<MessageShape<S>, void> {
    for (;;) {
      for (let next = queue.shift(); next !== undefined; next = queue.shift()) yield next;
      if (isEnded) return;
      await arrived.promise;
    }
  }
  return {
    messages: messages(),
    send(message: MessageInitShape<S>) {
      queue.push(create(schema, message));
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
  };
}

const call = { signal: new AbortController().signal, principal: { entity: 'anna@example.com' } };

test('a shell runs typed commands on a terminal, knows its window size, and ends with exit; each call is in the log', async () => {
  const lines: string[] = [];
  const shell = await build(lines);
  const { messages, send } = outbox(ShellRequestSchema);
  send({ name: 'it', extra: { message: 'window-change', cols: 123, rows: 45 } });
  let output = '';
  const answers = shell.shell(messages, call)[Symbol.asyncIterator]();
  const read = async (text: string): Promise<void> => {
    while (!output.includes(text)) {
      const next = await answers.next();
      if (next.done === true) throw new Error(`ended without ${text}: ${output}`);
      output += next.value.dataOut ?? '';
    }
  };
  send({ dataIn: 'stty size; tty; echo $((6*7))é\n' });
  await read('45 123');
  // The public command line sends the size that its window has at the start in a list.
  send({ extra: { messages: [{ message: 'window-change', cols: 99, rows: 33 }, 'none'] }, dataIn: 'stty size\n' });
  await read('33 99');
  await read('/dev/pts/');
  await read('42é');
  send({ dataIn: 'exit 7\n' });
  let last = await answers.next();
  while (last.done !== true && last.value.eof !== true) last = await answers.next();
  expect(last.value).toEqual({ eof: true, exitCode: 7 });
  expect((await answers.next()).done).toBe(true);
  expect(lines).toEqual(['info a shell began', 'info a shell ended']);
});

test('without a terminal, a command reads the input, writes output and errors apart, and ends with its exit code', async () => {
  const shell = await build();
  const ran = async (extra: JsonObject, ...typed: string[]) => {
    const { messages, send, end } = outbox(ShellRequestSchema);
    send({ name: 'it', extra: { message: 'run', ...extra } });
    for (const dataIn of typed) send({ dataIn });
    end();
    const said = { out: '', err: '', code: -1 };
    for await (const { dataOut = '', dataErr = '', eof, exitCode } of shell.shell(messages, call)) {
      said.out += dataOut;
      said.err += dataErr;
      if (eof === true) said.code = exitCode ?? -1;
    }
    return said;
  };
  expect(await ran({ command: 'cat; echo wrong >&2; exit 3' }, 'a\n', 'b\n')).toEqual({
    ...{ out: 'a\nb\n', err: 'wrong\n', code: 3 },
  });
  expect(await ran({ command: 'kill -9 $$' })).toEqual({ out: '', err: '', code: 137 });
  expect(await ran({}, 'tty\n', 'exit 4\n')).toEqual({ out: 'not a tty\n', err: '', code: 4 });
  const { out, code } = await ran({ command: 'head -c 3000000 /dev/zero | tr "\\0" x' });
  expect([out.length, code]).toEqual([3_000_000, 0]);
});

test('when the caller disconnects, the shell and its programs end', async () => {
  const { file } = await directory();
  const shell = await build();
  const { messages, send } = outbox(ShellRequestSchema);
  const caller = new AbortController();
  const reading = (async () => {
    for await (const _ of shell.shell(messages, { signal: caller.signal }));
  })();
  const failed = expect(reading).rejects.toThrow('gone');
  send({ dataIn: `echo $$ > ${file('pid')}; sleep 1000\n` });
  const pid = async (): Promise<number> => Number(await readFile(file('pid'), 'utf8').catch(() => ''));
  await until('the shell to run', async () => (await pid()) > 0);
  const shellPid = await pid();
  caller.abort(new Error('gone'));
  await failed;
  await until('the shell to end', () => {
    try {
      return !process.kill(shellPid, 0);
    } catch {
      return true;
    }
  });
});

test('closing the service ends its shells', async () => {
  const shell = await build();
  const { messages, send } = outbox(ShellRequestSchema);
  send({ dataIn: '' });
  const answers = shell.shell(messages, call)[Symbol.asyncIterator]();
  await answers.next();
  await shell.close();
  await expect(
    (async () => {
      while ((await answers.next()).done !== true);
    })(),
  ).rejects.toThrow('the shell service was closed');
});

test('files are copied from the machine, each after the previous one is acknowledged, and to the machine', async () => {
  const { file } = await directory();
  await mkdir(file('tree/deep'), { recursive: true });
  const large = Buffer.alloc(150_000, 'x');
  await writeFile(file('tree/large'), large, { mode: 0o640 });
  await writeFile(file('tree/deep/empty'), '', { mode: 0o640 });
  const lines: string[] = [];
  const shell = await build(lines);
  const from = outbox(CopyFilesFromMachineRequestSchema);
  from.send({ request: { case: 'metadata', value: { paths: [file('tree')], allowRecursion: true, preserve: true } } });
  const to = outbox(CopyFilesToMachineRequestSchema);
  to.send({
    request: {
      case: 'metadata',
      value: { destination: file('copy'), sourceType: CopyFilesSourceType.SINGLE_DIRECTORY, preserve: true },
    },
  });
  const acks = shell.copyFilesToMachine(to.messages, call)[Symbol.asyncIterator]();
  const names: string[] = [];
  for await (const { response } of shell.copyFilesFromMachine(from.messages, call)) {
    if (response?.case === 'metadata') expect(response.value.sourceType).toBe(CopyFilesSourceType.SINGLE_DIRECTORY);
    if (response?.case !== 'fileData') continue;
    to.send({ request: { case: 'fileData', value: response.value } });
    // Public clients take a name for the beginning of another file.
    if ((response.value.name ?? '') !== '') names.push(response.value.name ?? '');
    if (response.value.eof !== true) continue;
    expect((await acks.next()).value).toEqual({ ackLastFile: true });
    from.send({ request: { case: 'ackLastFile', value: true } });
  }
  to.end();
  expect((await acks.next()).done).toBe(true);
  expect(names).toEqual(['tree', 'tree/deep', 'tree/deep/empty', 'tree/large']);
  expect(await readFile(file('copy/large'))).toEqual(large);
  expect((await stat(file('copy/large'))).mode & 0o777).toBe(0o640);
  const { mode, mtimeMs } = await stat(file('copy/deep/empty'));
  expect(mode & 0o777).toBe(0o640);
  expect(Math.abs(mtimeMs - (await stat(file('tree/deep/empty'))).mtimeMs)).toBeLessThan(1_000);
  expect(lines).toContain(`info a copy of files from this machine: ${file('tree')}`);
});

test('a copy that breaks off leaves what was there; a complete one keeps the link and the mode of the file it replaces', async () => {
  const { path, file } = await directory();
  await writeFile(file('real'), 'old', { mode: 0o640 });
  await symlink(file('real'), file('link'));
  const shell = await build();
  const copy = (eof: boolean) => {
    const { messages, send, end } = outbox(CopyFilesToMachineRequestSchema);
    const metadata = { destination: file('link'), sourceType: CopyFilesSourceType.SINGLE_FILE };
    send({ request: { case: 'metadata', value: metadata } });
    send({ request: { case: 'fileData', value: { name: 'x', data: Buffer.from('new'), eof } } });
    end();
    return shell.copyFilesToMachine(messages, call)[Symbol.asyncIterator]().next();
  };
  expect((await copy(false)).done).toBe(true);
  expect([await readFile(file('real'), 'utf8'), (await readdir(path)).toSorted()]).toEqual(['old', ['link', 'real']]);
  await copy(true);
  expect([await readFile(file('real'), 'utf8'), (await readdir(path)).toSorted()]).toEqual(['new', ['link', 'real']]);
  expect((await stat(file('real'))).mode & 0o777).toBe(0o640);
});

test('a link to a folder that contains it is left out of a copy, and the log says so', async () => {
  const { path, file } = await directory();
  await mkdir(file('tree/deep'), { recursive: true });
  await symlink(file('tree'), file('tree/deep/back'));
  const lines: string[] = [];
  const shell = await build(lines);
  const { messages, send } = outbox(CopyFilesFromMachineRequestSchema);
  send({ request: { case: 'metadata', value: { paths: [file('tree')], allowRecursion: true } } });
  const names: unknown[] = [];
  for await (const { response } of shell.copyFilesFromMachine(messages, call)) {
    if (response?.case !== 'fileData') continue;
    names.push(response.value.name);
    send({ request: { case: 'ackLastFile', value: true } });
  }
  expect(names).toEqual(['tree', 'tree/deep']);
  expect(lines.join()).toContain(`${path}/tree/deep/back is left out`);
});

test('a folder without recursion, a missing file and a name that leads out are refused', async () => {
  const { path, file } = await directory();
  const shell = await build();
  const copyFrom = async (from: string): Promise<void> => {
    const { messages, send } = outbox(CopyFilesFromMachineRequestSchema);
    send({ request: { case: 'metadata', value: { paths: [from] } } });
    for await (const _ of shell.copyFilesFromMachine(messages, call));
  };
  await expect(copyFrom(path)).rejects.toThrow('expected a file, found a folder; allow recursion');
  await expect(copyFrom(file('no'))).rejects.toThrow('it does not exist; correct the path');
  for (const name of ['../out', '..', 'a/../../out', '']) {
    const { messages, send } = outbox(CopyFilesToMachineRequestSchema);
    send({
      request: { case: 'metadata', value: { destination: path, sourceType: CopyFilesSourceType.MULTIPLE_FILES } },
    });
    send({ request: { case: 'fileData', value: { name, data: new Uint8Array(1), eof: true } } });
    const copying = shell.copyFilesToMachine(messages, call)[Symbol.asyncIterator]().next();
    await expect(copying).rejects.toThrow('expected a path inside the destination');
  }
});

test('a copy keeps the times of files with their fractions of a millisecond, also from before 1970', async () => {
  const { file } = await directory();
  const shell = await build();
  const timeOf = async (time: number | Date) => {
    await writeFile(file('a'), 'a');
    await utimes(file('a'), time, time);
    const { messages, send } = outbox(CopyFilesFromMachineRequestSchema);
    send({ request: { case: 'metadata', value: { paths: [file('a')], preserve: true } } });
    for await (const { response } of shell.copyFilesFromMachine(messages, call))
      if (response?.case === 'fileData') {
        const message = create(FileDataSchema, response.value);
        return fromBinary(FileDataSchema, toBinary(FileDataSchema, message)).modTime;
      }
    return undefined;
  };
  const { seconds, nanos = 0 } = (await timeOf(1_700_000_000.123_456)) ?? {};
  expect([seconds, Math.round(nanos / 1_000)]).toEqual([1_700_000_000n, 123_456]);
  expect(await timeOf(new Date(-250))).toMatchObject({ seconds: -1n, nanos: 750_000_000 });
});

test('pipes and devices are neither copied from the machine nor written to', async () => {
  const { path, file } = await directory();
  execFileSync('mkfifo', [file('pipe')]);
  // Lets go of the threads of an implementation that waits for the other end.
  using _released = { [Symbol.dispose]: () => void execFileSync('sh', ['-c', `: 1<>${file('pipe')}`]) };
  const shell = await build();
  for (const [name, found] of [
    [file('pipe'), 'a pipe'],
    ['/dev/zero', 'a device'],
  ] as const) {
    const { messages, send } = outbox(CopyFilesFromMachineRequestSchema);
    send({ request: { case: 'metadata', value: { paths: [name] } } });
    const copying = (async () => {
      for await (const _ of shell.copyFilesFromMachine(messages, call));
    })();
    await expect(copying).rejects.toThrow(`${name}: expected a regular file, found ${found}`);
  }
  const { messages, send } = outbox(CopyFilesToMachineRequestSchema);
  send({ request: { case: 'metadata', value: { destination: path, sourceType: CopyFilesSourceType.MULTIPLE_FILES } } });
  send({ request: { case: 'fileData', value: { name: 'pipe', data: new Uint8Array(1), eof: true } } });
  const copying = shell.copyFilesToMachine(messages, call)[Symbol.asyncIterator]().next();
  await expect(copying).rejects.toThrow('expected a regular file, found a pipe');
});

test('a machine without keys refuses it', async () => {
  const shell = await build();
  const open = { ...call, principal: { entity: '' } };
  const answers = shell.shell(outbox(ShellRequestSchema).messages, open)[Symbol.asyncIterator]();
  await expect(answers.next()).rejects.toThrow(
    'expected a caller who has signed in, found that this machine has no keys',
  );
});

test('it tells the home of the machine-server, and paths that begin with $VIAM_HOME lie there', async () => {
  const shell = await build();
  expect(await shell.doCommand({ get_viam_home: true })).toEqual({ viam_home: '/srv/platform' });
  await expect(shell.doCommand({ other: true })).rejects.toMatchObject({ code: 'unimplemented' });
  expect(inHome('$VIAM_HOME/packages-local/m.tar.gz', '/srv/platform')).toBe('/srv/platform/packages-local/m.tar.gz');
  expect(inHome('$VIAM_HOME/diagnostics.data/part-1', '/srv/platform')).toBe('/srv/platform/ftdc');
  expect(inHome('$VIAM_HOME/diagnostics.data/part-1/one.ftdc', '/srv/platform')).toMatch(/part-1\/one\.ftdc$/);
  expect(inHome('~/a', '/srv/platform')).toBe(join(homedir(), 'a'));
});

test('-untrusted-env refuses it', async () => {
  const refusing = createShell(systemClock, { untrusted: true, kernel: openKernel, home: '/' });
  await expect(buildModel(refusing, {})).rejects.toThrow('-untrusted-env does not allow the shell service');
});
