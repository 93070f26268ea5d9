/** Fragments in a real database with the machines of `openFleet`, for tests. */
import { create, type DescMessage, type MessageInitShape, type MessageShape } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { silentLog } from '@platform/base';
import type { JsonObject } from '@platform/machine-config/schema';
import {
  CreateFragmentRequestSchema,
  type FragmentSchema,
  type FragmentVisibility,
  UpdateFragmentRequestSchema,
} from '@platform/proto/platform/app/v1/app';
import { sql } from 'kysely';
import type { CloudCall, Principal } from '../../access/principal.ts';
import { callOf } from '../../access/testing/call-of.ts';
import { machines, on, openFleet } from '../../access/testing/open-fleet.ts';
import { openAccountTree } from '../../accounts/tree.ts';
import type { Database } from '../../metadata/tables.ts';
import { createFragments, type Fragments } from '../feature.ts';
import type { FragmentsDeps } from '../fragments-deps.ts';
import { defaultMaxFragments } from '../require-capacity.ts';

type FragmentInit = MessageInitShape<typeof FragmentSchema>;

export interface FragmentUpdate {
  readonly name?: string;
  readonly config?: JsonObject;
  readonly fragmentConfigJson?: string;
  readonly visibility?: FragmentVisibility;
  readonly lastKnownUpdate?: Timestamp;
}

export interface FragmentsGiven {
  readonly db: Database;
  /** Runs a statement without the cloud's knowledge. */
  alterRows(statement: string): Promise<void>;
  readonly fragments: Fragments;
  /** Part and triggers, for each part whose triggers changed through a fragment. */
  readonly told: [string, unknown][];
  /** Lines written to the logs of parts. */
  readonly lines: [string, string][];
  /** Sends a request as an owner of acme, unless another principal is given. */
  ask<I extends DescMessage, O>(
    handler: ((request: MessageShape<I>, call: CloudCall) => Promise<O> | O) | undefined,
    schema: I,
    init: MessageInitShape<I>,
    principal?: Principal,
  ): Promise<O>;
  create(name: string, config: JsonObject, visibility?: FragmentVisibility, by?: Principal): Promise<FragmentInit>;
  update(id: string, change: FragmentUpdate, by?: Principal): Promise<FragmentInit>;
  /** Saves a part's configuration like the machines feature: refuses errors, otherwise indexes it in the same transaction. */
  save(partId: string, document: JsonObject): Promise<void>;
  documentOf(partId: string): Promise<JsonObject>;
  running(partId: string): Promise<unknown>;
}

export const owner: Principal = { kind: 'key', keyId: 'owner', grants: [on.organization('owner')] };
export const operator: Principal = { kind: 'key', keyId: 'operator', grants: [on.organization('operator')] };
export const stranger: Principal = { kind: 'key', keyId: 'stranger', grants: [on.organization('owner', 'umbrella')] };

export async function openFragments(settings: Pick<FragmentsDeps, 'maxHistoryBytes'> = {}): Promise<FragmentsGiven> {
  const { db, access, clock, alterRows } = await openFleet();
  for (const [id, location] of Object.entries(machines)) {
    await db.insertInto('machines').values({ id, location_id: location, name: id, created_ms: 1 }).execute();
    await sql`insert into parts (id, machine_id, name, main, created_ms, epoch) values (${`${id}-main`}, ${id}, ${`${id}-main`}, 1, 1, 1)`.execute(
      db,
    );
  }
  const tree = await openAccountTree(db);
  const told: [string, unknown][] = [];
  const lines: [string, string][] = [];
  const documentOf = async (partId: string): Promise<JsonObject> => {
    const row = await db
      .selectFrom('part_configurations')
      .select('document')
      .where('part_id', '=', partId)
      .orderBy('version', 'desc')
      .executeTakeFirst();
    return row === undefined ? {} : JSON.parse(row.document);
  };
  const fragments = createFragments({
    maxFragmentsOf: () => defaultMaxFragments,
    ...settings,
    db,
    tree,
    access,
    clock,
    log: silentLog,
    triggerProblems: () => [],
    targetProblems: async () => [],
    documentOf,
    async onConfigurationChange(_trx, changes) {
      for (const { partId, before, after } of changes) {
        const [was, is] = [await before(), after].map(
          (document) => (document as JsonObject | undefined)?.['triggers'] ?? [],
        );
        if (JSON.stringify(was) !== JSON.stringify(is)) told.push([partId, is]);
      }
    },
    tellPart: async (partId, message) => void lines.push([partId, message]),
  });
  const given: FragmentsGiven = {
    db,
    alterRows,
    fragments,
    told,
    lines,
    documentOf,
    async ask(handler, schema, init, principal = owner) {
      if (handler === undefined) throw new Error(`no handler for ${schema.typeName}`);
      await clock.advance(1);
      return handler(create(schema, init), callOf(principal));
    },
    async create(name, config, visibility, by) {
      const { createFragment } = fragments.appHandlers;
      const init = {
        name,
        config: config as never,
        organizationId: by === stranger ? 'umbrella' : 'acme',
        ...(visibility === undefined ? {} : { visibility }),
      };
      const answer = await given.ask(createFragment as never, CreateFragmentRequestSchema, init, by);
      return (answer as { fragment: FragmentInit }).fragment;
    },
    async update(id, { config, ...change }, by) {
      const { updateFragment } = fragments.appHandlers;
      const init = { ...change, id, ...(config === undefined ? {} : { config: config as never }) };
      const answer = await given.ask(updateFragment as never, UpdateFragmentRequestSchema, init, by);
      return (answer as { fragment: FragmentInit }).fragment;
    },
    async save(partId, document) {
      const effective = await fragments.effective(partId, document);
      const error = effective.problems.find(({ level }) => level === 'error');
      if (error !== undefined) throw new Error(`${error.path}: ${error.message}`);
      await db.transaction().execute(async (trx) => {
        const { newest } = await trx
          .selectFrom('part_configurations')
          .select((each) => each.fn.max('version').as('newest'))
          .where('part_id', '=', partId)
          .executeTakeFirstOrThrow();
        const version = Number(newest ?? 0) + 1;
        await sql`insert into part_configurations (part_id, version, document, author, created_ms, bytes, author_kind, author_id, revision, restored_from) values (${partId}, ${version}, ${JSON.stringify(document)}, 'platform test', ${version}, 0, 'platform', '', '', 0)`.execute(
          trx,
        );
        await fragments.saving(trx, partId, effective);
      });
    },
    async running(partId) {
      return (await fragments.effective(partId, await documentOf(partId))).document;
    },
  };
  return given;
}
