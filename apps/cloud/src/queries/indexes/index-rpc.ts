/**
 * DataService operations for indexes. The store keeps rows sorted by path and time and knows the content of each file, so it needs no
 * user-defined indexes. They are stored, listed and deleted, but make no query faster.
 */
import { create } from '@bufbuild/protobuf';
import {
  alreadyExists,
  failedPrecondition,
  invalidArgument,
  type PlatformError,
  resourceExhausted,
  unimplemented,
} from '@platform/base';
import {
  type DataService,
  type Index,
  IndexableCollection,
  IndexCreator,
  IndexSchema,
} from '@platform/proto/platform/app/data/v1/data';
import { BsonDocument, decodeBson, encodeBson, Int32, pathColumns } from '@platform/query';
import { audit } from '../../access/audit.ts';
import { type CloudHandlers, notVisible } from '../../access/principal.ts';
import type { QueriesDeps } from '../queries-deps.ts';
import { jsonOfDocument } from '../readings/json-of-bson.ts';
import { readIndexSpec } from './read-index-spec.ts';

const collection = 'hot_store';
const maxIndexes = 100;

export function indexHandlers({ db, access, clock }: QueriesDeps): CloudHandlers<typeof DataService> {
  return {
    async createIndex({ organizationId, collectionType, indexSpec }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      checkCollection(collectionType);
      const { name, document } = readIndexSpec(indexSpec);
      if (builtIn().some((index) => index.indexName === name)) throw exists(name);
      await db.transaction().execute(async (trx) => {
        const there = await trx
          .selectFrom('data_indexes')
          .select('name')
          .where('organization_id', '=', organizationId)
          .where('collection', '=', collection)
          .execute();
        if (there.some((index) => index.name === name)) throw exists(name);
        if (there.length >= maxIndexes)
          throw resourceExhausted(`a collection has at most ${maxIndexes} custom indexes`);
        const now = clock.now();
        const row = { organization_id: organizationId, collection, name, spec: encodeBson(document), created_ms: now };
        await trx.insertInto('data_indexes').values(row).execute();
        await audit(trx, call, now, 'DataService.CreateIndex', ['index', name, organizationId]);
      });
    },
    async listIndexes({ organizationId, collectionType }, { principal }) {
      access.authorize(principal, 'organization.read', organizationId);
      checkCollection(collectionType);
      const rows = await db
        .selectFrom('data_indexes')
        .select(['name', 'spec'])
        .where('organization_id', '=', organizationId)
        .where('collection', '=', collection)
        .orderBy('created_ms')
        .orderBy('name')
        .execute();
      return { indexes: [...builtIn(), ...rows.map(({ name, spec }) => indexMessage(name, spec, 'CUSTOMER'))] };
    },
    async deleteIndex({ organizationId, collectionType, indexName }, call) {
      access.authorize(call.principal, 'organization.manage', organizationId);
      checkCollection(collectionType);
      if (builtIn().some((index) => index.indexName === indexName))
        throw failedPrecondition(
          `index_name: expected an index from CreateIndex, found ${indexName}, which describes how the store arranges its rows`,
        );
      await db.transaction().execute(async (trx) => {
        const { numDeletedRows } = await trx
          .deleteFrom('data_indexes')
          .where('organization_id', '=', organizationId)
          .where('collection', '=', collection)
          .where('name', '=', indexName)
          .executeTakeFirst();
        if (numDeletedRows === 0n) throw notVisible('index', indexName);
        await audit(trx, call, clock.now(), 'DataService.DeleteIndex', ['index', indexName, organizationId]);
      });
    },
  };
}

/** @throws invalid_argument, unimplemented */
function checkCollection(type: IndexableCollection): void {
  if (type === IndexableCollection.HOT_STORE) return;
  if (type === IndexableCollection.PIPELINE_SINK)
    throw unimplemented('collection_type: there are no data pipelines, only the hot store');
  throw invalidArgument(`collection_type: expected INDEXABLE_COLLECTION_HOT_STORE, found ${type}`);
}

/** Columns by which files are split and their rows sorted, and for which the catalog has statistics of each file. */
function builtIn(): Index[] {
  return [pathColumns, ['time_received'], ['time_requested']].map((columns) => {
    const keys = new BsonDocument(columns.map((column) => [column, new Int32(1)]));
    return indexMessage(
      columns.map((column) => `${column}_1`).join('_'),
      encodeBson(BsonDocument.of({ keys })),
      'VIAM',
    );
  });
}

function indexMessage(indexName: string, spec: Uint8Array, by: keyof typeof IndexCreator): Index {
  return create(IndexSchema, {
    collectionType: IndexableCollection.HOT_STORE,
    indexName,
    // Public clients print it as text.
    indexSpec: [new TextEncoder().encode(JSON.stringify(jsonOfDocument(decodeBson(spec), 'text')))],
    createdBy: IndexCreator[by],
  });
}

function exists(name: string): PlatformError {
  return alreadyExists(`index_spec: expected an unused name, found ${name}`);
}
