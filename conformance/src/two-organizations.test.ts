/** A second organization in the installation: every user's status page still works, and shows only their own organizations. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { roleOn } from './app-api/people.ts';
import { openWorld, type Person, type World } from './app-api/world.ts';
import { openCommandLine } from './cli/command-line.ts';

interface Status {
  readonly organization: string;
  readonly parts: readonly { readonly machine: string }[];
  readonly installation: object | null;
  readonly caught: readonly { readonly body: string }[];
}

let world: World;
let bea: Person;
let second = '';
beforeAll(async () => {
  world = await openWorld();
  const { owner, cloud, join } = world;
  const machineRole = roleOn(cloud.organizationId, 'robot', cloud.machineId, 'operator');
  await owner.app.createOrganizationInvite(cloud.organizationId, 'bea@example.com', [machineRole], false);
  bea = await join(cloud.organizationId, 'bea@example.com');
});
afterAll(async () => world[Symbol.asyncDispose]());

async function statusOf({ browser }: Person): Promise<Status> {
  const { headers } = browser;
  const page = await fetch(world.cloud.url, { headers });
  expect([page.status, (await page.text()).includes('id="figures"')]).toEqual([200, true]);
  const answer = await fetch(`${world.cloud.url}/api/status`, { headers });
  expect(answer.status).toBe(200);
  return (await answer.json()) as Status;
}

test('with one organization its owner sees the whole installation, and an operator of a machine sees that machine', async () => {
  const [whole, part] = [await statusOf(world.ada), await statusOf(bea)];
  expect(whole.installation).toMatchObject({ uploads: 0, rows: 0, delivered: '0', waiting: '0' });
  expect(part.installation).toBeNull();
  expect(part.parts).toEqual(whole.parts);
});

test('once someone else creates an organization, each owner sees their own machines and messages', async () => {
  const { cloud, owner, ada } = world;
  const demo = (await statusOf(ada)).parts;
  second = (await bea.app.createOrganization('Second plant'))?.id ?? '';
  await owner.app.deleteOrganizationMember(cloud.organizationId, bea.id);
  const { location } = await bea.ask('CreateLocation', { organization_id: second, name: 'Hall' });
  await bea.app.newRobot((location as { id: string }).id, 'press');
  for (const id of [cloud.organizationId, second])
    await fetch(`${cloud.url}/test-inbox/webhooks/x`, { method: 'POST', headers: { 'Org-Id': id }, body: id });

  for (const [person, id] of [
    [ada, cloud.organizationId],
    [bea, second],
  ] as const) {
    const { requests } = await world.json(person, '/test-inbox/requests');
    expect(requests).toMatchObject([{ body: id }]);
  }
  const [first, other] = [await statusOf(ada), await statusOf(bea)];
  expect(first).toMatchObject({ installation: null, parts: demo, caught: [{ body: cloud.organizationId }] });
  expect(first.organization).not.toContain('Second plant');
  expect(other).toMatchObject({
    organization: 'Second plant',
    installation: null,
    parts: [{ machine: 'press' }],
    caught: [{ body: second }],
  });
});

test('the command that creates another organization first says what it changes for the login, and nothing changes for others', async () => {
  const { cloud, owner } = world;
  await using cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  const created = await cli.ok(['organizations', 'create', 'Third plant', '--json=name']);
  expect(created.json()).toEqual({ name: 'Third plant' });
  expect(created.stderr).toMatch(/^.*commands .* have to name the organization/);
  expect((await owner.app.listOrganizations()).length).toBe(2);
  expect((await statusOf(world.ada)).parts.length).toBe(1);
});
