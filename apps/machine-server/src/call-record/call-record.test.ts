import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { PlatformError, silentLog } from '@platform/base';
import { CallerPath, RelayService } from '@platform/proto/platform/relay/v1/relay';
import { connect } from '@platform/rpc/client';
import { createRpcServer } from '@platform/rpc/server';
import { FakeClock, temporaryDirectory } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { bytesOf, FakeCallCloud, startRecorder } from './testing/call-record-rig.ts';

async function rig(more: Parameters<typeof startRecorder>[2] = {}, from?: FakeClock) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory[Symbol.asyncDispose]());
  const path = join(directory.path, 'call-records', 'p');
  const cloud = new FakeCallCloud();
  const recorder = await startRecorder(path, cloud, more, from);
  onTestFinished(() => recorder[Symbol.asyncDispose]());
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await recorder.clock.advance(1_000);
  };
  const emptied = async (folder: string): Promise<void> => {
    while ((await readdir(folder)).length > 0) await recorder.clock.advance(100);
  };
  return { ...recorder, path, cloud, until, emptied };
}

test('a joystick is one record for each 10 s, with count, first and last call, and the arguments of the last', async () => {
  const { clock, call, cloud, until } = await rig();
  const startMs = clock.now();
  for (let n = 0; n < 100; n++) {
    await call({ arguments: `{"power_pct":${n}}` });
    if (n % 10 === 0) await call({ resource: 'right' });
    await clock.advance(250);
  }
  await until(() => cloud.count === 110);
  const of = (resource: string) => cloud.records.filter((each) => each.resource === resource);
  expect(of('left').map(({ count }) => Number(count))).toEqual([40, 40, 20]);
  expect(of('right').map(({ count }) => Number(count))).toEqual([4, 4, 2]);
  const [, second] = of('left');
  expect(second).toMatchObject({
    ...{ caller: 'api-key:k', callerName: '127.0.0.1', operation: 'MotorService.SetPower', dropped: 0n },
    ...{ path: CallerPath.DIRECT, lastArguments: '{"power_pct":79}' },
  });
  expect([second?.first, second?.last].map((at) => at && timestampMs(at) - startMs)).toEqual([10_000, 19_750]);
});

test('callers, paths, methods and resources have their own records', async () => {
  const { call, cloud, until } = await rig();
  const person = { caller: 'person:1', name: 'ada@example.org', path: 'webrtc' } as const;
  await call();
  await call({ caller: person });
  await call({ caller: { ...person, path: 'direct' } });
  await call({ operation: 'MotorService.Stop' });
  await call({ operation: 'RobotService.StopAll', resource: '' });
  await until(() => cloud.stored.size === 5);
  expect(cloud.records[1]).toMatchObject({ callerName: 'ada@example.org', path: CallerPath.WEBRTC });
  expect(cloud.records[4]).toMatchObject({ operation: 'RobotService.StopAll', resource: '' });
});

