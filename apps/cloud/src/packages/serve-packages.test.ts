import { parse } from '@platform/machine-config/parse';
import { toRobotConfig } from '@platform/machine-config/robot-config';
import { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import { expect, test } from 'vitest';
import type { PackagePeer } from './serve-packages.ts';
import { openPackages, service, type TestPackages } from './testing/open-packages.ts';

const module = { name: 'cam', type: 'registry', module_id: 'acme:tool', version: 'latest', env: { A: 'b' } };

/** A path with the placeholder that the machine server resolves. */
const within = (path: string): string => `\${packages.module.synthetic-cam}/${path}`;

/** The parts of a configuration that a machine receives. */
async function servedTo(
  to: TestPackages,
  document: object,
  {
    platform = 'linux/amd64',
    organizationId = 'acme',
    vocabulary = 'core',
  }: Partial<PackagePeer> & { organizationId?: string } = {},
) {
  const { config } = parse(document);
  const resolved = await to.served.resolved(config, organizationId, { platform, vocabulary });
  const { modules, packages } = toRobotConfig(resolved, {});
  return { modules, packages };
}

test('a registry module gets the package for its version and platform, and a path into it', async () => {
  const to = await openPackages();
  const metadata = { entrypoint: './bin/start' };
  await to.upload({ metadata, platform: 'linux/amd64' }, 'amd');
  await to.upload({ metadata, platform: 'linux/arm64' }, 'arm');
  await to.upload({ metadata, version: '1.1.0', platform: 'linux/arm64' }, 'newer arm');
  const amd = await servedTo(to, { modules: [module] });
  expect(amd.packages).toMatchObject([
    { name: 'synthetic-cam', package: 'acme/tool', version: '1.0.0-linux-amd64', type: 'module' },
  ]);
  expect(amd.modules).toMatchObject([
    {
      name: 'cam',
      type: 'registry',
      moduleId: 'acme:tool',
      path: within('bin/start'),
      env: { A: 'b' },
    },
  ]);
  expect(amd.modules[0]?.status).toBeUndefined();
  const arm = await servedTo(
    to,
    { modules: [{ ...module, module_id: 'acme-tools:tool' }] },
    { platform: 'linux/arm64' },
  );
  expect(arm.packages).toMatchObject([{ package: 'acme/tool', version: '1.1.0-linux-arm64' }]);
  // The request that the machine server then sends.
  const got = await to.ask(to.owner, service.getPackage, { id: 'acme/tool', version: '1.1.0-linux-arm64' });
  expect(got.package?.info).toMatchObject({ version: '1.1.0', platform: 'linux/arm64' });
});

test('packages get the newest matching version; a missing one is reported, and the rest is served', async () => {
  const to = await openPackages();
  await to.upload({ name: 'model', version: '1.0.0', type: PackageType.ML_MODEL });
  await to.upload({ name: 'model', version: '1.3.0', type: PackageType.ML_MODEL }, 'newer');
  const entry = { name: 'm', package: 'acme/model', type: 'ml_model' };
  const document = {
    packages: [
      { ...entry, version: '1' },
      { ...entry, name: 'n', version: '7.0.0' },
      { ...entry, name: 'o', package: 'umbrella/model' },
    ],
    modules: [module, { name: 'own', type: 'local', executable_path: '/bin/own' }],
  };
  const { packages, modules } = await servedTo(to, document, { vocabulary: 'rdk' });
  expect(packages).toMatchObject([
    { name: 'm', package: 'acme/model', version: '1.3.0', type: 'ml_model' },
    { name: 'n', status: { error: expect.stringContaining('(1.3.0, 1.0.0), found "7.0.0"') } },
    { name: 'o', status: { error: expect.stringContaining('expected a package of this organization') } },
  ]);
  expect(packages[0]?.status).toBeUndefined();
  // A public machine server would reconfigure forever if it got a module that it cannot run.
  expect(modules).toMatchObject([{ name: 'own', path: '/bin/own' }]);
});

test('a module of which the machine runs another version keeps the entrypoint of that', async () => {
  const to = await openPackages();
  await to.upload({ metadata: { entrypoint: 'bin/cam' }, platform: 'linux/amd64' });
  const { modules } = await servedTo(to, { modules: [{ ...module, version: '7.0.0' }] });
  expect(modules[0]?.path).toBe(within('bin/cam'));
});

test.each([
  { what: 'without versions', named: { module_id: 'acme-tools:tool' }, reason: 'this installation has no module' },
  {
    what: 'without that version',
    uploads: [{ version: '1.0.0', platform: 'linux/amd64' }],
    named: { version: '7.0.0' },
    reason: 'expected a version of module package "tool" for linux/amd64 (1.0.0-linux-amd64), found "7.0.0"',
  },
  {
    what: 'without a version for the machine',
    uploads: [{ version: '7.0.0', platform: 'linux/arm64' }],
    named: { version: '7.0.0' },
    reason: 'expected a version of module package "tool" for linux/amd64 (7.0.0-linux-arm64), found "7.0.0"',
  },
])(
  'our machine-servers get a module $what with the reason at its package, whose id is that of its other versions',
  async ({ uploads = [], named, reason }) => {
    const to = await openPackages();
    for (const [index, upload] of uploads.entries()) await to.upload(upload, `archive ${index}`);
    const { packages, modules } = await servedTo(to, { modules: [{ ...module, ...named }] });
    expect(packages).toMatchObject([
      {
        name: 'synthetic-cam',
        package: 'acme/tool',
        type: 'module',
        status: { error: expect.stringContaining(reason) },
      },
    ]);
    expect(modules).toMatchObject([{ name: 'cam', type: 'registry', path: within('run.sh') }]);
    expect(modules[0]?.status, 'a fault of the package, not of the module').toBeUndefined();
    await to.upload({ version: '7.0.0', platform: 'linux/amd64' }, 'now there');
    const after = await servedTo(to, { modules: [{ ...module, ...named }] });
    expect(after.packages).toMatchObject([{ package: 'acme/tool', version: '7.0.0-linux-amd64' }]);
    expect(after.packages[0]?.status).toBeUndefined();
  },
);

test('a module that a developer has put on the machine runs from there, until reloading is disabled', async () => {
  const to = await openPackages();
  await to.upload({ metadata: { entrypoint: 'bin/cam' } });
  const reload = { reload_path: '/home/dev/cam/run.sh', reload_user: 'dev', reload_time: '2026-11-24T00:00:00Z' };
  const { packages, modules } = await servedTo(to, { modules: [{ ...module, ...reload, reload_enabled: true }] });
  expect([packages, modules]).toMatchObject([[], [{ name: 'cam', type: 'local', path: '/home/dev/cam/run.sh' }]]);
  const after = await servedTo(to, { modules: [{ ...module, ...reload, reload_enabled: false }] });
  expect(after.modules).toMatchObject([{ name: 'cam', type: 'registry', path: within('bin/cam') }]);
});

test('an entrypoint outside its package is ignored', async () => {
  const to = await openPackages();
  await to.upload({ metadata: { entrypoint: '../../bin/sh' } });
  const { modules } = await servedTo(to, { modules: [module] });
  expect(modules[0]?.path).toBe(within('run.sh'));
});

test('packages that cannot be served cause warnings with their paths, even those of another organization', async () => {
  const to = await openPackages();
  await to.upload({ platform: 'linux/arm64' });
  const { config } = parse({
    packages: [{ name: 'm', package: 'acme/model', type: 'ml_model' }],
    modules: [module, { ...module, name: 'two', module_id: 'umbrella:tool' }],
  });
  expect(await to.served.problemsOf(config, 'acme')).toEqual([
    {
      path: 'packages[0].package',
      level: 'warning',
      message:
        'this installation has no ml_model package "model"; upload it with "platform packages upload": machines keep the version that they have, or run without it',
    },
    {
      path: 'modules[1].module_id',
      level: 'warning',
      message:
        'expected a module of this organization (acme:NAME), found one of "umbrella": machines keep the version that they have, or run without it',
    },
  ]);
});

test('the stamp of an organization changes only with its own packages', async () => {
  const to = await openPackages();
  const stamps = [to.served.stampOf('acme')];
  await to.upload();
  stamps.push(to.served.stampOf('acme'));
  await to.upload({ organizationId: 'umbrella' }, 'theirs', to.stranger);
  expect(to.served.stampOf('acme')).toBe(stamps[1]);
  await to.ask(to.owner, service.deletePackage, { id: 'acme/tool', version: '1.0.0' });
  stamps.push(to.served.stampOf('acme'));
  expect(new Set(stamps).size).toBe(3);
});
