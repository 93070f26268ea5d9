import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { expect, test } from 'vitest';
import { app, fleet, openMachines } from '../testing/open-machines.ts';
import { withoutFragments } from '../testing/without-fragments.ts';
import { asEffective, type EffectiveConfigurations } from './effective-configuration.ts';
import { keptConfigurations } from './kept-bytes.ts';

const sensor = (name: string, attributes: object = {}): object => ({
  name,
  api: 'core:component:sensor',
  model: 'core:builtin:fake',
  attributes,
});

test('a stale edit is refused with a bounded summary of what changed since, by resource and path, with secrets masked', async () => {
  const { ask, owner, partId } = await openMachines();
  const save = (config: object, lastKnownUpdate?: ReturnType<typeof timestampFromMs>) =>
    ask(owner, app.updateRobotPart, {
      id: partId,
      robotConfigJson: JSON.stringify(config),
      ...(lastKnownUpdate === undefined ? {} : { lastKnownUpdate }),
    });
  const first = await save({ components: [sensor('a', { rate: 1, password: 'CANARY-1' })] });
  await save({
    components: [sensor('a', { rate: 2, password: 'CANARY-2', long: 'x'.repeat(100_000) }), sensor('b')],
  });
  const refusal = await save({ components: [] }, first.part?.lastUpdated).catch((caught: Error) => caught);
  expect(refusal).toMatchObject({ code: 'aborted' });
  const { message } = refusal as Error;
  expect(message).toMatch(/newest is version 2, saved at .* by api-key the key/);
  expect(message).toContain('~ components[0].attributes.rate (a): 1 → 2');
  expect(message).toContain('+ components[1] (b): {"name":"b"');
  expect(message).not.toContain('CANARY');
  expect(message.length).toBeLessThan(4_000);
  // The newest version may be edited; a save without a base version overwrites whatever is newest.
  const { part } = await ask(owner, app.getRobotPart, { id: partId });
  await save({ debug: true }, part?.lastUpdated);
  await save({ debug: false });
  expect((await ask(owner, fleet.listConfigurationVersions, { partId })).versions).toHaveLength(4);
});

test('a duplicate key in an object is refused with its path, in a save and in a validation', async () => {
  const { ask, owner, partId } = await openMachines();
  const document = `{"components": [${JSON.stringify(sensor('a', { wave: true })).replace('"wave":true', '"wave":true,"wave":false')}], "debug": true,\n "debug": false}`;
  const wave = 'components[0].attributes.wave: expected each key once, found it again (line 1, column ';
  const debug = 'debug: expected each key once, found it again (line 2, column 2): only the last one would count';
  const refusal = await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: document }).catch(
    (caught: Error) => caught,
  );
  expect(refusal).toMatchObject({ code: 'invalid_argument' });
  expect((refusal as Error).message).toContain(`nothing was saved\n${wave}`);
  expect((refusal as Error).message).toContain(debug);
  expect((await ask(owner, fleet.listConfigurationVersions, { partId })).versions).toEqual([]);
  const { problems, revision } = await ask(owner, fleet.validateConfiguration, { partId, document });
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([
    'error components[0].attributes.wave',
    'error debug',
  ]);
  expect(revision).toBe('');
});

test('a document with the same bytes creates no new version, even on a retry; different bytes do', async () => {
  const { ask, owner, partId } = await openMachines();
  const save = async (robotConfigJson: string, lastKnownMs?: number) => {
    const known = lastKnownMs === undefined ? {} : { lastKnownUpdate: timestampFromMs(lastKnownMs) };
    return ask(owner, app.updateRobotPart, { id: partId, robotConfigJson, ...known });
  };
  await save('{"debug":true}');
  await save('{"debug":true}', 5);
  await save('{ "debug": true }');
  // Public clients send an object without formatting, so JSON equality is sufficient.
  await ask(owner, app.updateRobotPart, { id: partId, robotConfig: { debug: true } });
  const { versions } = await ask(owner, fleet.listConfigurationVersions, { partId });
  expect(versions.map(({ version }) => version)).toEqual([2n, 1n]);
  expect((await ask(owner, fleet.getConfigurationVersion, { partId })).document).toBe('{ "debug": true }');
});

