import { silentLog, systemClock } from '@platform/base';
import { FragmentVisibility } from '@platform/proto/platform/app/v1/app';
import type { RobotConfig } from '@platform/proto/platform/app/v1/robot';
import { expect, test } from 'vitest';
import { callOf } from '../access/testing/call-of.ts';
import type { OnConfigurationChange } from '../machines/configuration/configuration-change.ts';
import { app, fleet, openMachines, robot, type TestMachines } from '../machines/testing/open-machines.ts';
import { createFragments, type Fragments } from './feature.ts';

/** Machines and fragments, composed as in the cloud. */
async function given(
  onConfigurationChange?: OnConfigurationChange,
): Promise<TestMachines & { fragments: Fragments; create(config: object, name?: string): Promise<string> }> {
  // Each uses the other only when it is called.
  const wired: { fragments?: Fragments } = {};
  const fragmentsOf = (): Fragments => wired.fragments as Fragments;
  const machines = await openMachines({
    effective: {
      effective: (...asked) => fragmentsOf().effective(...asked),
      stampOf: (partId) => fragmentsOf().stampOf(partId),
      problemsOf: (partId) => fragmentsOf().problemsOf(partId),
      saving: (...saved) => fragmentsOf().saving(...saved),
      deleting: (...deleted) => fragmentsOf().deleting(...deleted),
    },
    ...(onConfigurationChange && { onConfigurationChange }),
    firstDocument: (organizationId) => fragmentsOf().firstDocument(organizationId),
  });
  const { db, tree, access, organizationId, owner } = machines;
  const fragments = createFragments({
    maxFragmentsOf: () => 1_000,
    db,
    tree,
    access,
    clock: systemClock,
    log: silentLog,
    triggerProblems: () => [],
    targetProblems: async () => [],
    documentOf: async (partId) => JSON.parse((await machines.machines.configurations.current(partId)).document),
    onConfigurationChange: onConfigurationChange ?? machines.onConfigurationChange,
    tellPart: (partId, message) =>
      machines.machines.logs.appendOwn(partId, { level: 'warn', loggerName: 'cloud.fragments', message }),
  });
  wired.fragments = fragments;
  return {
    ...machines,
    fragments,
    async create(config, name = 'f') {
      const { createFragment } = fragments.appHandlers;
      const request = { name, config, organizationId, visibility: FragmentVisibility.PRIVATE };
      const answer = await createFragment?.(request as never, callOf(owner));
      return answer?.fragment?.id ?? '';
    },
  };
}

const sensor = (name: string) => ({ name, api: 'core:component:sensor', model: 'core:builtin:fake' });

const configOf = async ({ ask, itself, partId }: TestMachines): Promise<RobotConfig | undefined> =>
  (await ask(itself, robot.config, { id: partId })).config;

test('D10 a machine gets the resolved configuration, and a new revision at its next poll after its fragment changed', async () => {
  const cloud = await given();
  const { ask, owner, partId, fragments } = cloud;
  const id = await cloud.create({ components: [sensor('shared')] });
  await ask(owner, app.updateRobotPart, { id: partId, robotConfig: { fragments: [id], components: [sensor('own')] } });
  const first = await configOf(cloud);
  expect(first?.components.map(({ name }) => name)).toEqual(['own', 'shared']);
  expect((await configOf(cloud))?.revision).toBe(first?.revision);

  await fragments.appHandlers.updateFragment?.(
    { id, name: '', config: { components: [sensor('new')] } } as never,
    callOf(owner),
  );
  const second = await configOf(cloud);
  expect(second?.components.map(({ name }) => name)).toEqual(['own', 'new']);
  expect(second?.revision).not.toBe(first?.revision);
  const saved = await ask(owner, app.getRobotPart, { id: partId });
  expect(saved.part?.robotConfig).toEqual({ fragments: [id], components: [sensor('own')] });
});

test('D12 a fragment may capture a resource of the machine, and provide its data manager; a name that neither has is refused', async () => {
  const cloud = await given();
  const { ask, owner, partId } = cloud;
  const capturing = (name: string) => ({
    ...sensor('host'),
    service_configs: [
      {
        type: 'data_manager',
        attributes: { capture_methods: [{ name, method: 'Readings', capture_frequency_hz: 1 }] },
      },
    ],
  });
  const manager = { name: 'data_manager', api: 'core:service:data_manager' };
  const id = await cloud.create({ components: [sensor('shared')], services: [manager] });
  // Its own resource is not known before a machine uses it.
  const ofMachine = await cloud.create({ components: [capturing('core:component:sensor/own')] }, 'g');
  const save = (name: string) =>
    ask(owner, app.updateRobotPart, {
      id: partId,
      robotConfig: { fragments: [id, ofMachine], components: [sensor('own'), { ...capturing(name), name: 'mine' }] },
    }).then(
      () => 'saved',
      (caught: Error) => caught.message,
    );
  expect(await save('core:component:sensor/shared')).toBe('saved');
  expect(await save('core:component:sensor/none')).toContain(
    'components[1].service_configs[0].attributes.capture_methods[0].name: expected the full name of a component or service, found "core:component:sensor/none"',
  );
});

