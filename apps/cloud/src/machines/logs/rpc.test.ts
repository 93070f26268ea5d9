import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { asPlatformError, PlatformError, silentLog } from '@platform/base';
import { AppService, GetRobotPartLogsRequestSchema, LogOrder } from '@platform/proto/platform/app/v1/app';
import { LogEntrySchema } from '@platform/proto/platform/common/v1/common';
import { connect } from '@platform/rpc/client';
import { createRpcServer, serve } from '@platform/rpc/server';
import { FakeClock } from '@platform/testkit';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createAccess } from '../../access/authorize.ts';
import type { CloudCall, Principal } from '../../access/principal.ts';
import { openFirstAccount } from '../../accounts/testing/open-first-account.ts';
import { maxTailsPerPart } from './limits.ts';
import { createMachineLogs, type MachineLogs } from './logs.ts';
import { machineAllowance } from './quota.ts';
import { logHandlers } from './rpc.ts';

const operator: Principal = {
  kind: 'key',
  keyId: 'k',
  grants: [{ role: 'operator', organizationId: 'o', locationId: null, robotId: null }],
};
const foreign: Principal = { ...operator, grants: [{ ...operator.grants[0], organizationId: 'other' }] } as Principal;
const entry = (message: string, level = 'info') => create(LogEntrySchema, { message, level });

interface Given {
  readonly logs: MachineLogs;
  readonly clock: FakeClock;
  readonly handlers: ReturnType<typeof logHandlers>;
  call(principal: Principal, signal?: AbortSignal): CloudCall;
  /** Sets the result of all further rechecks. */
  becomes(principal: Principal | 'revoked'): void;
  deletePart(): void;
}

async function given(): Promise<Given> {
  const { db } = await openFirstAccount();
  const clock = new FakeClock();
  const logs = createMachineLogs({
    db,
    clock,
    log: silentLog,
    allowanceOf: () => machineAllowance,
    organizationOf: () => 'org',
    onSent: () => {},
  });
  let exists = true;
  const access = createAccess(
    {
      organization: () => ({}),
      organizations: () => [],
      organizationOfLocation: () => 'o',
      ancestors: (id) => [id],
      descendants: (id) => [id],
    },
    {
      locationOfMachine: () => 'l',
      machineOfPart: (id) => (id === 'p' && exists ? 'm' : undefined),
    },
  );
  let now: Principal | 'revoked' = operator;
  const recheck = async (): Promise<Principal> => {
    if (now === 'revoked') throw new PlatformError('unauthenticated', 'the key was revoked');
    return now;
  };
  return {
    logs,
    clock,
    handlers: logHandlers({ access, logs, clock, recheck }),
    call: (principal, signal = new AbortController().signal) => ({
      method: '',
      metadata: new Headers(),
      peerAddress: '',
      vocabulary: 'core',
      signal,
      deadline: undefined,
      principal,
      responseHeaders: new Headers(),
      responseTrailers: new Headers(),
      onAnswered: () => {},
    }),
    becomes(principal) {
      now = principal;
    },
    deletePart() {
      exists = false;
    },
  };
}

async function tailOf({ handlers, call, logs }: Given, request: object = {}) {
  const stream = handlers.tailRobotPartLogs?.(
    { $typeName: 'platform.app.v1.TailRobotPartLogsRequest', id: 'p', errorsOnly: false, ...request },
    call(operator),
  );
  const iterator = stream?.[Symbol.asyncIterator]();
  if (iterator === undefined) throw new Error('expected a stream');
  onTestFinished(async () => void iterator.return?.().catch(() => {}));
  const next = async (): Promise<string[]> =>
    ((await iterator.next()).value?.logs ?? []).map((one: { message?: string }) => one.message);
  // The generator subscribes at its first `next()`.
  const first = next();
  await Promise.resolve();
  return {
    next,
    first,
    log: (...messages: string[]) =>
      logs.append(
        'p',
        messages.map((one) => entry(one)),
      ),
  };
}

test('R2 the log of a part that the caller may not see is treated as nonexistent', async () => {
  const { handlers, call } = await given();
  const asked = async (id: string, principal: Principal): Promise<string> => {
    try {
      await handlers.getRobotPartLogs?.(create(GetRobotPartLogsRequestSchema, { id }), call(principal));
      return 'logs';
    } catch (caught) {
      const { code, message } = asPlatformError(caught);
      return `${code} ${message.replaceAll(`"${id}"`, 'ID')}`;
    }
  };
  expect(await asked('p', operator)).toBe('logs');
  expect(await asked('p', foreign)).toBe(await asked('x', operator));
  expect(await asked('p', foreign)).toMatch(/^not_found/);
});

test('a page of logs has between 1 and 1,000 lines, whatever the request says', async () => {
  const { handlers, call, logs } = await given();
  await logs.append('p', Array(1_001).fill(entry('x')));
  const lines = async (limit: bigint): Promise<number> => {
    const request = create(GetRobotPartLogsRequestSchema, { id: 'p', limit });
    const answer = await handlers.getRobotPartLogs?.(request, call(operator));
    return answer?.logs?.length ?? 0;
  };
  expect(await lines(-1n)).toBe(100);
  expect(await lines(5_000n)).toBe(1_000);
  expect(await lines(7n)).toBe(7);
});

