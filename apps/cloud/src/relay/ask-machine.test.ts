/** Calls that live connections make to machines: methods that only read, with the rights of their reader. */
import { fromJson } from '@bufbuild/protobuf';
import { silentLog } from '@platform/base';
import { type GetReadingsRequest, GetReadingsResponseSchema } from '@platform/proto/platform/common/v1/common';
import { expect, test } from 'vitest';
import { auditEntries } from '../access/audit-entries.ts';
import type { Grant, Principal } from '../access/principal.ts';
import { callOf } from '../access/testing/call-of.ts';
import { on, openFleet } from '../access/testing/open-fleet.ts';
import { askMachine } from './ask-machine.ts';
import { createCallLimit } from './call-limit.ts';
import { createPassedBytes } from './count-passed.ts';
import type { PartLink } from './links.ts';
import { createActuationRecord } from './record-actuation.ts';
import { byHeader } from './testing/by-header.ts';

const question = {
  partId: 'press-main',
  method: 'platform.component.sensor.v1.SensorService/GetReadings',
  request: { name: 'oven' },
};

/** A machine whose sensors return the caller and the request. */
async function given() {
  const fleet = await openFleet();
  const { db, clock, access } = fleet;
  const getReadings = async ({ name }: GetReadingsRequest, { headers }: { readonly headers: Headers }) =>
    fromJson(GetReadingsResponseSchema, { readings: { name, access: headers.get('platform-access') } });
  const link = { link: { client: () => ({ getReadings }) }, bytes: () => 0, ended: new AbortController().signal };
  const machine = askMachine({
    links: { of: () => link as unknown as PartLink, lostMs: () => undefined, open: () => link as unknown as PartLink },
    ...{ access, clock, limit: createCallLimit(), passed: createPassedBytes(() => {}) },
    actuations: createActuationRecord({ db, clock, log: silentLog }),
    recheck: async ({ principal }) => principal,
    ...byHeader,
    presence: { of: () => ({}) as never },
    reports: () => true,
  });
  const principalWith = async (grant: Grant): Promise<Principal> =>
    fleet.principalOf((await fleet.keyWith(grant)).token);
  return { machine, principalWith, db };
}

test('R21 an operator of the machine gets the same answer as from the method itself, and others are refused', async () => {
  const { machine, principalWith, db } = await given();
  const operator = await principalWith(on.location('operator', 'plant'));
  const elsewhere = await principalWith(on.machine('owner', 'mill'));
  machine.authorize(question, operator);
  expect(await machine.ask(question, callOf(operator, {}))).toEqual({ readings: { name: 'oven', access: 'read' } });
  expect(() => machine.authorize(question, elsewhere)).toThrow(expect.objectContaining({ code: 'not_found' }));
  await expect(machine.ask(question, callOf(elsewhere, {}))).rejects.toMatchObject({ code: 'not_found' });
  expect(await auditEntries(db, { organizationId: 'acme', targetId: 'press-main', limit: 10 })).toEqual([]);
});

test.each([
  'platform.component.motor.v1.MotorService/SetPower',
  'platform.component.sensor.v1.SensorService/DoCommand',
  'platform.robot.v1.RobotService/StreamStatus',
  'platform.robot.v1.RobotService/Shutdown',
  'platform.app.v1.AppService/GetRobot',
  'GetReadings',
  '',
])('%j is not repeated: it does not only read, answers in a stream, or is none of a machine', async (method) => {
  const { machine, principalWith } = await given();
  const owner = await principalWith(on.organization('owner'));
  const refused = expect.objectContaining({ code: 'invalid_argument' });
  expect(() => machine.authorize({ ...question, method }, owner)).toThrow(refused);
  await expect(machine.ask({ ...question, method }, callOf(owner, {}))).rejects.toEqual(refused);
});
