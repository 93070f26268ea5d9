/** PackageService: packages of an organization, for its own people, keys and parts. */
import { create, type JsonObject, type MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { invalidArgument, notFound } from '@platform/base';
import {
  type CreatePackageRequest,
  FileInfoSchema,
  type PackageSchema,
  type PackageService,
} from '@platform/proto/platform/app/packages/v1/packages';
import { audit } from '../access/audit.ts';
import { type CloudCall, type CloudHandlers, notVisible } from '../access/principal.ts';
import { checkInfo } from './check-info.ts';
import { createPackage } from './create-package.ts';
import { deletePackages, forgetWithoutVersions } from './delete-packages.ts';
import { packageLink, packageUrl } from './download/package-link.ts';
import { fileName } from './download/package-route.ts';
import { choose, ownedPlaceOf, packageId, packagesOf, placeOf, servedVersion } from './find-packages.ts';
import type { PackagesDeps } from './packages-deps.ts';
import type { NewPackageRow, PackageRow } from './store.ts';

export interface PackageHandlerDeps extends PackagesDeps {
  /** Called after a commit that deleted packages, because archives must be removed. */
  readonly deleted: () => void;
}

export function packageHandlers(deps: PackageHandlerDeps): CloudHandlers<typeof PackageService> {
  const { db, access, clock, served, deleted } = deps;

  const messageOf = (row: PackageRow, call: CloudCall, includeUrl = false) =>
    toMessage(row, includeUrl ? urlOf(deps, row, call) : '');

  return {
    async createPackage(requests, call) {
      const messages = requests[Symbol.asyncIterator]();
      const { value, done } = await messages.next();
      const packet = done ? undefined : value.package;
      if (packet?.case !== 'info')
        throw invalidArgument(
          `CreatePackage expected the info of the package in the first message, found ${packet?.case ?? 'nothing'}`,
        );
      access.authorize(call.principal, 'package.manage', packet.value.organizationId);
      await deps.requireSpace();
      const row = await createPackage(deps, call, checkInfo(packet.value), contentsOf(messages));
      return { id: packageId(row), version: row.version };
    },

    async listPackages(request, call) {
      const { organizationId, name, type, version = '', includeUrl } = request;
      access.authorize(call.principal, 'package.read', organizationId);
      const rows = await packagesOf(db, organizationId, { name, type });
      const asked = rows.filter((row) => version === '' || row.version === version || servedVersion(row) === version);
      return { packages: asked.map((row) => messageOf(row, call, includeUrl)) };
    },

    async getPackage({ id, version, type, platform = '', includeUrl }, call) {
      const { organizationId, name } = placeOf(deps, call.principal, 'package', id);
      const rows = await packagesOf(db, organizationId, { name, type });
      const row = choose(rows, { version, platform });
      if (row === undefined) {
        if (rows.length === 0) throw notVisible('package', id);
        const versions = [...new Set(rows.map(servedVersion))].slice(0, 5).join(', ');
        throw notFound(
          `package ${packageId({ organization_id: organizationId, name })}: expected one of its versions (${versions}), found ${JSON.stringify(version.slice(0, 64))}${platform === '' ? '' : ` for ${platform.slice(0, 64)}`}`,
        );
      }
      return { package: messageOf(row, call, includeUrl) };
    },

    async deletePackage({ id, version, type }, call) {
      const { organizationId, name } = ownedPlaceOf(deps, call.principal, 'package', id);
      await db.transaction().execute(async (trx) => {
        // All platforms of a version, or the one that the version names.
        const rows = (await packagesOf(trx, organizationId, { name, type })).filter(
          (row) => row.version === version || servedVersion(row) === version,
        );
        if (rows.length === 0)
          throw notFound(
            `package: expected an existing version of ${id.slice(0, 120)}, found ${JSON.stringify(version.slice(0, 64))}`,
          );
        await deletePackages(trx, rows);
        await forgetWithoutVersions(trx, organizationId, name);
        for (const row of rows) {
          const targetId = `${packageId(row)}@${servedVersion(row)}`;
          const target = ['package', targetId, organizationId] as const;
          await audit(trx, call, clock.now(), 'PackageService.DeletePackage', target);
        }
      });
      served.changed(organizationId);
      deleted();
    },
  };
}

async function* contentsOf(messages: AsyncIterator<CreatePackageRequest>): AsyncIterable<Uint8Array> {
  for (let next = await messages.next(); !next.done; next = await messages.next()) {
    const { package: packet } = next.value;
    if (packet.case !== 'contents')
      throw invalidArgument(
        `CreatePackage expected contents after the first message, found ${packet.case ?? 'nothing'}`,
      );
    yield packet.value;
  }
}

function urlOf({ instanceKey, baseUrl, clock }: PackagesDeps, row: PackageRow, call: CloudCall): string {
  const link = packageLink(call.principal, row.id, clock.now());
  return packageUrl(instanceKey, baseUrl(call.metadata), fileName(row), link);
}

interface ListedFile {
  readonly name: string;
  readonly size: number;
  readonly isDirectory?: boolean;
}

function toMessage(row: PackageRow | NewPackageRow, url: string): MessageInitShape<typeof PackageSchema> {
  const files = JSON.parse(row.files) as readonly ListedFile[];
  return {
    id: packageId(row),
    info: {
      organizationId: row.organization_id,
      ...{ name: row.name, version: row.version, type: row.type },
      ...(row.platform === '' ? {} : { platform: row.platform }),
      files: files.map(({ size, ...file }) => create(FileInfoSchema, { ...file, size: BigInt(size) })),
      metadata: JSON.parse(row.metadata) as JsonObject,
    },
    url,
    createdOn: timestampFromMs(row.created_ms),
    checksum: row.sha256,
  };
}
