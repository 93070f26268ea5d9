import { expect, test } from 'vitest';
import { startPeople } from '../testing/start-people.ts';
import { signInWithOpenId } from './sign-in-with-open-id.ts';

test('D30 a verified address with a lookalike character is not treated as the address that it resembles', async () => {
  const people = await startPeople();
  const personId = await people.personWith('kate@example.com', 'correct horse battery');
  const who = { issuer: 'https://provider.example', subject: 'mallory', name: 'Mallory' };
  await expect(
    signInWithOpenId(people.identity.deps, { ...who, verifiedEmail: '\u212aate@example.com' }, '127.0.0.1:5'),
  ).rejects.toMatchObject({ code: 'permission_denied' });
  const linked = await people.db.selectFrom('person_identities').select('person_id').execute();
  expect(linked).toEqual([]);
  await signInWithOpenId(
    people.identity.deps,
    { ...who, subject: 'kate', verifiedEmail: 'Kate@example.com' },
    '127.0.0.1:5',
  );
  const [own] = await people.db.selectFrom('person_identities').select('person_id').execute();
  expect(own?.person_id).toBe(personId);
});
