import { create, type MessageInitShape } from '@bufbuild/protobuf';
import { silentLog, systemClock } from '@platform/base';
import { MarkPartForRestartRequestSchema, UpdateRobotPartRequestSchema } from '@platform/proto/platform/app/v1/app';
import { NeedsRestartRequestSchema } from '@platform/proto/platform/app/v1/robot';
import type { Call } from '@platform/rpc/server';
import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import { openFirstAccount } from '../accounts/testing/open-first-account.ts';
import { createMachines, type Machines } from './feature.ts';

interface Given {
  readonly machines: Machines;
  readonly partId: string;
  readonly partSecret: string;
  readonly organizationId: string;
  readonly savedTriggers: (readonly unknown[])[];
  laterMs(ms: number): void;
  /** A call of an owner of the organization. */
  readonly call: Call<Principal>;
}

async function given(): Promise<Given> {
  const { db, instanceKey, tree, organizationId, locationId } = await openFirstAccount();
  let shiftMs = 0;
  const clock = { ...systemClock, now: () => Date.now() + shiftMs };
  const savedTriggers: (readonly unknown[])[] = [];
  const machines = await createMachines({
    db,
    tree,
    instanceKey,
    clock,
    log: silentLog,
    triggerProblems: (triggers) =>
      triggers.includes('broken') ? [{ path: 'triggers[0]', severity: 'error', message: 'expected an object' }] : [],
    onSaving: async (_trx, _partId, triggers) => void savedTriggers.push(triggers),
    onTransitions: async () => ({ record: async () => {}, committed: () => {} }),
  });
  const { partId, partSecret } = await machines.registry.register(locationId, 'press', 1);
  return {
    machines,
    partId,
    partSecret,
    organizationId,
    savedTriggers,
    call: callOf({
      kind: 'key',
      keyId: 'k',
      grants: [{ role: 'owner', organizationId, locationId: null, robotId: null }],
    }),
    laterMs: (ms) => {
      shiftMs += ms;
    },
  };
}

function callOf(principal: Principal): Call<Principal> {
  return {
    method: '',
    metadata: new Headers(),
    peerAddress: '',
    vocabulary: 'core',
    signal: new AbortController().signal,
    deadline: undefined,
    principal,
    responseHeaders: new Headers(),
    responseTrailers: new Headers(),
  };
}

const update = async (
  machines: Machines,
  init: MessageInitShape<typeof UpdateRobotPartRequestSchema>,
  call: Call<Principal>,
): Promise<unknown> => machines.appHandlers.updateRobotPart?.(create(UpdateRobotPartRequestSchema, init), call);

const save = (machines: Machines, partId: string, document: unknown, editedMs?: number) =>
  machines.configurations.save({
    partId,
    document: typeof document === 'string' ? document : JSON.stringify(document),
    author: 'test',
    ...(editedMs === undefined ? {} : { editedMs }),
  });

test('every save is a version, newest first in the history, and the bytes stay as they were saved', async () => {
  const { machines, partId } = await given();
  const text = '{ "components": [] }';
  await save(machines, partId, text);
  await save(machines, partId, { components: [], debug: true });
  const history = await machines.configurations.history(partId);
  expect(history.map((one) => one.version)).toEqual([2, 1]);
  expect(history[1]?.document).toBe(text);
});

test('a save that names the version it edited is refused when a newer one exists; without a name the last write wins', async () => {
  const { machines, partId } = await given();
  const first = await save(machines, partId, {});
  await save(machines, partId, { debug: true });
  await expect(save(machines, partId, { debug: false }, first.createdMs)).rejects.toMatchObject({ code: 'aborted' });
  await expect(save(machines, partId, { debug: false })).resolves.toMatchObject({ version: 3 });
});

test('a malformed configuration is refused with the paths of all its errors, and the running one stays', async () => {
  const { machines, partId } = await given();
  await save(machines, partId, { debug: true });
  const broken = {
    components: [
      { name: 5, api: 'core:component:sensor', model: 'core:builtin:fake' },
      { name: 'a', api: 'core:component:sensor', model: 'core:builtin:fake', depends_on: ['nobody'] },
    ],
  };
  const refusal = await save(machines, partId, broken).catch((caught: Error) => caught);
  expect(refusal).toMatchObject({ code: 'invalid_argument' });
  expect((refusal as Error).message).toMatch(/components\[0\]\.name/);
  expect((refusal as Error).message).toMatch(/components\[1\]\.depends_on/);
  await expect(save(machines, partId, { triggers: ['broken'] })).rejects.toThrow(/triggers\[0\]: expected an object/);
  await expect(save(machines, partId, '{ "components": ')).rejects.toThrow(/expected JSON/);
  expect((await machines.configurations.current(partId)).version).toBe(1);
});

test('a configuration with unknown keys is saved, and the machine log says which keys do nothing', async () => {
  const { machines, partId } = await given();
  await save(machines, partId, { componentz: [] });
  const [line] = await machines.logs.read(partId, { levels: ['warn'], filter: '', limit: 1 });
  expect(line?.entry.message).toMatch(/version 1 was saved with warnings: .*componentz/);
});