test('a configuration with unresolvable fragments is refused with paths in the saved document', async () => {
  const cloud = await given();
  const { ask, owner, partId } = cloud;
  const id = await cloud.create({
    components: [{ ...sensor('s'), attributes: { pin: { $variable: { name: 'pin' } } } }],
  });
  const save = (fragments: unknown[]) =>
    ask(owner, app.updateRobotPart, { id: partId, robotConfig: { fragments } as never }).then(
      () => 'saved',
      (caught: Error) => caught.message,
    );
  const said = await save([id, 'unknown']);
  expect(said).toContain('fragments[0].variables.pin: expected a value for the variable "pin", found none');
  expect(said).toContain('fragments[1]: expected the id of a fragment that may be used here, found "unknown"');
  expect(await save([{ id, variables: { pin: 4 } }])).toBe('saved');
});

test("a new machine starts with its organization's default fragments; a deleted one no longer uses any", async () => {
  const cloud = await given();
  const { ask, owner, db, tree, organizationId, locationId, fragments } = cloud;
  const id = await cloud.create({ components: [sensor('shared')] });
  const list = JSON.stringify({ fragments: [{ fragmentId: id, version: '1', prefix: 'a' }] });
  await tree.change(async (trx, changed) => {
    const set = trx.updateTable('organizations').set({ default_fragments: list }).where('id', '=', organizationId);
    changed.organization(await set.returningAll().executeTakeFirstOrThrow());
  });
  const { id: machineId } = await ask(owner, app.newRobot, { name: 'second', location: locationId });
  const { parts } = await ask(owner, app.getRobotParts, { robotId: machineId });
  expect(parts[0]?.robotConfig).toEqual({ fragments: [{ id, version: '1', prefix: 'a' }] });
  const remove = () => fragments.appHandlers.deleteFragment?.({ id } as never, callOf(owner));
  await expect(remove()).rejects.toThrow('machine "second"');
  await ask(owner, app.deleteRobot, { id: machineId });
  expect(await db.selectFrom('part_fragments').selectAll().execute()).toEqual([]);
});

test('a part with a broken fragment reports it in its status, with paths in the saved document, until it is fixed', async () => {
  const cloud = await given();
  const { ask, owner, partId, fragments } = cloud;
  const id = await cloud.create({ debug: true });
  await ask(owner, app.updateRobotPart, { id: partId, robotConfig: { fragments: [id] } });
  const problems = async () => (await ask(owner, fleet.getPartStatus, { partId })).fragmentProblems;
  const update = (config: object) =>
    fragments.appHandlers.updateFragment?.({ id, name: '', config } as never, callOf(owner));
  expect(await problems()).toEqual([]);
  await update({ network: { a: { $variable: { name: 'a' } } } });
  expect(await problems()).toMatchObject([{ severity: 'error', path: 'fragments[0].variables.a' }]);
  await update({ debug: false });
  expect(await problems()).toEqual([]);
});

test('subscribers are notified of a save, a fragment change and the deletion of a part, with the previous document', async () => {
  const told: unknown[] = [];
  const cloud = await given(async (_trx, changes) => {
    for (const { before, after, deletedBy } of changes)
      told.push([namesIn(await before()), namesIn(after), deletedBy !== undefined]);
  });
  const { ask, owner, partId, machineId, fragments } = cloud;
  const id = await cloud.create({ components: [sensor('shared')] });
  const save = (own: string) =>
    ask(owner, app.updateRobotPart, { id: partId, robotConfig: { fragments: [id], components: [sensor(own)] } });
  await save('own');
  await save('other');
  const { updateFragment } = fragments.appHandlers;
  await updateFragment?.({ id, name: 'f', config: { components: [sensor('changed')] } } as never, callOf(owner));
  await ask(owner, app.deleteRobot, { id: machineId });
  expect(told).toEqual([
    [undefined, ['own', 'shared'], false],
    [['own', 'shared'], ['other', 'shared'], false],
    [['other', 'shared'], ['other', 'changed'], false],
    [['other', 'changed'], undefined, true],
  ]);
});

function namesIn(document: unknown): string[] | undefined {
  return (document as { components?: { name: string }[] } | undefined)?.components?.map(({ name }) => name);
}