test('the history is paged by token and limited by times, newest first, with author and time of each edit and what it replaced', async () => {
  const { ask, owner, partId, laterMs } = await openMachines();
  for (let version = 1; version <= 5; version++) {
    laterMs(1_000);
    await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: JSON.stringify({ n: version }) });
  }
  const seen: unknown[] = [];
  const times: bigint[] = [];
  for (let pageToken = ''; ; ) {
    const page = await ask(owner, app.getRobotPartHistory, { id: partId, pageLimit: 2n, pageToken });
    expect(page.history.length).toBeLessThanOrEqual(2);
    seen.push(...page.history.map(({ old }) => old?.robotConfig));
    times.push(...page.history.map(({ when }) => when?.seconds ?? 0n));
    expect(page.history.every(({ editedBy, old }) => editedBy?.value === 'k' && old?.secret === '')).toBe(true);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  // The entry of a time has the configuration before it, and the first one the empty one that every part starts with.
  expect(seen).toEqual([{ n: 4 }, { n: 3 }, { n: 2 }, { n: 1 }, {}]);
  const [, second, , fourth] = times as [bigint, bigint, bigint, bigint, bigint];
  const within = await ask(owner, app.getRobotPartHistory, {
    id: partId,
    start: { seconds: fourth },
    end: { seconds: second },
  });
  expect(within.history.map(({ old }) => old?.robotConfig?.['n'])).toEqual([2, 1]);
  for (const pageToken of ['x', '-1', '1e3', '9'.repeat(30)])
    await expect(ask(owner, app.getRobotPartHistory, { id: partId, pageToken })).rejects.toMatchObject({
      code: 'invalid_argument',
    });
});

test('restoring creates a new version that names the old one; restoring over another edit is refused', async () => {
  const { ask, owner, partId, db } = await openMachines();
  for (const text of ['{"n":1}', '{"n":2}'])
    await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: text });
  const stale = ask(owner, fleet.restoreConfigurationVersion, { partId, version: 1n, currentVersion: 1n });
  await expect(stale).rejects.toThrow(/you edited version 1, but the newest is version 2/);
  const { version } = await ask(owner, fleet.restoreConfigurationVersion, { partId, version: 1n, currentVersion: 2n });
  expect(version).toMatchObject({ version: 3n, restoredFrom: 1n, author: { kind: 'api-key', name: 'the key' } });
  expect((await ask(owner, fleet.getConfigurationVersion, { partId })).document).toBe('{"n":1}');
  await expect(ask(owner, fleet.restoreConfigurationVersion, { partId, version: 99n })).rejects.toMatchObject({
    code: 'not_found',
  });
  const actions = await db.selectFrom('audit_entries').select(['action', 'detail']).orderBy('id', 'desc').execute();
  expect(actions[0]).toEqual({
    action: 'FleetService.RestoreConfigurationVersion',
    detail: '{"version":3,"restored_from":1}',
  });
});

test('validation saves nothing and returns errors and warnings with paths, and the revision of a valid document', async () => {
  const { ask, owner, partId } = await openMachines();
  const validate = (document: string) => ask(owner, fleet.validateConfiguration, { partId, document });
  const { problems, revision } = await validate(
    JSON.stringify({ components: [{ ...sensor('a'), depends_on: ['x'] }], componentz: 1, triggers: ['broken'] }),
  );
  expect(problems.map(({ severity, path }) => `${severity} ${path}`)).toEqual([
    'error components[0].depends_on[0]',
    'error triggers[0]',
    'warning componentz',
  ]);
  expect(revision).toBe('');
  expect((await validate('{')).problems[0]).toMatchObject({ severity: 'error', path: '$' });
  const sound = await validate('{"debug":true}');
  expect(sound.revision).toMatch(/^[0-9a-f]{32}$/);
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: '{ "debug": true }' });
  expect((await ask(owner, fleet.getPartStatus, { partId })).saved?.revision).toBe(sound.revision);
  expect((await ask(owner, fleet.listConfigurationVersions, { partId })).versions[0]?.revision).toBe(sound.revision);
});

test('D6 operators read configurations and their history without secrets; owners and the part read everything', async () => {
  const { ask, owner, itself, key, partId } = await openMachines();
  const config = { components: [sensor('a', { password: 'CANARY' })], auth: { handlers: [] } };
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: JSON.stringify(config) });
  await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: JSON.stringify({ ...config, debug: true }) });
  const texts = async (principal: typeof owner): Promise<string[]> =>
    [
      await ask(principal, app.getRobotPart, { id: partId }),
      await ask(principal, app.getRobotPartHistory, { id: partId }),
      await ask(principal, fleet.getConfigurationVersion, { partId }),
    ].map((answer) => JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'bigint' ? 0 : value)));
  for (const text of await texts(key('operator'))) expect(text).not.toContain('CANARY');
  for (const text of await texts(owner)) expect(text).toContain('CANARY');
  for (const text of await texts(itself)) expect(text).toContain('CANARY');
});

test('each of many simultaneous saves is a separate version, numbered without gaps', async () => {
  const { ask, owner, partId } = await openMachines();
  await Promise.all(
    Array.from({ length: 20 }, (_, n) =>
      ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: JSON.stringify({ n }) }),
    ),
  );
  const { versions } = await ask(owner, fleet.listConfigurationVersions, { partId });
  expect(versions.map(({ version }) => Number(version))).toEqual(Array.from({ length: 20 }, (_, n) => 20 - n));
  expect(new Set(versions.map(({ savedAt }) => `${savedAt?.seconds}.${savedAt?.nanos}`)).size).toBe(20);
});