test('a document nested deeper than any real one is refused before anything walks it', async () => {
  const { machines, partId } = await given();
  const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
  await expect(save(machines, partId, deep)).rejects.toThrow(/expected at most 100 levels of nesting/);
});

test('a part is renamed to a trimmed name; an empty, long or controlling one is refused', async () => {
  const { machines, partId } = await given();
  await machines.registry.renamePart(partId, '  left arm ');
  expect(machines.registry.part(partId)?.name).toBe('left arm');
  for (const name of [' ', 'x'.repeat(201), 'a\u0007b']) {
    await expect(machines.registry.renamePart(partId, name)).rejects.toMatchObject({ code: 'invalid_argument' });
  }
});

test('the triggers of a saved configuration are handed on inside its transaction', async () => {
  const { machines, partId, savedTriggers } = await given();
  await save(machines, partId, {
    triggers: [{ name: 't', event: { type: 'part_online' }, notifications: [{ type: 'email', value: 'a@b.c' }] }],
  });
  expect(savedTriggers).toHaveLength(1);
  expect(await machines.triggersOf(partId)).toMatchObject({ triggers: [{ name: 't' }] });
});

test('D32 the configuration document starts a server: the whole configuration with a cloud block of this address', async () => {
  const { machines, partId, partSecret } = await given();
  await save(machines, partId, { debug: true });
  expect(await machines.partConfig(partId, 'http://127.0.0.1:8080', undefined)).toEqual({
    debug: true,
    cloud: { id: partId, secret: partSecret, app_address: 'http://127.0.0.1:8080' },
  });
  expect(await machines.partConfig(partId, 'http://h', { keyId: 'i', key: 'k' })).toMatchObject({
    cloud: { api_key: { id: 'i', key: 'k' } },
  });
});

test('D6 a part signs in with its secret and no other', async () => {
  const { machines, partId, partSecret } = await given();
  expect(await machines.partSecrets.check(partId, partSecret)).toBe(1);
  expect(await machines.partSecrets.check(partId, `${partSecret}x`)).toBeUndefined();
});

test('a part may act for itself and for no other part; foreign and unknown parts get the same answer', async () => {
  const { machines, partId, organizationId } = await given();
  const itself: Principal = { kind: 'part', partId };
  const foreign: Principal = {
    kind: 'key',
    keyId: 'k',
    grants: [{ role: 'owner', organizationId: 'other', locationId: null, robotId: null }],
  };
  const owner: Principal = {
    kind: 'key',
    keyId: 'k',
    grants: [{ role: 'owner', organizationId, locationId: null, robotId: null }],
  };
  expect(() => machines.authorizePart(itself, partId)).not.toThrow();
  expect(() => machines.authorizePart(owner, partId)).not.toThrow();
  expect(() => machines.authorizePart({ kind: 'part', partId: 'x' }, partId)).toThrow(
    /part: expected the id of one that you may see/,
  );
  expect(() => machines.authorizePart(foreign, partId)).toThrow(/part: expected the id of one that you may see/);
  expect(() => machines.authorizePart(owner, 'x')).toThrow(/part: expected the id of one that you may see/);
});

test('a refused edit changes nothing: neither the name nor the configuration', async () => {
  const { machines, partId, call } = await given();
  await expect(
    update(machines, { id: partId, name: 'arm', robotConfigJson: '{"components":5}' }, call),
  ).rejects.toThrow(/nothing was saved/);
  expect(machines.registry.part(partId)?.name).toBe('press-main');
  await expect(update(machines, { id: partId, name: ' ', robotConfigJson: '{}' }, call)).rejects.toThrow(/name:/);
  expect((await machines.configurations.current(partId)).version).toBe(0);
  await update(machines, { id: partId, name: ' arm ', robotConfigJson: '{}' }, call);
  expect(machines.registry.part(partId)?.name).toBe('arm');
});

test('an edit of a version of no real time is refused as overtaken', async () => {
  const { machines, partId } = await given();
  await save(machines, partId, {});
  await expect(save(machines, partId, {}, 9e15)).rejects.toMatchObject({ code: 'aborted' });
});

test('a restart is told once, also to two that ask at the same time', async () => {
  const { machines, partId, call } = await given();
  const handler = machines.robotBinding.methods.find(({ path }) => path.endsWith('/NeedsRestart'));
  if (handler?.kind !== 'unary') throw new Error('expected NeedsRestart to be bound');
  const ask = async (): Promise<unknown> => handler.handler(create(NeedsRestartRequestSchema, { id: partId }), call);
  await machines.appHandlers.markPartForRestart?.(create(MarkPartForRestartRequestSchema, { partId }), call);
  const answers = await Promise.all([ask(), ask()]);
  expect(answers.filter((one) => (one as { mustRestart: boolean }).mustRestart)).toHaveLength(1);
});
