import { expect, test } from 'vitest';
import type { Principal } from '../access/principal.ts';
import type { Machines } from './feature.ts';
import { app, openMachines as given, robot } from './testing/open-machines.ts';

const save = (machines: Machines, partId: string, document: unknown, editedMs?: number) =>
  machines.configurations.save({
    partId,
    document: typeof document === 'string' ? document : JSON.stringify(document),
    by: { kind: 'platform', name: 'test' },
    ...(editedMs === undefined ? {} : { edited: { createdMs: editedMs } }),
  });

test('every save is a version, newest first in the history, and its bytes are kept unchanged', async () => {
  const { machines, partId } = await given();
  const text = '{ "components": [] }';
  await save(machines, partId, text);
  await save(machines, partId, { components: [], debug: true });
  const history = await machines.configurations.history(partId);
  expect(history.map((one) => one.version)).toEqual([2, 1]);
  expect(history[1]?.document).toBe(text);
});

test('a save based on a version that is no longer the newest is refused; without a base version the last write wins', async () => {
  const { machines, partId } = await given();
  const first = await save(machines, partId, {});
  await save(machines, partId, { debug: true });
  await expect(save(machines, partId, { debug: false }, first.createdMs)).rejects.toMatchObject({ code: 'aborted' });
  await expect(save(machines, partId, { debug: false })).resolves.toMatchObject({ version: 3 });
});

test('a malformed configuration is refused with the paths of all its errors, and the current one stays', async () => {
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

test('a configuration with unknown keys is saved, and the machine log names the keys that have no effect', async () => {
  const { machines, partId } = await given();
  await save(machines, partId, { componentz: [] });
  const { entries } = await machines.logs.read({ partId, matches: () => true, limit: 1 });
  expect(entries[0]?.message).toMatch(/version 1 was saved with warnings: .*componentz/);
});

test('an excessively nested document is refused before it is traversed', async () => {
  const { machines, partId } = await given();
  const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
  await expect(save(machines, partId, deep(500))).rejects.toThrow(/at most 30 levels deep/);
  // Not even parsed.
  await expect(save(machines, partId, deep(100_000))).rejects.toThrow(
    /nested at most 600 levels deep, found more in "a"/,
  );
});

test("a part's name is trimmed; an empty name, a long one and one with control characters are refused", async () => {
  const { ask, owner, registry, partId } = await given();
  await ask(owner, app.updateRobotPart, { id: partId, name: '  left arm ' });
  expect(registry.part(partId)?.name).toBe('left arm');
  for (const name of [' ', 'x'.repeat(10_000), 'a\u0007b']) {
    await expect(ask(owner, app.updateRobotPart, { id: partId, name })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
  }
  await ask(owner, app.updateRobotPart, { id: partId, name: '<b>&"' });
  expect((await ask(owner, app.getRobotPart, { id: partId })).part?.name).toBe('<b>&"');
});

test('the triggers of a saved configuration are passed on within its transaction', async () => {
  const { machines, partId, savedTriggers } = await given();
  await save(machines, partId, {
    triggers: [{ name: 't', event: { type: 'part_online' }, notifications: [{ type: 'email', value: 'a@b.c' }] }],
  });
  expect(savedTriggers).toHaveLength(1);
  expect(await machines.triggersOf(partId)).toMatchObject({ triggers: [{ name: 't' }] });
});

test('D32 the configuration document starts a server: it is the whole configuration, with a cloud block for this address', async () => {
  const { machines, partId, partSecret } = await given();
  await save(machines, partId, { debug: true });
  expect(await machines.partConfig(partId, 'http://127.0.0.1:8080', undefined, false)).toEqual({
    debug: true,
    cloud: { id: partId, secret: partSecret, app_address: 'http://127.0.0.1:8080' },
  });
  expect(await machines.partConfig(partId, 'http://h', { keyId: 'i', key: 'k' }, false)).toMatchObject({
    cloud: { api_key: { id: 'i', key: 'k' } },
  });
});

test('D6 a part signs in with its secret and no other', async () => {
  const { machines, partId, partSecret } = await given();
  expect(await machines.partSecrets.check(partId, partSecret)).toBe(1);
  expect(await machines.partSecrets.check(partId, `${partSecret}x`)).toBeUndefined();
});

test('a part may act only for itself; foreign and unknown parts get the same answer', async () => {
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

test('a refused edit changes neither the name nor the configuration', async () => {
  const { ask, owner, machines, registry, partId } = await given();
  const update = (name: string, robotConfigJson: string) =>
    ask(owner, app.updateRobotPart, { id: partId, name, robotConfigJson });
  await expect(update('arm', '{"components":5}')).rejects.toThrow(/nothing was saved/);
  expect(registry.part(partId)?.name).toBe('press-main');
  await expect(update(' ', '{}')).rejects.toThrow(/name:/);
  expect((await machines.configurations.current(partId)).version).toBe(0);
  await update(' arm ', '{}');
  expect(registry.part(partId)?.name).toBe('arm');
});

test('an edit that names a version with an invalid time is refused as a conflict', async () => {
  const { machines, partId } = await given();
  await save(machines, partId, {});
  await expect(save(machines, partId, { debug: true }, 9e15)).rejects.toMatchObject({ code: 'aborted' });
});

test('a restart request is reported once, even to two simultaneous calls, and again after the next request', async () => {
  const { ask, owner, itself, partId } = await given();
  for (let round = 0; round < 2; round++) {
    await ask(owner, app.markPartForRestart, { partId });
    const answers = await Promise.all([1, 2, 3].map(() => ask(itself, robot.needsRestart, { id: partId })));
    expect(answers.filter((one) => one.mustRestart)).toHaveLength(1);
  }
});

test("only the part and its machine's keys receive a restart request; other callers get false and do not consume it", async () => {
  const { ask, owner, itself, key, locationId, machineId, partId } = await given();
  const asks = async (principal: Principal): Promise<boolean> =>
    (await ask(principal, robot.needsRestart, { id: partId })).mustRestart;
  const ofMachine = key('operator', { robotId: machineId });
  for (const told of [itself, ofMachine]) {
    await ask(owner, app.markPartForRestart, { partId });
    for (const looking of [owner, key('operator'), key('owner', { locationId })])
      expect(await asks(looking)).toBe(false);
    expect(await asks(told)).toBe(true);
    expect(await asks(told)).toBe(false);
  }
});

test('name and configuration of one edit are saved in one transaction: if the name is taken, nothing is saved', async () => {
  const { ask, owner, machines, registry, machineId } = await given();
  const ids = await Promise.all(
    ['a', 'b'].map(async (partName) => (await ask(owner, app.newRobotPart, { robotId: machineId, partName })).partId),
  );
  const edits = await Promise.allSettled(
    ids.map((id) => ask(owner, app.updateRobotPart, { id, name: 'arm', robotConfigJson: '{"debug":true}' })),
  );
  expect(edits.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  for (const [at, id] of ids.entries()) {
    const saved = edits[at]?.status === 'fulfilled';
    expect((await machines.configurations.current(id)).version).toBe(saved ? 1 : 0);
    expect(registry.part(id)?.name === 'arm').toBe(saved);
  }
});

test('a save of the newest document still applies the new name sent with it', async () => {
  const { ask, owner, registry, partId } = await given();
  for (const name of ['arm', 'leg']) await ask(owner, app.updateRobotPart, { id: partId, name, robotConfigJson: '{}' });
  expect(registry.part(partId)?.name).toBe('leg');
});
