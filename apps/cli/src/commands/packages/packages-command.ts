/** `platform packages`: archives of an organization that its machines download. */
import { type Package, PackageType } from '@platform/sdk/cloud';
import { Command } from 'commander';
import { choice } from '../../invocation/choice.ts';
import { defineCommand, group } from '../../invocation/define-command.ts';
import { presenter, timeOf } from '../../results/presenters.ts';
import { openArchive, upload, uploadFields } from './archive.ts';

const types: Readonly<Record<string, PackageType>> = {
  archive: PackageType.ARCHIVE,
  ml_model: PackageType.ML_MODEL,
  module: PackageType.MODULE,
  slam_map: PackageType.SLAM_MAP,
  ml_training: PackageType.ML_TRAINING,
};

const { fields, shape } = presenter<Package>({
  id: (one) => one.id,
  name: (one) => one.info?.name ?? '',
  version: (one) => one.info?.version ?? '',
  type: (one) => Object.keys(types).find((name) => types[name] === one.info?.type) ?? 'unknown',
  platform: (one) => one.info?.platform ?? 'any',
  created_at: (one) => timeOf(one.createdOn),
  sha256: (one) => one.checksum,
});

export const platformOption = [
  '--platform <platform>',
  'operating system and architecture of the machines, such as linux/amd64 (default: all machines)',
] as const;

export function packagesCommand(): Command {
  return group('packages', 'archives that machines download', [list(), uploadCommand(), remove()]);
}

function list(): Command {
  return defineCommand(
    new Command('list')
      .description('list the packages of the organization by name, newest version first')
      .option('--name <name>', 'only versions of this package')
      .addOption(choice('--type <type>', 'only packages of this type', Object.keys(types))),
    { examples: ['platform packages list', 'platform packages list --type module --json=id,version'], fields },
    async ({ cloud, find, out }, flags) => {
      const { id: organizationId } = await find.organization();
      const type = types[flags['type']];
      const { packages } = await (await cloud()).packages.listPackages({ organizationId, name: flags['name'], type });
      out.rows(packages.map(shape), ['name', 'version', 'type', 'platform', 'created_at']);
    },
  );
}

function uploadCommand(): Command {
  return defineCommand(
    new Command('upload')
      .description('upload a folder or a .tar.gz file as a version of a package')
      .argument('<path>', 'a folder, or a .tar.gz file')
      .requiredOption('--name <name>', 'name of the package')
      .requiredOption('--version <version>', 'version, such as 1.2.0; a version never changes')
      .addOption(choice('--type <type>', 'what it is', Object.keys(types)).default('archive'))
      .option(...platformOption),
    {
      examples: [
        'platform packages upload map.tar.gz --name hall-map --version 3 --type slam_map',
        'platform packages upload model/ --name defects --version 1.4.0 --type ml_model',
      ],
      fields: uploadFields,
    },
    async (context, flags, path = '') => {
      const { name, version, platform = '' } = flags;
      const type = types[flags['type']] ?? PackageType.ARCHIVE;
      await upload(context, await openArchive(path), { name, version, type, platform, metadata: {} });
    },
  );
}

function remove(): Command {
  return defineCommand(
    new Command('delete')
      .description('delete a version of a package; machines that use it cannot download it again')
      .argument('<name>', 'name or id of the package')
      .argument('<version>', 'version; with a platform, such as 1.2.0-linux-amd64, only that one'),
    { examples: ['platform packages delete hall-map 3'] },
    async ({ cloud, find, confirm, out }, _flags, name = '', version = '') => {
      const id = name.includes('/') ? name : `${(await find.organization()).id}/${name}`;
      const { packages } = await cloud();
      const found = await packages.getPackage({ id, version });
      await confirm(`Delete version ${version} of the package "${name}"? No machine can download it again.`);
      await packages.deletePackage({ id, version, type: found.package?.info?.type ?? PackageType.UNSPECIFIED });
      out.note('the version is deleted');
    },
  );
}