test('hostile names and arguments are cut and cannot move a cursor; secrets are masked', async () => {
  const { call, cloud, until } = await rig({ redact: (text) => text.replaceAll('hunter2', '***') });
  const name = `\u001b[2J\n\t\u202e${'x'.repeat(1_000_000)}`;
  await call({ resource: name, caller: { caller: name, name, path: 'direct' } });
  await call({
    resource: name,
    caller: { caller: name, name, path: 'direct' },
    arguments: `"hunter2${'ü'.repeat(9_999)}"`,
  });
  await call({ resource: '\ud800' });
  await until(() => cloud.count === 3);
  const [first] = cloud.records;
  expect(first?.count).toBe(2n);
  for (const text of [first?.resource, first?.caller, first?.callerName]) {
    expect(text).toMatch(/^\\u001b\[2J {2}\\u202ex+$/);
    expect(text?.length).toBe(255);
  }
  expect(first?.lastArguments).toMatch(/^"\*\*\*ü+$/);
  expect(Buffer.byteLength(first?.lastArguments ?? '')).toBeLessThanOrEqual(1_024);
});

test('records wait on the disk, private to this account, until the cloud can be reached, and are sent at most 100 at a time', async () => {
  const { clock, call, cloud, path, record, emptied, until } = await rig();
  cloud.refuse('unavailable');
  for (let n = 0; n < 250; n++) await call({ resource: `motor ${n}` });
  await clock.advance(120_000);
  expect(cloud.stored.size).toBe(0);
  const [segment = ''] = await readdir(path);
  expect((await stat(path)).mode & 0o777).toBe(0o700);
  expect((await stat(join(path, segment))).mode & 0o777).toBe(0o600);
  cloud.refuse(undefined);
  cloud.batches.length = 0;
  record.retry();
  await until(() => cloud.stored.size === 250);
  expect(cloud.batches).toEqual([100, 100, 50]);
  await emptied(path);
});

test('an answer that is lost doubles nothing', async () => {
  const { call, cloud, until } = await rig();
  let calls = 0;
  cloud.after = () => {
    if (calls++ < 3) throw new PlatformError('unavailable', 'the answer is lost');
  };
  await call();
  await until(() => calls === 4);
  expect([cloud.count, cloud.stored.size, cloud.repeated]).toEqual([1, 1, 3]);
});

test('a stop closes the records and sends them; what the cloud does not take is sent after the next start', async () => {
  const { call, record, cloud, path, emptied } = await rig();
  await call();
  await record[Symbol.asyncDispose]();
  expect(cloud.count).toBe(1);
  expect(await readdir(path)).toEqual([]);

  cloud.refuse('unavailable');
  const away = await startRecorder(path, cloud);
  await away.call();
  await away.call({ arguments: '{"power_pct":2}' });
  await away[Symbol.asyncDispose]();
  cloud.refuse(undefined);
  await using back = await startRecorder(path, cloud);
  while (cloud.count < 3) await back.clock.advance(1_000);
  expect(cloud.records[1]).toMatchObject({ count: 2n, lastArguments: '{"power_pct":2}' });
  await emptied(path);
});

test.each(['invalid_argument', 'permission_denied'] as const)(
  'a record that the cloud answers with %s is given up, logged and counted; all others get through',
  async (code) => {
    const { call, cloud, lines, path, emptied, until } = await rig();
    cloud.before = (calls) => {
      if (calls.some(({ resource }) => resource === 'motor 7')) throw new PlatformError(code, 'not this one');
    };
    for (let n = 0; n < 20; n++) await call({ resource: `motor ${n}` });
    await until(() => cloud.stored.size === 19);
    await emptied(path);
    expect(lines).toEqual(['error the cloud does not accept the record of a direct call; it is given up']);
    await call();
    await until(() => cloud.stored.size === 20);
    expect(cloud.records.at(-1)?.dropped).toBe(1n);
  },
);

test.each(['permission_denied', 'unauthenticated', 'not_found'] as const)(
  'if the cloud answers everything with %s, the records wait, the log says so once, and they are sent later',
  async (code) => {
    const { clock, call, cloud, lines, until } = await rig();
    cloud.refuse(code);
    for (let n = 0; n < 5; n++) await call({ resource: `motor ${n}` });
    await until(() => lines.length === 1);
    for (let minute = 0; minute < 10; minute++) await clock.advance(60_000);
    expect(lines).toEqual([
      'warn the cloud does not accept the records of direct calls of this machine; they wait on the disk: no',
    ]);
    cloud.refuse(undefined);
    await until(() => cloud.stored.size === 5);
    expect(cloud.dropped).toBe(0);
  },
);

test('beyond the bound the oldest records are dropped, and the next ones say how many; the disk never has more', async () => {
  const limits = { maxBytes: 20_000, segmentBytes: 4_000 };
  const { clock, call, cloud, path, record, until } = await rig({ limits });
  cloud.refuse('unavailable');
  let most = 0;
  for (let n = 0; n < 300; n++) {
    await call({ resource: `motor ${n}` });
    most = Math.max(most, bytesOf(path));
  }
  // The record for which space is made is written before what it replaces is removed.
  expect(most).toBeLessThanOrEqual(limits.maxBytes + limits.segmentBytes);
  await clock.advance(11_000);
  cloud.refuse(undefined);
  record.retry();
  await until(() => cloud.records.at(-1)?.resource === 'motor 299');
  expect(cloud.stored.size).toBeGreaterThan(20);
  expect(cloud.stored.size + cloud.dropped).toBe(300);
});

test.each(['open', 'write', 'sync', 'remove'] as const)(
  'a disk on which one %s fails stops no call; the records are written again, and none is lost or doubled',
  async (operation) => {
    const { call, cloud, disk, lines, path, emptied, until } = await rig();
    let faults = 1;
    disk.before = (each) => {
      if (each === operation && faults-- > 0) throw Object.assign(new Error(`EIO: ${each}`), { code: 'EIO' });
    };
    await call();
    await call({ resource: 'right' });
    await call();
    await until(() => cloud.count === 3 && lines.length === 2);
    expect(lines).toEqual([
      `error direct calls cannot be recorded on the disk, a restart loses the records that the cloud does not have: EIO: ${operation}`,
      'info direct calls are recorded on the disk again',
    ]);
    expect([cloud.stored.size, cloud.repeated, cloud.dropped]).toEqual([2, 0, 0]);
    await emptied(path);
  },
);

test('a disk that stays broken stops no call: what waits for it is bounded, and what was dropped is said', async () => {
  const { clock, call, cloud, disk, lines, until } = await rig({ limits: { maxWaitingBytes: 5_000 } });
  cloud.refuse('unavailable');
  disk.before = () => {
    throw Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' });
  };
  for (let n = 0; n < 100; n++) await call({ resource: `motor ${n}` });
  for (let n = 0; n < 100; n++) await call({ resource: `motor ${n}` });
  await clock.advance(11_000);
  disk.before = () => {};
  cloud.refuse(undefined);
  await until(() => cloud.stored.size > 5 && lines.some((line) => line.endsWith('on the disk again')));
  await call({ resource: 'last' });
  await until(() => cloud.records.some(({ resource }) => resource === 'last'));
  expect(cloud.stored.size + cloud.dropped).toBe(101);
  expect(lines.filter((line) => line.includes('no space left on device')).length).toBe(1);
  expect(lines.filter((line) => line.includes('were dropped')).length).toBe(1);
});

test('a disk that does not answer delays one call by 100 ms, and no further ones', async () => {
  const { clock, call, cloud, disk, until } = await rig({}, new FakeClock());
  const answers = Promise.withResolvers<void>();
  disk.before = () => answers.promise;
  let isDone = false;
  const first = call().then(() => {
    isDone = true;
  });
  await clock.advance(99);
  expect(isDone).toBe(false);
  await clock.advance(1);
  await first;
  for (let n = 0; n < 10; n++) await call({ operation: 'MotorService.Stop' });
  answers.resolve();
  await until(() => cloud.count === 11);
});

test('a stop does not wait for a disk that does not answer: the records are sent from memory', async () => {
  const { clock, call, cloud, disk, record } = await rig({}, new FakeClock());
  const answers = Promise.withResolvers<void>();
  disk.before = () => answers.promise;
  let isStopped = false;
  void call();
  await clock.advance(100);
  void record[Symbol.asyncDispose]().then(() => {
    isStopped = true;
  });
  while (!isStopped) await clock.advance(100);
  expect(cloud.count).toBe(1);
  answers.resolve();
});

test('a cloud that does not know the call is asked again after 10 min', async () => {
  const { clock, call, cloud, lines, until } = await rig();
  // As an earlier cloud answers over the wire.
  await using earlier = createRpcServer({
    ...{ services: [], open: [], authenticate: async () => '', log: silentLog },
    fallback: (_request, response) => void response.end(),
  });
  const { port } = await earlier.listen({ host: '127.0.0.1', port: 0 });
  await using link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  const answer: unknown = await link
    .client(RelayService)
    .reportCalls({})
    .catch((caught: unknown) => caught);
  cloud.before = () => {
    throw answer;
  };
  await call();
  await until(() => cloud.batches.length === 1);
  for (let minute = 0; minute < 9; minute++) {
    await call();
    await clock.advance(60_000);
  }
  expect(cloud.batches.length).toBe(1);
  cloud.refuse(undefined);
  await until(() => cloud.count === 10);
  expect(lines).toEqual(['info this cloud does not take records of direct calls; they wait on the disk']);
});
