/** The fleet on the command line: organizations, members, locations, machines, parts, keys, metadata; by names and by ids. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { WebSession } from '../app-api/web-session.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  cli.secrets.add(cloud.key).add(cloud.partSecret);
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

interface Shown {
  readonly id: string;
  readonly name: string;
}

test('organizations are created, renamed, found by name and id, and deleted; with several, --organization is required', async () => {
  const created = await cli.ok(['organizations', 'create', 'Second plant', '--json']);
  const second = created.json<Shown>();
  expect(created.stderr).toContain(`--organization ${second.id}`);
  expect(created.stderr).toContain(`platform profiles organization ${second.id}`);
  const [list, byName, byId, several, unknown, typo] = await Promise.all([
    cli.ok(['organizations', 'list', '--json=id,name']),
    cli.ok(['organizations', 'get', 'second PLANT', '--json']),
    cli.ok(['orgs', 'get', second.id, '--json']),
    cli.run(['locations', 'list']),
    cli.run(['organizations', 'get', '00000000-0000-4000-8000-000000000000']),
    cli.run(['organizations', 'get', 'Secomd plant']),
  ]);
  expect(list.json<Shown[]>()).toContainEqual({ id: second.id, name: 'Second plant' });
  expect(byName.json()).toEqual(byId.json());
  expect(byId.json()).toMatchObject({ public_namespace: null, region: null, time_zone: 'UTC' });
  expect(several).toMatchObject({ code: 2, stdout: '' });
  expect(several.stderr).toContain('expected --organization');
  expect(unknown).toMatchObject({ code: 3, stdout: '' });
  expect(typo.stderr).toContain('Did you mean Second plant?');

  await cli.ok(['organizations', 'update', second.id, '--name', 'Third plant', '--time-zone', 'europe/berlin']);
  const zoned = await cli.ok(['organizations', 'get', second.id, '--json=name,time_zone']);
  expect(zoned.json()).toEqual({ name: 'Third plant', time_zone: 'Europe/Berlin' });
  const refused = await cli.run(['organizations', 'delete', 'Third plant']);
  expect(refused.code).toBe(2);
  expect(refused.stderr).toContain('add --yes');
  await cli.ok(['organizations', 'delete', 'Third plant', '--yes']);
  const left = await cli.ok(['organizations', 'list', '--json=id']);
  expect(left.json()).toEqual([{ id: cloud.organizationId }]);
});

test('locations form a tree with paths; secrets and sharing', async () => {
  const other = (await cli.ok(['organizations', 'create', 'Partner', '--json'])).json<Shown>();
  const inOurs = ['--organization', cloud.organizationId];
  await cli.ok(['locations', 'create', 'Plant', ...inOurs]);
  const hall = (
    await cli.ok(['locations', 'create', 'Hall 2', '--parent', 'Plant', '--json', ...inOurs])
  ).json<Shown>();
  expect(hall).toMatchObject({ name: 'Hall 2', path: 'Plant/Hall 2', organization_id: cloud.organizationId });
  await cli.ok(['locations', 'update', 'Plant/Hall 2', '--name', 'Hall 3', ...inOurs]);
  const inUse = await cli.run(['locations', 'delete', 'Plant', '--yes', ...inOurs]);
  expect(inUse).toMatchObject({ code: 5, stdout: '' });

  await cli.ok(['locations', 'share', 'Plant/Hall 3', '--with', 'Partner', ...inOurs]);
  await cli.ok(['locations', 'secrets', 'create', hall.id, ...inOurs]);
  const [shared, secrets] = await Promise.all([
    cli.ok(['locations', 'get', hall.id, '--json=path,shared_with', ...inOurs]),
    cli.ok(['locations', 'secrets', 'list', '--reveal', '--json', 'Plant/Hall 3', ...inOurs], { reveals: true }),
  ]);
  expect(shared.json()).toEqual({ path: 'Plant/Hall 3', shared_with: [other.id] });
  expect((await cli.ok(['locations', 'list', ...inOurs])).stdout).toMatch(/^Plant\/Hall 3 .* Partner$/m);
  const [secret, another] = secrets.json<{ id: string; secret: string }[]>();
  cli.secrets.add(secret?.secret ?? '').add(another?.secret ?? '');
  const masked = await cli.ok(['--json', 'locations', 'secrets', 'list', 'Plant/Hall 3', ...inOurs]);
  expect(masked.json()).toContainEqual(expect.objectContaining({ secret: `${secret?.secret.slice(0, 4)}…` }));
  expect(masked.stderr).toContain('add --reveal to show the secrets');
  await cli.ok(['locations', 'secrets', 'delete', hall.id, secret?.id ?? '', '--yes', ...inOurs]);
  await cli.ok(['locations', 'unshare', hall.id, '--with', other.id, ...inOurs]);
  await cli.ok(['locations', 'delete', 'Plant/Hall 3', '--yes', ...inOurs]);
  await cli.ok(['organizations', 'delete', other.id, '--yes']);
  const list = await cli.ok(['locations', 'list']);
  expect(list.stdout).toMatch(/^PATH +ID +MACHINES +SHARED WITH$/m);
  expect(list.stdout).not.toContain('Hall');
});

test('machines and parts by name, place and id; control characters in a hostile name never reach the terminal', async () => {
  // Control characters and direction changes are refused.
  const hostile = 'press "$(reboot)" <b>';
  expect((await cli.run(['machines', 'create', '\u001b[2Jx', '--location', cloud.locationId])).stderr).toContain(
    '\\u001b[2J',
  );
  const turned = await cli.run(['machines', 'create', 'press \u202egnp', '--location', cloud.locationId]);
  expect(turned).toMatchObject({ code: 2, stderr: expect.stringContaining('found U+202E in') });
  expect(turned.stderr).not.toContain('\u202e');
  const machine = (
    await cli.ok(['machines', 'create', 'press-7', '--location', cloud.locationId, '--json'])
  ).json<Shown>();
  await cli.ok(['machines', 'create', hostile, '--location', cloud.locationId]);
  const gripper = (
    await cli.ok(['machines', 'part', 'create', 'gripper', '--machine', 'press-7', '--json'])
  ).json<Shown>();
  const [list, text, get, part, status, read, missing, inLocation] = await Promise.all([
    cli.ok(['machines', 'list', '--json']),
    cli.ok(['machines', 'list', '--location', cloud.locationId]),
    cli.ok(['machine', 'get', machine.id], { env: { PLATFORM_OUTPUT: 'json' } }),
    cli.ok(['machines', 'part', 'get', 'press-7/gripper', '--json']),
    cli.ok(['machines', 'status', 'press-7', '--json=part,state']),
    cli.ok(['machines', 'status', 'press-7']),
    cli.run(['machines', 'get', 'press-8', '--json']),
    cli.ok(['machines', 'part', 'list', machine.id, '--json=name,main']),
  ]);
  expect(get.json()).toMatchObject({ id: machine.id, name: 'press-7', state: 'awaiting setup' });
  expect(part.json()).toMatchObject({ id: gripper.id, machine: 'press-7', machine_id: machine.id, main: false });
  expect(status.json()).toContainEqual({ part: 'gripper', state: 'awaiting setup' });
  expect(read.stdout).toMatch(/^part {2,}gripper\nstate {2,}awaiting setup\nlast_access {2,}-\n/m);
  expect(inLocation.json()).toContainEqual({ name: 'gripper', main: false });
  expect(missing).toMatchObject({ code: 3, stdout: '' });
  expect(JSON.parse(missing.stderr)).toMatchObject({ error: { code: 'not_found' } });
  expect(list.json<Shown[]>().map(({ name }) => name)).toContain(hostile);
  for (const { stdout } of [list, text]) {
    expect(stdout).toContain('$(reboot)');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they must not occur.
    expect(stdout).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202e]/);
  }

  await cli.ok(['machines', 'part', 'rename', 'press-7/gripper', 'arm']);
  await cli.ok(['machines', 'part', 'main', 'press-7/arm']);
  await cli.ok(['machines', 'part', 'restart', 'press-7']);
  await cli.ok(['machines', 'part', 'secrets', 'create', gripper.id]);
  const secrets = await cli.ok(['machines', 'part', 'secrets', 'list', 'press-7/arm', '--json'], { reveals: true });
  const [first, second] = secrets.json<{ id: string; secret: string }[]>();
  cli.secrets.add(first?.secret ?? '').add(second?.secret ?? '');
  await cli.ok(['machines', 'part', 'secrets', 'delete', 'press-7', second?.id ?? '', '--yes']);
  const [partStatus, wrong] = await Promise.all([
    cli.ok(['machines', 'part', 'status', 'press-7', '--json=machine,part,part_id,last_error']),
    cli.run(['machines', 'part', 'delete', 'press-7', '--yes']),
  ]);
  expect(partStatus.json()).toEqual({ machine: 'press-7', part: 'arm', part_id: gripper.id, last_error: null });
  expect(wrong.code).toBe(5);
  await cli.ok(['machines', 'update', machine.id, '--name', 'press-9']);
  await cli.ok(['machines', 'delete', 'press-9', '--yes']);
  await cli.ok(['machines', 'delete', hostile, '--yes']);
});

test('an API key is created with an expiry, rotated and deleted, and its client loses access', async () => {
  const made = await cli.ok(
    ['api-keys', 'create', 'wall display', '--role', 'operator', '--expires', '90d', '--json'],
    { reveals: true },
  );
  const { id, key } = made.json<{ id: string; key: string }>();
  cli.secrets.add(key);
  const as = { PLATFORM_API_KEY_ID: id, PLATFORM_API_KEY: key };
  const [list, read, change, again] = await Promise.all([
    cli.ok(['api-keys', 'list', '--json=id,name,expires_at']),
    cli.ok(['machines', 'list', '--json'], { env: as }),
    cli.run(['locations', 'create', 'Mine'], { env: as }),
    cli.run(['api-keys', 'create', 'x', '--role', 'king']),
  ]);
  expect(list.json()).toContainEqual({ id, name: 'wall display', expires_at: expect.stringMatching(/^\d{4}-/) });
  expect(read.json<unknown[]>().length).toBeGreaterThan(0);
  expect(change).toMatchObject({ code: 4, stdout: '' });
  expect(again.code).toBe(2);
  expect(again.stderr).toContain('Allowed choices are owner, operator');

  const names = await cli.ok(['api-keys', 'list']);
  expect(names.stdout).toMatch(/^wall display +[0-9a-f-]{36} +operator of My organization /m);

  await cli.ok(['api-keys', 'rename', 'wall display', 'hall display']);
  await cli.ok(['api-keys', 'expire', 'hall display', 'never']);
  const rotated = await cli.ok(['api-keys', 'rotate', id, '--json'], { reveals: true });
  const next = rotated.json<{ id: string; key: string }>();
  cli.secrets.add(next.key);
  const nextAs = { PLATFORM_API_KEY_ID: next.id, PLATFORM_API_KEY: next.key };
  await cli.ok(['whoami'], { env: nextAs });
  await cli.ok(['api-keys', 'delete', 'hall display', '--yes']);
  const stopped = await cli.run(['whoami'], { env: nextAs });
  expect(stopped).toMatchObject({ code: 4, stdout: '' });
});

test('a person is invited with a link, joins, gets and loses a role, and is removed; the audit trail shows it', async () => {
  const owner = new WebSession(cloud.url);
  await owner.signIn(cloud.signInLink);
  const invited = await cli.ok(
    ['members', 'invite', 'bob@example.com', '--location', cloud.locationId, '--link', '--json'],
    { reveals: true },
  );
  const { link } = invited.json<{ link: string }>();
  cli.secrets.add(new URL(link).searchParams.get('token') ?? link);
  const bob = new WebSession(cloud.url);
  await bob.open(new URL(link).pathname + new URL(link).search);
  await bob.submit('/invitations/accept', { name: 'Bob', password: 'correct horse battery' });
  // This cloud has no mail server.
  const unmailed = await cli.ok(['members', 'invite', 'eve@example.com'], { reveals: true });
  expect(unmailed.stdout).toMatch(/^link +http/m);
  expect(unmailed.stderr).toContain('the invitation was not mailed: send this link yourself');
  await cli.ok(['members', 'resend', 'eve@example.com', '--link'], { reveals: true });
  await cli.ok(['members', 'uninvite', 'eve@example.com']);
  const noLink = await cli.run(['members', 'resend', 'eve@example.com', '--link']);
  expect(noLink).toMatchObject({ code: 3, stdout: '' });
  const granted = await cli.ok([
    'members',
    'grant',
    'bob@example.com',
    '--role',
    'owner',
    '--machine',
    cloud.machineId,
  ]);
  const list = await cli.ok(['members', 'list', '--json=email,state,roles']);
  expect(list.json()).toContainEqual({
    email: 'bob@example.com',
    state: 'member',
    roles: expect.arrayContaining([
      expect.objectContaining({ role: 'operator', resource_type: 'location', resource_id: cloud.locationId }),
      expect.objectContaining({ role: 'owner', resource_type: 'machine', resource_id: cloud.machineId }),
    ]),
  });
  const machine = (await cli.ok(['machines', 'get', cloud.machineId, '--json'])).json<{
    name: string;
    location: string;
  }>();
  const shown = await cli.ok(['members', 'list']);
  expect(shown.stdout).toContain(`operator of location ${machine.location}`);
  expect(shown.stdout).toContain(`owner of machine ${machine.name}`);
  expect(shown.stdout).toContain('(first owner)');
  expect(granted.stderr).toContain(`bob@example.com is now owner of machine ${machine.name}`);
  const revoked = await cli.ok([
    'members',
    'revoke',
    'bob@example.com',
    '--role',
    'owner',
    '--machine',
    cloud.machineId,
  ]);
  expect(revoked.stderr).toContain(`bob@example.com is no longer owner of machine ${machine.name}`);
  const everybody = (await cli.ok(['members', 'list', '--json=id,email'])).json<
    { id: string; email: string | null }[]
  >();
  const first = everybody.find(({ email }) => email !== 'bob@example.com')?.id ?? '';
  // It asks, but there is no user to answer.
  const asked = await cli.run(['members', 'remove', first]);
  expect(asked).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('the last person who owns the organization'),
  });
  await cli.ok(['members', 'remove', 'bob@example.com', '--yes']);
  const [left, unknown, audit] = await Promise.all([
    cli.ok(['members', 'list', '--json=email']),
    cli.run(['members', 'remove', 'bob@example.com', '--yes']),
    cli.ok(['organizations', 'audit', '--json=action,actor,target,target_kind', '--limit', '500']),
  ]);
  expect(audit.json()).toContainEqual(expect.objectContaining({ target_kind: 'key', target: 'hall display' }));
  expect(left.stdout).not.toContain('example.com');
  expect(unknown.code).toBe(3);
  const actions = audit.json<{ action: string }[]>().map(({ action }) => action);
  expect(actions).toEqual(expect.arrayContaining(['AppService.DeleteOrganizationMember', 'AppService.RotateKey']));
});

test('metadata of each level is replaced and printed', async () => {
  const targets = [[], ['--location', cloud.locationId], ['--machine', cloud.machineId], ['--part', cloud.partId]];
  await Promise.all(
    targets.map(async (target, at) => {
      await cli.ok(['metadata', 'set', '-', ...target], { input: JSON.stringify({ at }) });
      expect((await cli.ok(['metadata', 'get', ...target])).json()).toEqual({ at });
    }),
  );
  const wrong = await cli.run(['metadata', 'set', '-'], { input: '[1]' });
  expect(wrong).toMatchObject({ code: 2, stdout: '' });
  expect(wrong.stderr).toContain('expected a JSON object, found [1]');
});