test('range counts from the start, back from the end, or back from now, and is refused with both start and end', async () => {
  const { handlers, call, logs, clock } = await given();
  const nowMs = clock.now();
  const minutesAgo = (minutes: number) => timestampFromMs(nowMs - minutes * 60_000);
  await logs.append(
    'p',
    [90, 30, 5].map((minutes) =>
      create(LogEntrySchema, { message: `${minutes}`, level: 'info', time: minutesAgo(minutes) }),
    ),
  );
  const found = async (init: MessageInitShape<typeof GetRobotPartLogsRequestSchema>) => {
    const request = create(GetRobotPartLogsRequestSchema, { id: 'p', ...init });
    const answer = await handlers.getRobotPartLogs?.(request, call(operator));
    return (answer?.logs ?? []).map((one: { message?: string }) => one.message);
  };
  expect(await found({ range: '10m' })).toEqual(['5']);
  expect(await found({ range: '1h', order: LogOrder.ASCENDING })).toEqual(['30', '5']);
  expect(await found({ range: '1d', order: LogOrder.DESCENDING })).toEqual(['5', '30', '90']);
  expect(await found({ range: '1h', start: minutesAgo(100) })).toEqual(['90']);
  expect(await found({ range: '1h', end: minutesAgo(20) })).toEqual(['30']);
  await expect(found({ range: '1h', start: minutesAgo(9), end: minutesAgo(1) })).rejects.toThrow(/found both/);
  for (const range of ['10', '1w', '-1h', '1h30m']) await expect(found({ range })).rejects.toThrow(/"10m"/);
  await expect(found({ order: 7 as LogOrder })).rejects.toThrow(/found number 7/);
});

test('a tail sends matching lines that are stored from now on', async () => {
  const rig = await given();
  await rig.logs.append('p', [entry('before')]);
  const tail = await tailOf(rig, { filter: '/^a/' });
  await tail.log('a1', 'b', 'a2');
  expect(await tail.first).toEqual(['a1', 'a2']);
});

test('R16 a tail ends within 5 s after its key was revoked, its role removed, or the part deleted', async () => {
  const ends = [
    { change: (rig: Given) => rig.becomes('revoked'), code: 'unauthenticated' },
    { change: (rig: Given) => rig.becomes(foreign), code: 'not_found' },
    { change: (rig: Given) => rig.deletePart(), code: 'not_found' },
  ];
  for (const { change, code } of ends) {
    const rig = await given();
    const tail = await tailOf(rig);
    await tail.log('a');
    expect(await tail.first).toEqual(['a']);
    change(rig);
    const ended = tail.next().catch((caught: PlatformError) => caught.code);
    await rig.clock.advance(2_000);
    expect(await ended).toBe(code);
  }
});

test('R16 a slow reader gets no further lines once its key is revoked', async () => {
  const rig = await given();
  const tail = await tailOf(rig);
  await tail.log('a');
  expect(await tail.first).toEqual(['a']);
  await tail.log('b');
  rig.becomes('revoked');
  await rig.clock.advance(10_000);
  await expect(tail.next()).rejects.toMatchObject({ code: 'unauthenticated' });
});

test('a tail reaches a client over the network, and a client that disconnects is forgotten', async () => {
  const { handlers, logs } = await given();
  const server = createRpcServer<Principal>({
    services: [serve(AppService, handlers)],
    authenticate: async () => operator,
    open: [],
    fallback: (_request, response) => void response.end(),
    log: silentLog,
  });
  onTestFinished(() => server.close({ graceMs: 0 }));
  const { port } = await server.listen({ host: '127.0.0.1', port: 0 });
  const link = connect({ baseUrl: `http://127.0.0.1:${port}` });
  onTestFinished(() => link[Symbol.asyncDispose]());
  const leaving = new AbortController();
  const stream = link.client(AppService).tailRobotPartLogs({ id: 'p' }, { signal: leaving.signal });
  const iterator = stream[Symbol.asyncIterator]();
  const first = iterator.next();
  // Log lines until the stream has started listening.
  let logged = 0;
  let arrived = false;
  first.then(
    () => (arrived = true),
    () => (arrived = true),
  );
  while (!arrived) {
    await logs.append('p', [entry(`line ${++logged}`)]);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  expect((await first).value?.logs[0]?.message).toMatch(/^line \d+$/);
  leaving.abort();
  // Lines sent before may arrive first.
  const rest = async (): Promise<void> => {
    while ((await iterator.next()).done !== true);
  };
  await expect(rest()).rejects.toThrow();
  // The maximum number of readers of the part fits: the disconnected one is gone.
  const findRoom = (): void => {
    using readers = new DisposableStack();
    for (let reader = 0; reader < maxTailsPerPart; reader++) readers.use(logs.tail('p', () => true));
  };
  await vi.waitFor(findRoom, { timeout: 240_000 });
});
