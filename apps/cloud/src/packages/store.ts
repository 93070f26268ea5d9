/** Tables of packages: packages, details of modules, and archives to remove. */
import type { PackageType } from '@platform/proto/platform/app/packages/v1/packages';
import type { Insertable, Selectable } from 'kysely';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface PackagesTables {
  packages: {
    id: string;
    organization_id: string;
    name: string;
    version: string;
    /** Such as `linux/amd64`; empty: any platform. */
    platform: string;
    /** The same for all versions of a name. */
    type: PackageType;
    created_ms: number;
    size_bytes: number;
    /** In hexadecimal. */
    sha256: string;
    /** CRC-32C, unsigned. */
    crc32c: number;
    blob_path: string;
    /** JSON: `{name, size, isDirectory}[]`, as listed by the uploader; never relied on. */
    files: string;
    /** JSON object defined by the uploader. */
    metadata: string;
  };
  /** Modules that were created or updated. Their versions are packages; a module that only has versions has no row. */
  modules: {
    organization_id: string;
    name: string;
    created_ms: number;
    /** JSON of the last UpdateModuleRequest; `{}` before the first. */
    details: string;
  };
  /** Archives whose rows were deleted. */
  package_removals: { blob_path: string };
}

export type PackageRow = Selectable<PackagesTables['packages']>;
export type NewPackageRow = Insertable<PackagesTables['packages']>;

export type ModuleRow = Selectable<PackagesTables['modules']>;

/** For direct access to a store: path, size and hash of each archive. */
export const packagePayloadsSql = 'select id, blob_path as path, size_bytes, sha256 from packages';

const statements: readonly string[] = [
  'create table packages (id text primary key, organization_id text not null references organizations (id), name text not null, version text not null, platform text not null, type bigint not null, created_ms bigint not null, size_bytes bigint not null, sha256 text not null, crc32c bigint not null, blob_path text not null, files text not null, metadata text not null, row_check text, unique (organization_id, name, version, platform))',
  'create index packages_by_path on packages (blob_path)',
  'create table package_removals (blob_path text primary key)',
  'create table modules (organization_id text not null references organizations (id), name text not null, created_ms bigint not null, details text not null, row_check text, primary key (organization_id, name))',
];

const checked = checkedIn(statements);

/** Rows that decide what runs on machines. */
export const packages: CheckedTable = checked('packages', 'package', { owner: 'organization_id' });

export const modules: CheckedTable = checked('modules', 'module', { owner: 'organization_id' });

export const packagesSchema: Schema = {
  statements,
  checked: [packages, modules],
};
