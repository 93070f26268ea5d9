/**
 * Tables of fragments: shared pieces of configuration, their revisions and tags, and their usage.
 *
 * A revision never changes, but the configuration of an old, unused one may be deleted. `part_fragments` is written in the transactions
 * that save configurations and fragments. It records which parts a fragment reaches, and also what a part last ran, for when its current
 * imports have errors.
 */
import type { SealedDocument } from '../instance/sealed-column.ts';
import { type CheckedTable, checkedIn } from '../metadata/row-checks/checked-table.ts';
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export type Visibility = 'private' | 'public' | 'unlisted';

export interface FragmentsTables {
  fragments: {
    id: string;
    organization_id: string;
    name: string;
    visibility: Visibility;
    /** The newest revision. */
    revision: number;
    created_ms: number;
    /** When the newest revision was saved. */
    updated_ms: number;
  };
  fragment_revisions: {
    fragment_id: string;
    /** From 1, without gaps. */
    revision: number;
    name: string;
    /** A revision saved as private is never given to other organizations. */
    visibility: Visibility;
    /** JSON as it was saved; '' if it was deleted to make room for newer ones. */
    config: string;
    author_kind: string;
    author_id: string;
    /** E-mail address or name at the time. */
    author_name: string;
    created_ms: number;
  };
  fragment_tags: { fragment_id: string; tag: string; revision: number };
  /** The direct imports of each revision. */
  fragment_imports: { fragment_id: string; revision: number; child_id: string; version: string };
  /** The fragments that each part imports, directly or through another fragment. */
  part_fragments: {
    part_id: string;
    fragment_id: string;
    /** The requested version; '' is the newest. */
    version: string;
    /** The revision that the part uses; 0 if none was available. */
    revision: number;
    direct: number;
  };
  /** Parts whose fragments could not all be resolved as requested; JSON of the problems. */
  part_fragment_problems: { part_id: string; problems: string; since_ms: number };
}

export const fragmentsSealedDocument: SealedDocument = {
  table: 'fragment_revisions',
  key: ['fragment_id', 'revision'],
  column: 'config',
};

/** No foreign keys to parts and organizations: other features delete those, and remaining rows here are ignored. */
const statements: readonly string[] = [
  'create table fragments (id text primary key, organization_id text not null, name text not null, visibility text not null, revision integer not null, created_ms bigint not null, updated_ms bigint not null, row_check text)',
  'create index fragments_by_organization on fragments (organization_id)',
  'create index fragments_by_visibility on fragments (visibility)',
  'create table fragment_revisions (fragment_id text not null references fragments (id), revision integer not null, name text not null, visibility text not null, config text not null, author_kind text not null, author_id text not null, author_name text not null, created_ms bigint not null, row_check text, primary key (fragment_id, revision))',
  'create table fragment_tags (fragment_id text not null references fragments (id), tag text not null, revision integer not null, row_check text, primary key (fragment_id, tag))',
  'create table fragment_imports (fragment_id text not null references fragments (id), revision integer not null, child_id text not null, version text not null, row_check text, primary key (fragment_id, revision, child_id, version))',
  'create index fragment_imports_by_child on fragment_imports (child_id)',
  'create table part_fragments (part_id text not null, fragment_id text not null, version text not null, revision integer not null, direct integer not null, row_check text, primary key (part_id, fragment_id, version))',
  'create index part_fragments_by_fragment on part_fragments (fragment_id)',
  'create table part_fragment_problems (part_id text primary key, problems text not null, since_ms bigint not null)',
];

const checked = checkedIn(statements);

/** Rows that decide what runs on machines. */
export const checkedFragments: CheckedTable = checked('fragments', 'fragment', { owner: 'organization_id' });

/** The checksum covers the configuration as it is stored. */
export const checkedRevisions: CheckedTable = checked('fragment_revisions', 'revision of fragment', {
  owner: 'fragment_id',
});

export const checkedTags: CheckedTable = checked('fragment_tags', 'tag of fragment', { owner: 'fragment_id' });

export const checkedImports: CheckedTable = checked('fragment_imports', 'import of fragment', { owner: 'fragment_id' });

export const checkedPartFragments: CheckedTable = checked('part_fragments', 'fragment of part', { owner: 'part_id' });

export const fragmentsSchema: Schema = {
  statements,
  checked: [checkedFragments, checkedRevisions, checkedTags, checkedImports, checkedPartFragments],
};
