/**
 * Tables of fragments: shared pieces of configuration, their revisions and tags, and who uses them.
 *
 * A revision never changes, but its configuration may go when it is old and nothing uses it. `part_fragments` is kept in the transactions that save configurations and fragments: it says
 * which parts a fragment reaches, and it is the recipe of what a part last ran when its present imports have errors.
 */
import type { SealedDocument } from '../instance/sealed-column.ts';

export type Visibility = 'private' | 'public' | 'unlisted';

export interface FragmentsTables {
  fragments: {
    id: string;
    organization_id: string;
    name: string;
    visibility: Visibility;
    /** The newest. */
    revision: number;
    created_ms: number;
    /** Of the newest revision. */
    updated_ms: number;
  };
  fragment_revisions: {
    fragment_id: string;
    /** From 1, without gaps. */
    revision: number;
    name: string;
    /** Other organizations are never given a revision that was saved as private. */
    visibility: Visibility;
    /** JSON as it was saved; '' when it went to make room for newer ones. */
    config: string;
    author_kind: string;
    author_id: string;
    /** E-mail address or name at the time. */
    author_name: string;
    created_ms: number;
  };
  fragment_tags: { fragment_id: string; tag: string; revision: number };
  /** What each revision imports itself. */
  fragment_imports: { fragment_id: string; revision: number; child_id: string; version: string };
  /** What each part imports, directly or by another fragment. */
  part_fragments: {
    part_id: string;
    fragment_id: string;
    /** The version asked for; '' is the newest. */
    version: string;
    /** What the part has; 0 when it could not be had. */
    revision: number;
    direct: number;
  };
  /** Parts whose fragments could not all be resolved as asked; JSON of the problems. */
  part_fragment_problems: { part_id: string; problems: string; since_ms: number };
}

/** No references to parts and organizations: other features delete those, and what is left here counts for nothing. */
export const fragmentsV2: readonly string[] = [
  `create table fragments (id text primary key, organization_id text not null, name text not null, visibility text not null, revision integer not null, created_ms bigint not null, updated_ms bigint not null)`,
  `create index fragments_by_organization on fragments (organization_id)`,
  `create index fragments_by_visibility on fragments (visibility)`,
  `create table fragment_revisions (fragment_id text not null references fragments (id), revision integer not null, name text not null, visibility text not null, config text not null, author_kind text not null, author_id text not null, author_name text not null, created_ms bigint not null, primary key (fragment_id, revision))`,
  `create table fragment_tags (fragment_id text not null references fragments (id), tag text not null, revision integer not null, primary key (fragment_id, tag))`,
  `create table fragment_imports (fragment_id text not null references fragments (id), revision integer not null, child_id text not null, version text not null, primary key (fragment_id, revision, child_id, version))`,
  `create index fragment_imports_by_child on fragment_imports (child_id)`,
  `create table part_fragments (part_id text not null, fragment_id text not null, version text not null, revision integer not null, direct integer not null, primary key (part_id, fragment_id, version))`,
  `create index part_fragments_by_fragment on part_fragments (fragment_id)`,
  `create table part_fragment_problems (part_id text primary key, problems text not null, since_ms bigint not null)`,
];

export const fragmentsSealedDocument: SealedDocument = {
  table: 'fragment_revisions',
  key: ['fragment_id', 'revision'],
  column: 'config',
};
