import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';
import { type Listed, Struct } from './package-types.ts';
import { Code, expectRecent, expectRecentSeconds, expectRefused, unknownId, type World } from './world.ts';

const sensor = (name: string, pin: number) =>
  ({ name, api: 'rdk:component:sensor', model: 'rdk:builtin:fake', attributes: { pin } }) as const;

export function partTests(world: () => World): void {
  const newMachine = async (name: string): Promise<{ machineId: string; partId: string }> => {
    const { owner, cloud } = world();
    const machineId = await owner.app.newRobot(cloud.locationId, name);
    return { machineId, partId: (await owner.app.getRobotParts(machineId))[0]?.id ?? '' };
  };

  test('is created, read by id and by name, renamed, made main, and deleted when it is not the main one', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    const { machineId, partId: first } = await newMachine('of parts');
    const id = await app.newRobotPart(machineId, ' left arm ');
    const { part, configJson } = await app.getRobotPart(id);
    expect(part).toMatchObject({
      id,
      name: 'left arm',
      robot: machineId,
      locationId: cloud.locationId,
      mainPart: false,
      onlineState: appApi.OnlineState.AWAITING_SETUP,
      secondsSinceOnline: 0n,
      secrets: [{ state: appApi.SharedSecret_State.ENABLED }],
    });
    expectRecent(part?.createdOn);
    expectRecent(part?.secrets[0]?.createdOn);
    expect(part?.secret).toBe(part?.secrets[0]?.secret);
    for (const name of [part?.fqdn, part?.localFqdn, part?.dnsName]) expect(name).toMatch(/^[a-z0-9.-]+$/);
    expect(JSON.parse(configJson)).toEqual(part?.robotConfig?.toJson());
    expect((await app.getRobotParts(machineId)).map((one: Listed) => one.id).toSorted()).toEqual(
      [first, id].toSorted(),
    );
    expect((await app.getRobotPartByNameAndLocation('left arm', cloud.locationId)).part).toEqual(part);
    await expectRefused(app.newRobotPart(machineId, 'left arm'), Code.alreadyExists, /left arm/);

    await app.updateRobotPart(id, 'right arm', Struct.fromJson({}));
    expect((await app.getRobotPart(id)).part?.name).toBe('right arm');
    await expectRefused(app.getRobotPartByNameAndLocation('left arm', cloud.locationId), Code.notFound, /part/);

    await app.markPartAsMain(id);
    expect(
      Object.fromEntries((await app.getRobotParts(machineId)).map((one: Listed) => [one.id, one.mainPart])),
    ).toEqual({
      [id]: true,
      [first]: false,
    });
    await expectRefused(app.deleteRobotPart(id), Code.failedPrecondition, /main/);
    await app.deleteRobotPart(first);
    await expectRefused(app.getRobotPart(first), Code.notFound, /part/);
    expect((await app.getRobotParts(machineId)).map((one: Listed) => one.id)).toEqual([id]);
  });

  test('a configuration with every kind of JSON is returned as saved, as struct and as text', async () => {
    const { app } = world().owner;
    const { partId } = await newMachine('configured');
    const config = {
      components: [sensor('s', 7)],
      services: [],
      note: { text: 'ü "quoted" <b>', numbers: [0, -1.5, 2 ** 40], yes: true, nothing: null },
    };
    const saved = await app.updateRobotPart(partId, '', Struct.fromJson(config));
    expect(saved?.robotConfig?.toJson()).toEqual(config);
    expectRecent(saved?.lastUpdated);
    const { part, configJson } = await app.getRobotPart(partId);
    expect(part?.robotConfig?.toJson()).toEqual(config);
    expect(JSON.parse(configJson)).toEqual(config);
    expect(part?.lastUpdated).toEqual(saved?.lastUpdated);
    expect(part?.name).toBe(saved?.name);
  });

  test('the text of a configuration keeps its order and layout', async () => {
    const { owner } = world();
    const { partId } = await newMachine('as text');
    const robot_config_json = '{\n  "services": [],\n  "components": []\n}\n';
    const { part } = await owner.ask('UpdateRobotPart', { id: partId, robot_config_json });
    expect(part).toMatchObject({ robot_config_json });
    expect((await owner.app.getRobotPart(partId)).configJson).toBe(robot_config_json);
  });

  test('single values of a configuration are set by their paths, and each change is in the answer', async () => {
    const { owner } = world();
    const { partId } = await newMachine('by paths');
    const property_changes = [
      { path: 'components[0]', value: { structValue: jsonFields(sensor('s', 1)) } },
      { path: '$.components[0].attributes.pin', value: { numberValue: 7 } },
      { path: 'components.name', value: { boolValue: true } },
    ];
    await owner.ask('UpdateRobotPart', { id: partId, robot_config_json: '{"components":[]}' });
    const answer = await owner.ask('SetConfigProperty', { robot_part_id: partId, property_changes });
    expect(answer['property_changes']).toMatchObject([
      { path: 'components[0]', success: true },
      { path: '$.components[0].attributes.pin', success: true, value: { numberValue: 7 } },
      { success: false, error: '$.components: expected a place in its list, from 0 to 1, found name' },
    ]);
    expect(JSON.parse((await owner.app.getRobotPart(partId)).configJson).components[0].attributes.pin).toBe(7);
    const nothing = owner.ask('SetConfigProperty', { robot_part_id: partId, property_changes: [] });
    await expectRefused(nothing, Code.invalidArgument, /property_changes/);
  });

  test('D7 a configuration that a client could not read is refused, as struct and as text', async () => {
    const { owner, part } = world();
    const { partId } = await newMachine('unreadable');
    const half = JSON.stringify({ components: [sensor('s', 1)] }).replace('rdk:builtin:fake', '\\ud800');
    for (const config of [
      { robot_config_json: '{"note": 1e999}' },
      { robot_config_json: half },
      { robot_config: { fields: { note: { numberValue: Number.NaN } } } },
    ]) {
      const save = owner.ask('UpdateRobotPart', { id: partId, ...config });
      await expectRefused(save, Code.invalidArgument, /finite number|whole characters/);
    }
    const { secret } = (await owner.app.getRobotPart(partId)).part;
    const machine = await part(partId, secret);
    const answer = await machine.call('platform.app.v1.RobotService', 'Config', { id: partId });
    expect(answer).toMatchObject({ config: { components: [] } });
  });

  test('clients that accept messages of 4 MiB can read the largest configuration that can be saved', async () => {
    const { owner } = world();
    const { partId } = await newMachine('large');
    const save = (note: unknown) =>
      owner.ask('UpdateRobotPart', { id: partId, robot_config_json: JSON.stringify({ note }) });
    await expectRefused(save(Array(400_000).fill(1)), Code.resourceExhausted, /at most 200000 fields and elements/);
    // An answer has the configuration three times.
    await expectRefused(save('x'.repeat(1_500_000)), Code.invalidArgument, /messages of public clients/);
    for (const note of ['x'.repeat(1_370_000), Array(99_000).fill(1)]) {
      await save(note);
      expect(await owner.ask('GetRobotPart', { id: partId })).toMatchObject({ part: { id: partId } });
    }
    await owner.ask('UpdateRobotPart', { id: partId, robot_config_json: '{}' });
    expect((await owner.app.getRobotPartHistory(partId))[0].old.robotConfig.toJson().note).toHaveLength(99_000);
  });

  test('an edit of an outdated version is ABORTED with the changes; without a time the last one wins', async () => {
    const { owner } = world();
    const { app } = owner;
    const { partId } = await newMachine('edited twice');
    const first = await app.updateRobotPart(partId, '', Struct.fromJson({ components: [sensor('s', 1)] }));
    const known = first?.lastUpdated;
    const last_known_update = { seconds: Number(known?.seconds), nanos: known?.nanos };
    await app.updateRobotPart(partId, '', Struct.fromJson({ components: [sensor('s', 2)] }));
    const robot_config_json = JSON.stringify({ components: [sensor('s', 3)] });
    const stale = owner.ask('UpdateRobotPart', { id: partId, robot_config_json, last_known_update });
    await expectRefused(stale, Code.aborted, /Changed since:.*pin/s);
    expect((await app.getRobotPart(partId)).configJson).toContain('"pin":2');
    await app.updateRobotPart(partId, '', Struct.fromJson({ components: [sensor('s', 4)] }));
    expect((await app.getRobotPart(partId)).configJson).toContain('"pin":4');
  });

  test('errors in a configuration are INVALID_ARGUMENT with their paths, and nothing is saved', async () => {
    const { app } = world().owner;
    const { partId } = await newMachine('wrong');
    const wrong = { components: [{ ...sensor('s', 1), depends_on: ['nobody'] }] };
    await expectRefused(app.updateRobotPart(partId, '', Struct.fromJson(wrong)), Code.invalidArgument, /depends_on/);
    expect(JSON.parse((await app.getRobotPart(partId)).configJson)).toEqual({});
  });

  test('the history states who saved when and what the save replaced, newest first, in pages and between times', async () => {
    const { owner, ada, cloud } = world();
    const { machineId, partId } = await newMachine('with history');
    await owner.app.updateRobotPart(partId, '', Struct.fromJson({ components: [sensor('s', 1)] }));
    await ada.app.updateRobotPart(partId, '', Struct.fromJson({ components: [sensor('s', 2)] }));
    const history = await owner.app.getRobotPartHistory(partId);
    expect(history).toMatchObject([
      { part: partId, robot: machineId, editedBy: { type: appApi.AuthenticationType.WEB_OAUTH, value: ada.email } },
      { part: partId, robot: machineId, editedBy: { type: appApi.AuthenticationType.API_KEY, value: cloud.keyId } },
    ]);
    expect(history.map((entry: Listed) => entry.old?.robotConfig?.toJson())).toEqual([
      { components: [sensor('s', 1)] },
      {},
    ]);
    expectRecent(history[0]?.when);
    expect(history[0]?.old).toMatchObject({ id: partId, secret: '', secrets: [] });

    const first = await owner.ask('GetRobotPartHistory', { id: partId, page_limit: 1 });
    expect(first['history']).toHaveLength(1);
    const page_token = first['next_page_token'];
    expect(page_token).not.toBe('');
    const second = await owner.ask('GetRobotPartHistory', { id: partId, page_limit: 1, page_token });
    expect(second).toMatchObject({
      next_page_token: '',
      history: [{ edited_by: { type: 'AUTHENTICATION_TYPE_API_KEY' } }],
    });
    const end = Reflect.get(Object((first['history'] as object[])[0]), 'when');
    expectRecentSeconds(end);
    const earlier = await owner.ask('GetRobotPartHistory', { id: partId, end });
    expect(earlier['history']).toHaveLength(1);
    const later = await owner.ask('GetRobotPartHistory', { id: partId, start: end });
    expect(later['history']).toHaveLength(1);
    const token = owner.ask('GetRobotPartHistory', { id: partId, page_token: '<script>' });
    await expectRefused(token, Code.invalidArgument, /page token/);
  });

  test('a requested restart reaches the part once', async () => {
    const { owner, part } = world();
    const { partId } = await newMachine('restarts');
    const secret = (await owner.app.getRobotPart(partId)).part?.secret ?? '';
    const machine = await part(partId, secret);
    const needsRestart = async (): Promise<unknown> =>
      (await machine.call('platform.app.v1.RobotService', 'NeedsRestart', { id: partId }))['must_restart'];
    expect(await needsRestart()).toBe(false);
    await owner.app.markPartForRestart(partId);
    expect(await needsRestart()).toBe(true);
    expect(await needsRestart()).toBe(false);
  });

  test('a second secret works beside the first, until it is deleted; the last one stays', async () => {
    const { owner, part } = world();
    const { app } = owner;
    const { partId } = await newMachine('secrets');
    const before = (await app.getRobotPart(partId)).part;
    const created = await app.createRobotPartSecret(partId);
    expect(created).toMatchObject({
      id: partId,
      secret: before?.secret,
      secrets: [{ id: before?.secrets[0]?.id }, {}],
    });
    const [first, second] = created?.secrets ?? [];
    await part(partId, second?.secret ?? '');
    await app.deleteRobotPartSecret(partId, first?.id ?? '');
    expect((await app.getRobotPart(partId)).part).toMatchObject({
      secret: second?.secret,
      secrets: [{ id: second?.id }],
    });
    await expectRefused(part(partId, first?.secret ?? ''), Code.permissionDenied, /./);
    await expectRefused(app.deleteRobotPartSecret(partId, second?.id ?? ''), Code.failedPrecondition, /last one/);
    await expectRefused(app.deleteRobotPartSecret(partId, unknownId), Code.notFound, /secret/);
  });

  test('two parts with the same name in a location are distinguished by id', async () => {
    const { owner, cloud } = world();
    for (const name of ['twin a', 'twin b']) {
      const { machineId } = await newMachine(name);
      await owner.app.newRobotPart(machineId, 'twin');
    }
    const twin = owner.app.getRobotPartByNameAndLocation('twin', cloud.locationId);
    await expectRefused(twin, Code.failedPrecondition, /found 2/);
  });

  test('unknown ids and ids of another kind are NOT_FOUND in every operation', async () => {
    const { owner, cloud } = world();
    const { app } = owner;
    for (const id of [unknownId, cloud.machineId, '']) {
      for (const call of [
        () => app.getRobotPart(id),
        () => app.updateRobotPart(id, 'x', Struct.fromJson({})),
        () => app.deleteRobotPart(id),
        () => app.markPartAsMain(id),
        () => app.markPartForRestart(id),
        () => app.createRobotPartSecret(id),
        () => app.deleteRobotPartSecret(id, unknownId),
        () => app.getRobotPartHistory(id),
        () => app.getRobotPartLogs(id),
        () => app.tailRobotPartLogs(id, []),
      ])
        await expectRefused(call(), Code.notFound, /part/);
    }
    await expectRefused(app.getRobotPartByNameAndLocation('x', unknownId), Code.notFound, /location/);
  });
}

/** A Struct in the form that proto-loader takes, from texts, numbers and nested objects. */
function jsonFields(object: object): object {
  const valueFor = (value: unknown): object => {
    if (typeof value === 'number') return { numberValue: value };
    return typeof value === 'string' ? { stringValue: value } : { structValue: jsonFields(value as object) };
  };
  return { fields: Object.fromEntries(Object.entries(object).map(([name, value]) => [name, valueFor(value)])) };
}
