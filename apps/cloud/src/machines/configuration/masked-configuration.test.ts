import { AppService } from '@platform/proto/platform/app/v1/app';
import { RobotService } from '@platform/proto/platform/app/v1/robot';
import { FleetService } from '@platform/proto/platform/fleet/v1/fleet';
import { expect, test } from 'vitest';
import { openMachines } from '../testing/open-machines.ts';
import { withoutFragments } from '../testing/without-fragments.ts';
import { asEffective } from './effective-configuration.ts';

const canary = 'PWCANARY';
const document = JSON.stringify({
  components: [
    {
      name: 'plc',
      api: 'core:component:sensor',
      model: 'core:builtin:fake',
      attributes: { readings: { password: canary } },
    },
  ],
});

async function configured() {
  const opened = await openMachines();
  const { ask, owner, partId: id } = opened;
  await ask(owner, AppService.method.updateRobotPart, { id, robotConfigJson: document });
  return opened;
}

test("D6 R6 a fetched configuration contains secrets for owners, the part and its machine's key; for others they are masked", async () => {
  const { ask, key, owner, itself, partId: id, machineId, machines } = await configured();
  const text = async (principal: typeof owner): Promise<string> =>
    JSON.stringify(await ask(principal, RobotService.method.config, { id }), (_name, value) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  for (const principal of [owner, itself, key('operator', { robotId: machineId })])
    expect(await text(principal)).toContain(canary);
  expect(await text(key('operator'))).not.toContain(canary);
  const file = (masked: boolean): Promise<unknown> =>
    machines.partConfig(id, 'http://here.test', { keyId: 'k', key: 'x' }, masked);
  expect(JSON.stringify(await file(true))).not.toContain(canary);
  expect(JSON.stringify(await file(false))).toContain(canary);
});

test('D10 only a fetch by the machine itself is recorded as fetched', async () => {
  const { ask, key, itself, owner, partId } = await configured();
  const status = () => ask(owner, FleetService.method.getPartStatus, { partId });
  await ask(key('operator'), RobotService.method.config, { id: partId });
  expect((await status()).fetched).toBeUndefined();
  await ask(itself, RobotService.method.config, { id: partId });
  expect((await status()).fetched?.revision).toBe((await status()).saved?.revision);
});

test('R11 a validation reveals the content of imported fragments, so it requires the right to save', async () => {
  const { ask, key, owner, partId } = await configured();
  const validate = (principal: typeof owner) =>
    ask(principal, FleetService.method.validateConfiguration, { partId, document });
  expect((await validate(owner)).problems).toEqual([]);
  await expect(validate(key('operator'))).rejects.toMatchObject({ code: 'permission_denied' });
});

test('R11 a summary names only fragments that the caller may read', async () => {
  const opened = await openMachines({
    seesFragment: async (principal) => principal.kind === 'key' && principal.grants[0]?.role === 'owner',
    effective: {
      ...withoutFragments,
      effective: async (_partId, value) => asEffective(value, [], [{ id: 'f1', name: 'kit' }]),
    },
  });
  const { ask, key, owner, organizationId, partId: id } = opened;
  await ask(owner, AppService.method.updateRobotPart, { id, robotConfigJson: '{"fragments":["f1"]}' });
  const names = async (principal: typeof owner): Promise<string[]> => {
    const { locationSummaries } = await ask(principal, AppService.method.listMachineSummaries, { organizationId });
    return locationSummaries
      .flatMap((location) => location.machineSummaries)
      .flatMap((machine) => machine.partSummaries)
      .flatMap((part) => part.fragments.map(({ name }) => name));
  };
  expect(await names(owner)).toEqual(['kit']);
  expect(await names(key('operator'))).toEqual([]);
});