test("triggers see a fragment's content; if a fragment changes during a save, the save starts over", async () => {
  let stamp = 1;
  let resolved = 0;
  const fragments: EffectiveConfigurations = {
    ...withoutFragments,
    async effective(_partId, document) {
      resolved++;
      // The fragment changes during the second save, after its first resolution.
      if (resolved === 2) stamp = 2;
      const triggers = [{ name: `of-${stamp}`, event: { type: 'part_online' }, notifications: [] }];
      return asEffective({ ...(document as object), triggers }, [], [{ id: 'f', name: 'shared' }]);
    },
    stampOf: () => String(stamp),
  };
  const { machines, partId, savedTriggers, ask, owner, organizationId } = await openMachines({ effective: fragments });
  const save = (text: string) => ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: text });
  await save('{"fragments":["f"]}');
  await save('{"fragments":["f"],"debug":true}');
  expect(savedTriggers).toMatchObject([[{ name: 'of-1' }], [{ name: 'of-2' }]]);
  expect((await machines.triggersOf(partId))?.triggers).toMatchObject([{ name: 'of-2' }]);
  stamp = 3;
  expect((await machines.triggersOf(partId))?.triggers).toMatchObject([{ name: 'of-3' }]);
  const { locationSummaries } = await ask(owner, app.listMachineSummaries, { organizationId, fragmentIds: ['f'] });
  expect(locationSummaries[0]?.machineSummaries[0]?.partSummaries[0]?.fragments).toMatchObject([{ id: 'f' }]);
});

test("old versions lose their documents, not their metadata, beyond a part's limit; a restart counts again", async () => {
  const text = (number: number): string => JSON.stringify({ network: { note: `${number} ${'é'.repeat(450)}` } });
  const given = await openMachines({ maxHistoryBytes: 10_000 });
  const { ask, owner, machines, partId, db } = given;
  const save = (number: number) => ask(owner, app.updateRobotPart, { id: partId, robotConfigJson: text(number) });
  const kept = async (): Promise<number[]> =>
    (
      await db
        .selectFrom('part_configurations')
        .select('version')
        .where('document', '!=', '')
        .orderBy('version')
        .execute()
    ).map(({ version }) => version);
  // Ten documents of just over 900 bytes fit; the eleventh reduces them to three quarters of the limit.
  for (let number = 1; number <= 10; number++) await save(number);
  expect(await kept()).toHaveLength(10);
  await save(11);
  expect(await kept()).toEqual([4, 5, 6, 7, 8, 9, 10, 11]);
  const again = (await given.restarted()).configurations;
  for (let number = 12; number <= 14; number++)
    await again.save({ partId, document: text(number), by: { kind: 'platform', name: 'test' } });
  expect(await kept()).toEqual([7, 8, 9, 10, 11, 12, 13, 14]);

  // Billing counts the documents that are kept.
  const documents = await machines.configurations.history(partId);
  const quantity = documents.reduce((sum, { document }) => sum + Buffer.byteLength(document), 0);
  expect(quantity).toBeGreaterThan(7_000);
  expect(await keptConfigurations(db)).toEqual([{ organizationId: given.organizationId, quantity }]);

  const { versions } = await ask(owner, fleet.listConfigurationVersions, { partId });
  expect(versions.map(({ version, bytes }) => [Number(version), bytes > 900])).toEqual(
    Array.from({ length: 14 }, (_, index) => [14 - index, true]),
  );
  const first = { partId, version: 1n };
  for (const method of [fleet.getConfigurationVersion, fleet.restoreConfigurationVersion])
    await expect(ask(owner, method, first)).rejects.toMatchObject({ code: 'failed_precondition' });
  const { history } = await ask(owner, app.getRobotPartHistory, { id: partId });
  expect(history.map(({ old }) => old?.robotConfig !== undefined)).toEqual(
    // The first one replaced the empty configuration.
    Array.from({ length: 14 }, (_, index) => index < 7 || index === 13),
  );
  const stale = { id: partId, robotConfigJson: '{}', lastKnownUpdate: versions.at(-1)?.savedAt };
  await expect(ask(owner, app.updateRobotPart, stale)).rejects.toMatchObject({ code: 'aborted' });
  expect((await machines.configurations.version(partId, 11)).document).toBe(text(11));
});

test('the newest document is always kept, however large it is', async () => {
  const { ask, owner, partId } = await openMachines({ maxHistoryBytes: 1 });
  for (const robotConfigJson of ['{"debug":true}', '{"debug":false}'])
    await ask(owner, app.updateRobotPart, { id: partId, robotConfigJson });
  expect((await ask(owner, fleet.getConfigurationVersion, { partId })).document).toBe('{"debug":false}');
});
