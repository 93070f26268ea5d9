import { create } from '@bufbuild/protobuf';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { AppService, type ModuleFileInfo, UploadModuleFileRequestSchema } from '@platform/proto/platform/app/v1/app';
import { expect, test } from 'vitest';
import type { Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { on } from '../../access/testing/open-fleet.ts';
import { organizationDeleting } from '../organization-deleting.ts';
import { archive, openPackages, part, service, type TestPackages } from '../testing/open-packages.ts';

const app = AppService.method;
const id = 'acme:tool';
const described = { moduleId: id, entrypoint: 'bin/run', models: [{ api: 'core:component:sensor', model: 'a:b:c' }] };

/** Calls an operation on modules as from the API. */
function ask(to: TestPackages, by: Principal, name: 'createModule' | 'updateModule' | 'getModule' | 'listModules') {
  return async (request: object) => {
    const handler = to.packages.appHandlers[name] as (request: unknown, call: unknown) => Promise<object>;
    return (await handler(create(app[name].input, request), callOf(by))) as Record<string, never>;
  };
}

async function upload(
  to: TestPackages,
  info: Partial<ModuleFileInfo> = {},
  content: string | readonly Uint8Array[] = 'contents',
  by: Principal = to.owner,
): Promise<string | undefined> {
  const moduleFileInfo = { moduleId: id, version: '1.0.0', platform: 'linux/amd64', ...info };
  const chunks = typeof content === 'string' ? [archive(content)] : content;
  const messages = async function* () {
    yield create(UploadModuleFileRequestSchema, {
      moduleFile: { case: 'moduleFileInfo', value: moduleFileInfo as ModuleFileInfo },
    });
    for (const value of chunks)
      yield create(UploadModuleFileRequestSchema, { moduleFile: { case: 'file', value: value as never } });
  };
  return (await to.packages.appHandlers.uploadModuleFile?.(messages(), callOf(by)))?.url;
}

test('an uploaded module is a package with the entrypoint of its last update, and machines find it', async () => {
  const to = await openPackages();
  await ask(to, to.owner, 'createModule')({ organizationId: 'acme', name: 'tool' });
  await ask(to, to.owner, 'updateModule')(described);
  const bytes = archive('contents');
  const url = await upload(to, { moduleId: 'acme-tools:tool' }, [bytes.subarray(0, 1), bytes.subarray(1)]);
  expect(await upload(to)).toBe(url);
  const { package: found } = await to.ask(part, service.getPackage, { id: 'acme/tool', version: '1.0.0-linux-amd64' });
  expect(found?.info).toMatchObject({ type: PackageType.MODULE, platform: 'linux/amd64' });
  const module = { name: 'm', type: 'registry', module_id: id, version: 'latest' };
  const config = { packages: [], modules: [module] } as never;
  const { modules } = await to.served.resolved(config, 'acme', { platform: 'linux/amd64', vocabulary: 'core' });
  expect(modules[0]?.['executable_path']).toBe(`\${packages.module.synthetic-m}/bin/run`);
  const download = await to.get(String(url), {
    authorization: `Bearer ${(await to.keyWith(on.organization('owner'))).token}`,
  });
  expect(Buffer.from(await download.arrayBuffer())).toEqual(bytes);
  const entries = await to.db.selectFrom('audit_entries').select('action').orderBy('id').execute();
  expect(entries.map(({ action }) => action)).toEqual([
    'AppService.CreateModule',
    'AppService.UpdateModule',
    'AppService.UploadModuleFile',
  ]);
});

test('a module is read with its versions, oldest first, even if it has no details', async () => {
  const to = await openPackages();
  await to.upload({ version: '1.10.0', metadata: { entrypoint: 'run.sh', models: ['x', { api: 'a' }, null] } });
  await to.upload({ version: '1.9.0', platform: 'linux/arm64' });
  await to.upload({ version: '1.9.0', platform: 'linux/amd64' });
  expect((await ask(to, part, 'getModule')({ moduleId: id }))['module']).toMatchObject({
    ...{ moduleId: 'acme-tools:tool', organizationId: 'acme', publicNamespace: 'acme-tools', entrypoint: 'run.sh' },
    versions: [
      { version: '1.9.0', files: [{ platform: 'linux/amd64' }, { platform: 'linux/arm64' }] },
      { version: '1.10.0', files: [{ platform: 'any' }], models: [{ api: 'a', model: '' }] },
    ],
  });
});

test('a version for any platform is also found by the name that public clients use, unless a version has that name', async () => {
  const to = await openPackages();
  await upload(to, { platform: 'any' });
  const found = async () => {
    const { package: one } = await to.ask(part, service.getPackage, { id: 'acme/tool', version: '1.0.0-any' });
    return one?.info?.version;
  };
  expect(await found()).toBe('1.0.0');
  await upload(to, { version: '1.0.0-any', platform: 'any' });
  expect(await found()).toBe('1.0.0-any');
});

test('modules are listed to members of their organization, and changed by its owners', async () => {
  const to = await openPackages();
  await ask(to, to.owner, 'createModule')({ organizationId: 'acme', name: 'tool' });
  await to.upload({ organizationId: 'umbrella' }, 'theirs', to.stranger);
  const operator = await to.principalOf((await to.keyWith(on.machine('operator', 'press'))).token);
  for (const request of [{}, { organizationId: 'acme' }])
    expect((await ask(to, operator, 'listModules')(request))['modules']).toMatchObject([
      { name: 'tool', versions: [] },
    ]);
  expect((await ask(to, part, 'listModules')({}))['modules']).toEqual([]);
  await expect(ask(to, operator, 'updateModule')(described)).rejects.toMatchObject({ code: 'permission_denied' });
  for (const by of [operator, part])
    await expect(upload(to, {}, 'contents', by)).rejects.toMatchObject({
      code: 'permission_denied',
      message: 'module acme:tool: expected an owner of its organization, found another role (package.manage)',
    });
  for (const moduleId of [id, 'nobody:tool', 'tool', 'a:b:c', 'acme/tool', ''])
    for (const asked of [
      ask(to, to.stranger, 'getModule')({ moduleId }),
      ask(to, to.stranger, 'updateModule')({ moduleId }),
      upload(to, { moduleId }, 'contents', to.stranger),
    ])
      await expect(asked).rejects.toMatchObject({
        code: 'not_found',
        message: expect.stringMatching(/^module: expected the id of one that you may see, found /),
      });
});

test('an invalid upload is refused with the name of the field', async () => {
  const to = await openPackages();
  for (const [info, content, message] of [
    [{ version: 'v1' }, 'contents', 'info.version: expected a semantic version'],
    [{ platform: 'linux' }, 'contents', 'info.platform: expected an operating system and an architecture'],
    [{ moduleId: 'acme:../up' }, 'contents', 'module: expected the id of one'],
    [{ moduleId: 'acme:a b' }, 'contents', 'info.name: expected 1 to 100 letters'],
    [{ platformTags: ['distro:ubuntu'] }, 'contents', 'platform_tags: expected none, found 1'],
    [{}, [Buffer.from('a plain text')], 'contents: expected a gzip archive'],
  ] as const)
    await expect(upload(to, info as Partial<ModuleFileInfo>, content)).rejects.toThrow(message);
  const handler = to.packages.appHandlers.uploadModuleFile;
  const only = async function* () {
    yield create(UploadModuleFileRequestSchema, { moduleFile: { case: 'file', value: archive('x') as never } });
  };
  await expect(handler?.(only(), callOf(to.owner))).rejects.toThrow('expected module_file_info in the first message');
});

test('the details of a module are limited in size, and are deleted with its last version and with its organization', async () => {
  const to = await openPackages();
  await ask(to, to.owner, 'createModule')({ organizationId: 'acme', name: 'tool' });
  const large = { ...described, markdownDescription: 'x'.repeat(256 * 1024) };
  await expect(ask(to, to.owner, 'updateModule')(large)).rejects.toMatchObject({ code: 'invalid_argument' });
  await ask(to, to.owner, 'updateModule')(described);
  await upload(to);
  await upload(to, { version: '2.0.0' });
  const left = () => to.db.selectFrom('modules').select('name').execute();
  await to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '1.0.0' });
  expect(await left()).toEqual([{ name: 'tool' }]);
  await to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '2.0.0' });
  expect(await left()).toEqual([]);
  await ask(to, to.owner, 'createModule')({ organizationId: 'acme', name: 'other' });
  await organizationDeleting(to.db, 'acme');
  expect(await left()).toEqual([]);
});

test('a module cannot take the name of a package of another type', async () => {
  const to = await openPackages();
  await to.upload({ type: PackageType.ARCHIVE });
  await expect(ask(to, to.owner, 'createModule')({ organizationId: 'acme', name: 'tool' })).rejects.toMatchObject({
    code: 'failed_precondition',
  });
  await expect(upload(to)).rejects.toMatchObject({ code: 'failed_precondition' });
});
