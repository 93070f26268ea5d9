import { expect, test } from 'vitest';
import { callOf } from '../../access/testing/call-of.ts';
import { openAccounts } from '../testing/open-accounts.ts';

test('owners set the time zone of an organization, members read it; it is audited', async () => {
  const { accounts, owner, key, db, organizationId } = await openAccounts();
  const { getOrganizationTimeZone: get, setOrganizationTimeZone: set } = accounts.fleetHandlers;
  const request = (timeZone: string) => ({ organizationId, timeZone }) as never;
  const read = async (by: typeof owner) => get?.(request(''), callOf(await by.principal()));
  const member = await key('operator');
  expect(await read(member)).toEqual({ timeZone: '' });
  expect(await set?.(request('europe/berlin'), callOf(await owner.principal()))).toEqual({ timeZone: 'Europe/Berlin' });
  expect(await read(member)).toEqual({ timeZone: 'Europe/Berlin' });
  await expect(async () => set?.(request('Mars/Olympus'), callOf(await owner.principal()))).rejects.toMatchObject({
    code: 'invalid_argument',
  });
  await expect(async () => set?.(request(''), callOf(await member.principal()))).rejects.toMatchObject({
    code: 'permission_denied',
  });
  const entries = await db.selectFrom('audit_entries').select('action').execute();
  expect(entries.map(({ action }) => action)).toEqual(['FleetService.SetOrganizationTimeZone']);
});
