import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { PlatformError, silentLog, systemClock } from '@platform/base';
import { SensorDataSchema } from '@platform/proto/platform/app/datasync/v1/data_sync';
import { OnlineState } from '@platform/proto/platform/app/v1/app';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { LiveService, RepeatedCallSchema, type Subscription, type Update } from '@platform/proto/platform/live/v1/live';
import { connect } from '@platform/rpc/client';
import { createRpcServer } from '@platform/rpc/server';
import { expect, onTestFinished, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { openTestLog } from '../ingest/testing/open-log.ts';
import { testEntry } from '../ingest/testing/test-entry.ts';
import { openMachines } from '../machines/testing/open-machines.ts';
import { encodeUpload } from '../reading-codec/encode-upload.ts';
import { type LiveDeps, liveBinding } from './feature.ts';
import { maxSubscriptions } from './limits.ts';

type Content = Update['content'];
type Topic = Exclude<Subscription['topic'], { case: undefined }>;

/** A cloud with one machine, and a person who operates it. */
async function given() {
  const account = await openMachines();
  const { access, machines, registry, tree } = account;
  const ingest = await openTestLog();
  onTestFinished(() => ingest[Symbol.asyncDispose]());
  let now: Principal | 'ended' = account.key('operator');
  const recheck = async (): Promise<Principal> => {
    if (now === 'ended') throw new PlatformError('unauthenticated', 'the session ended');
    return now;
  };
  const { presence, statuses, logs, statusOf } = machines;
  const asked: string[] = [];
  const questions: LiveDeps['questions'] = {
    authorize: ({ partId }, principal) => void access.authorize(principal, 'part.control', partId),
    async ask({ method, request }, call) {
      asked.push(`${call.principal.kind} ${method} ${JSON.stringify(request)}`);
      if (asked.length === 1) throw new PlatformError('unavailable', 'the machine has no link');
      return { readings: { count: asked.length } };
    },
  };
  const server = createRpcServer<Principal>({
    services: [
      liveBinding({
        ...{ access, tree, registry, presence, statuses, logs, statusOf, recheck, questions },
        ...{ ingestLog: ingest.log, clock: systemClock, log: silentLog },
      }),
    ],
    authenticate: recheck,
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  onTestFinished(() => link[Symbol.asyncDispose]());
  const client = link.client(LiveService);
  let seq = 0;
  return {
    ...account,
    client,
    asked,
    become(next: Principal | 'ended') {
      now = next;
    },
    /** Like ingest: the upload is acknowledged when this resolves. */
    async acknowledge(value: number, componentName = 'oven', partId = account.partId, note = ''): Promise<void> {
      const metadata = { timeReceived: timestampFromMs(1_700_000_000_000 + value) };
      const data = { case: 'struct', value: { degrees: value, note } } as const;
      const reading = toBinary(SensorDataSchema, create(SensorDataSchema, { metadata, data }));
      const rest = { metadata: { componentName, methodName: 'Readings' } };
      seq += 1;
      await ingest.log.append(testEntry(seq, undefined, { partId, batch: encodeUpload(rest, [reading]) }));
    },
    async watch(...topics: readonly Topic[]) {
      const over = new AbortController();
      onTestFinished(() => over.abort());
      const subscriptions = topics.map((topic, id) => ({ id, topic }));
      const stream = client.watch({ subscriptions }, { signal: over.signal });
      const messages = stream[Symbol.asyncIterator]();
      const { connection = '' } = (await messages.next()).value ?? {};
      const unread: Update[] = [];
      return {
        connection,
        leave: () => over.abort(),
        /** The next update of a subscription that `fits`. @throws the error that ended the connection */
        async until(id: number, fits: (content: Content) => boolean): Promise<Content> {
          for (;;) {
            const found = unread.findIndex((one) => one.id === id && fits(one.content));
            if (found >= 0) return unread.splice(0, found + 1).at(-1)?.content as Content;
            const { value, done } = await messages.next();
            if (done === true) throw new Error('the connection ended');
            unread.push(...value.updates);
          }
        },
      };
    },
  };
}

function newest(content: Content): Record<string, unknown> {
  if (content.case !== 'readings') return {};
  return Object.fromEntries(
    content.value.readings.map(({ componentName, values, bytes }) => [componentName, values?.['degrees'] ?? bytes]),
  );
}

test('readings: first the newest of each series, then each acknowledged one; none of other parts', async () => {
  const { partId, watch, acknowledge } = await given();
  await acknowledge(1);
  await acknowledge(2);
  await acknowledge(7, 'press');
  await acknowledge(9, 'foreign', 'another part');
  const live = await watch({ case: 'readingsOf', value: partId });
  expect(newest(await live.until(0, () => true))).toEqual({ oven: 2, press: 7 });
  await acknowledge(8, 'foreign', 'another part');
  await acknowledge(3);
  expect(newest(await live.until(0, () => true))).toEqual({ oven: 3 });
});

test('D48 of a large reading only the size is sent', async () => {
  const { partId, watch, acknowledge } = await given();
  const live = await watch({ case: 'readingsOf', value: partId });
  await acknowledge(1, 'oven', partId, 'x'.repeat(70_000));
  expect(newest(await live.until(0, (content) => 'oven' in newest(content)))).toEqual({ oven: 70_040n });
});

test('logs: first the newest lines, then each one that is stored', async () => {
  const { partId, watch, machines } = await given();
  const log = (message: string) => machines.logs.append(partId, [create(LogEntrySchema, { message, level: 'info' })]);
  await log('before');
  const live = await watch({ case: 'logsOf', value: partId });
  const messagesOf = (content: Content) =>
    content.case === 'logs' ? content.value.lines.map(({ message }) => message) : [];
  expect(messagesOf(await live.until(0, () => true))).toEqual(['before']);
  await log('after');
  expect(messagesOf(await live.until(0, () => true))).toEqual(['after']);
});

test('answers: a machine is called repeatedly for its reader, even after a call that failed', async () => {
  const { partId, watch, asked, become } = await given();
  const method = 'platform.component.sensor.v1.SensorService/GetReadings';
  const value = create(RepeatedCallSchema, { partId, method, request: { name: 'oven' }, everyMs: 200 });
  const live = await watch({ case: 'answersTo', value });
  const resultOf = (content: Content) => (content.case === 'answer' ? content.value.result : undefined);
  expect(resultOf(await live.until(0, () => true))).toMatchObject({
    ...{ case: 'failed', value: { code: 14, message: 'the machine has no link' } },
  });
  // A slow reader gets only the newest answer.
  const countOf = (content: Content): number => {
    const result = resultOf(content);
    return result?.case === 'message' ? Number((result.value['readings'] as { count: number }).count) : 0;
  };
  const second = countOf(await live.until(0, (content) => countOf(content) >= 2));
  await live.until(0, (content) => countOf(content) > second);
  expect(new Set(asked)).toEqual(new Set([`key ${method} {"name":"oven"}`]));
  become('ended');
  await expect(live.until(0, () => false)).rejects.toThrow();
});

test('status and fleet: first the current state, then changes, over one connection', async () => {
  const { partId, machineId, organizationId, watch, machines, registry, locationId } = await given();
  const live = await watch({ case: 'statusOf', value: partId }, { case: 'fleetOf', value: organizationId });
  const first = await live.until(1, () => true);
  if (first.case !== 'fleet') throw new Error('expected the fleet');
  expect(first.value).toMatchObject({ whole: true, machines: [{ id: machineId, name: 'press', parts: 1 }] });
  await live.until(0, ({ value }) => value?.$typeName === 'platform.fleet.v1.GetPartStatusResponse');

  machines.presence.saw(partId);
  machines.statuses.fetched(partId, 'r1', { serverVersion: '0.4.0' });
  const isOnline = (content: Content) =>
    content.case === 'status' &&
    content.value.onlineState === OnlineState.ONLINE &&
    content.value.fetched !== undefined;
  await live.until(0, isOnline);
  // Two changes, which may arrive one after another.
  const changed = await live.until(
    1,
    ({ case: kind, value }) => kind === 'fleet' && value.machines[0]?.serverVersion === '0.4.0',
  );
  if (changed.case !== 'fleet') throw new Error('expected the fleet');
  expect(changed.value).toMatchObject({ whole: false, removed: [] });
  expect(changed.value.machines).toMatchObject([{ onlineState: OnlineState.ONLINE, serverVersion: '0.4.0' }]);

  const added = await registry.register(locationId, 'oven', 1);
  await live.until(
    1,
    ({ case: kind, value }) => kind === 'fleet' && value.machines.some(({ name }) => name === 'oven'),
  );
  registry.forgetMachine(added.machineId);
  const shrunk = await live.until(1, (content) => content.case === 'fleet' && content.value.removed.length > 0);
  expect(shrunk.value).toMatchObject({ removed: [added.machineId] });
});

test('subscriptions can be added and removed while the connection is open; another caller does not know the connection', async () => {
  const { partId, client, watch, acknowledge, become, key } = await given();
  const live = await watch({ case: 'readingsOf', value: partId });
  await live.until(0, () => true);
  const topic = { case: 'statusOf', value: partId } as const;
  expect(await client.change({ connection: live.connection, remove: [0], add: [{ id: 5, topic }] })).toMatchObject({
    known: true,
  });
  await acknowledge(4);
  expect((await live.until(5, () => true)).case).toBe('status');
  await expect(
    client.change({
      connection: live.connection,
      add: Array.from({ length: maxSubscriptions + 1 }, (_, id) => ({ id, topic })),
    }),
  ).rejects.toThrow(`at most ${maxSubscriptions} subscriptions`);
  become({ ...key('operator'), keyId: 'another' } as Principal);
  expect(await client.change({ connection: live.connection, remove: [5] })).toMatchObject({ known: false });
});

test('R2 a subscription that the caller may not see ends as if its target did not exist, and the others continue', async () => {
  const { partId, watch } = await given();
  const live = await watch({ case: 'statusOf', value: 'nothing' }, { case: 'statusOf', value: partId });
  const ended = await live.until(0, () => true);
  expect(ended).toMatchObject({ case: 'ended', value: { code: 5 } });
  await live.until(1, (content) => content.case === 'status');
});

test('R16 a subscription ends within 5 s after its role was revoked, and the connection ends with the session', async () => {
  const { partId, watch, become, key } = await given();
  const live = await watch({ case: 'readingsOf', value: partId });
  await live.until(0, () => true);
  become(key('operator', { organizationId: 'another organization' }));
  expect(await live.until(0, ({ case: kind }) => kind === 'ended')).toMatchObject({ value: { code: 5 } });
  become('ended');
  await expect(live.until(0, () => false)).rejects.toThrow('the session ended');
});
