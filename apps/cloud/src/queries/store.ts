/** Tables of queries: saved pipelines and user-defined indexes. */
import type { Schema } from '../metadata/sqlite/writer-protocol.ts';

export interface SavedQueriesTable {
  id: string;
  organization_id: string;
  name: string;
  /** Concatenated BSON documents of the stages. */
  pipeline: Uint8Array;
  created_ms: number;
  updated_ms: number;
}

/** Never used by queries: kept only to be listed and deleted. */
export interface DataIndexesTable {
  organization_id: string;
  /** `hot_store`. */
  collection: string;
  name: string;
  /** BSON document {keys, options}. */
  spec: Uint8Array;
  created_ms: number;
}

export interface QueriesTables {
  saved_queries: SavedQueriesTable;
  data_indexes: DataIndexesTable;
}

export const queriesSchema: Schema = {
  statements: [
    `create table saved_queries (
      id text primary key,
      organization_id text not null,
      name text not null,
      pipeline blob not null,
      created_ms bigint not null,
      updated_ms bigint not null,
      unique (organization_id, name)
    )`,
    `create table data_indexes (
      organization_id text not null,
      collection text not null,
      name text not null,
      spec blob not null,
      created_ms bigint not null,
      primary key (organization_id, collection, name)
    )`,
  ],
};
