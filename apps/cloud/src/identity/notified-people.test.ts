import { expect, test } from 'vitest';
import { type Fleet, on, openFleet } from '../access/testing/open-fleet.ts';
import { addressesOfOwners, zoneOfMember } from './notified-people.ts';

async function named(fleet: Fleet, email: string | null, ...grants: Parameters<Fleet['personWith']>): Promise<void> {
  const id = await fleet.personWith(...grants);
  await fleet.db.updateTable('people').set({ email }).where('id', '=', id).execute();
}

test('D19 owners of the machine, its locations and its organization are notified, once each, and no one else', async () => {
  const fleet = await openFleet();
  await named(fleet, 'machine@x', on.machine('owner', 'press'));
  await named(fleet, 'hall@x', on.location('owner', 'hall'));
  await named(fleet, 'plant@x', on.location('owner', 'plant'), on.machine('owner', 'press'));
  await named(fleet, 'acme@x', on.organization('owner'));
  await named(fleet, null, on.organization('owner'));
  await named(fleet, 'operator@x', on.organization('operator'));
  await named(fleet, 'office@x', on.location('owner', 'office'));
  await named(fleet, 'mill@x', on.machine('owner', 'mill'));
  await named(fleet, 'umbrella@x', on.organization('owner', 'umbrella'));
  const press = fleet.access.lineageOf('machine', 'press');
  if (press === undefined) throw new Error('expected the machine press');
  expect(await addressesOfOwners(fleet.db, press)).toEqual(['acme@x', 'hall@x', 'machine@x', 'plant@x']);
});

test('the zone of a person applies to mails of organizations in which they have a role; others do not learn it', async () => {
  const fleet = await openFleet();
  const id = await fleet.personWith(on.machine('operator', 'press'));
  await fleet.db.updateTable('people').set({ email: 'ada@x', time_zone: 'Asia/Tokyo' }).where('id', '=', id).execute();
  expect(await zoneOfMember(fleet.db, 'acme', ' Ada@X ')).toBe('Asia/Tokyo');
  expect(await zoneOfMember(fleet.db, 'umbrella', 'ada@x')).toBe('');
  expect(await zoneOfMember(fleet.db, 'acme', 'nobody@x')).toBe('');
});
