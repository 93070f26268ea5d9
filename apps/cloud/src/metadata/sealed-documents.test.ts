import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLog, errorText, silentLog, systemClock } from '@platform/base';
import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { checkSecrets } from '../admin/doctor/check-secrets.ts';
import { openInstanceKey } from '../instance/instance-key.ts';
import { finishRotation, rotateInstanceKey } from '../instance/rotate-instance-key.ts';
import { openStores, type StoreSettings, type Stores } from '../open-stores.ts';
import { sealStoredDocuments } from './seal-stored-documents.ts';
import { sealedColumns } from './sealed-columns.ts';
import { openTestStore, storeKinds } from './testing/test-store.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};
const canary = 'CANARY-hunter2';
const documentOf = (version: number): string =>
  JSON.stringify({
    components: [{ name: 'db', attributes: { password: `${canary}-${version}`, filler: 'x'.repeat(9_000) } }],
  });

interface Installation extends AsyncDisposable {
  readonly path: string;
  open(log?: typeof silentLog): Promise<Stores>;
}

async function installation(kind: (typeof storeKinds)[number]): Promise<Installation> {
  const store = await openTestStore(kind);
  const path = store.directory.file('data');
  const settings: StoreSettings = {
    dataDirectory: path,
    databaseUrl: store.database,
    instanceKey: undefined,
    nextInstanceKey: undefined,
    keepBeforeUpgrade: true,
  };
  return {
    path,
    open: (log = silentLog) => openStores(settings, { clock: systemClock, log, onFatal: fatal }),
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  };
}

/** Saves versions of a part's configuration and as many revisions of a fragment, like the features. */
async function save({ db, instanceKey }: Pick<Stores, 'db' | 'instanceKey'>, versions: number): Promise<void> {
  await sql`insert into organizations (id, name, created_ms, webhook_secret) values ('o', 'O', 1, ${instanceKey.encrypt('whsec')})`.execute(
    db,
  );
  await sql`insert into locations (id, organization_id, name, created_ms) values ('l', 'o', 'L', 1)`.execute(db);
  await sql`insert into machines (id, location_id, name, created_ms) values ('m', 'l', 'M', 1)`.execute(db);
  await sql`insert into parts (id, machine_id, name, main, created_ms) values ('p', 'm', 'P', 1, 1)`.execute(db);
  await sql`insert into fragments (id, organization_id, name, visibility, revision, created_ms, updated_ms) values ('f', 'o', 'F', 'private', 1, 1, 1)`.execute(
    db,
  );
  for (let version = 1; version <= versions; version++) {
    const document = documentOf(version);
    await db
      .insertInto('part_configurations')
      .values({
        ...{ part_id: 'p', version, document, bytes: document.length, author: 'platform test', created_ms: version },
        ...{ author_kind: 'platform', author_id: '', revision: '', restored_from: 0 },
      })
      .execute();
    await db
      .insertInto('fragment_revisions')
      .values({
        fragment_id: 'f',
        revision: version,
        name: 'F',
        visibility: 'private',
        config: document,
        author_kind: 'platform',
        author_id: '',
        author_name: 'test',
        created_ms: version,
      })
      .execute();
  }
  // The oldest document was deleted to make room.
  await db.updateTable('part_configurations').set({ document: '' }).where('version', '=', 1).execute();
}

async function documents({ db }: Pick<Stores, 'db'>): Promise<string[]> {
  const own = await db.selectFrom('part_configurations').selectAll().orderBy('version').execute();
  const shared = await db.selectFrom('fragment_revisions').select(['config', 'revision']).orderBy('revision').execute();
  return [...own.map(({ document }) => document), ...shared.map(({ config }) => config)];
}

const expected = (versions: number): string[] => {
  const all = Array.from({ length: versions }, (_, at) => documentOf(at + 1));
  return ['', ...all.slice(1), ...all];
};

/** The files of the directory that contain the text. */
function standsIn(path: string, text: string): string[] {
  return readdirSync(path, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((file) => readFileSync(file).includes(text));
}

async function storedIn({ db }: Pick<Stores, 'db'>): Promise<string> {
  return JSON.stringify(await documents({ db: db.withoutPlugins() }));
}

describe.each(storeKinds)('configurations and their histories in %s', (kind) => {
  test('D6 are stored sealed, and read as they were saved', async () => {
    await using one = await installation(kind);
    {
      await using stores = await one.open();
      await save(stores, 3);
      expect(await documents(stores)).toEqual(expected(3));
      expect(await storedIn(stores)).not.toContain('password');
      expect(await checkSecrets(stores.db, stores.instanceKey, sealedColumns)).toMatch(
        /and 5 configurations can be decrypted/,
      );
    }
    expect(standsIn(one.path, canary)).toEqual([]);
    await using stores = await one.open();
    expect(await documents(stores)).toEqual(expected(3));
  });

  test('D6 a start continues sealing with the new key where an interrupted one stopped', async () => {
    await using one = await installation(kind);
    {
      await using stores = await one.open();
      await save(stores, 120);
      const { db, instanceKey: ring, keyFile: file } = stores;
      await rotateInstanceKey({
        ...{ db, ring, columns: sealedColumns, file, endSessions: false },
        inTransaction: async () => {},
      });
      // Only the first batch is stored, as after a kill.
      let batches = 0;
      const clock = {
        monotonic: () => {
          if (++batches > 1) throw new Error('killed');
          return 0;
        },
      };
      const sealing = sealStoredDocuments({ db, ring, log: silentLog, clock: clock as never });
      await expect(sealing).rejects.toThrow('killed');
      expect(await documents(stores)).toEqual(expected(120));
    }
    const lines: string[] = [];
    {
      await using stores = await one.open(
        createLog((_level, _name, message, fields) => lines.push(`${message} ${JSON.stringify(fields)}`)),
      );
      expect(lines.join()).toMatch(/stored configurations have been encrypted with the instance key \{"sealed":189\}/);
      expect(await documents(stores)).toEqual(expected(120));
      expect(await storedIn(stores)).not.toContain('password');
    }
    lines.length = 0;
    await using _again = await one.open(createLog((_level, _name, message) => lines.push(message)));
    expect(lines.join()).not.toContain('sealed');
  });

  test('D6 are sealed only with the new key after a rotation, even an interrupted one, including those saved in the meantime', async () => {
    await using one = await installation(kind);
    {
      await using stores = await one.open();
      await save(stores, 3);
      const { db, instanceKey, keyFile, sealDocuments } = stores;
      const rotated = { db, ring: instanceKey, columns: sealedColumns, file: keyFile, endSessions: false };
      await rotateInstanceKey({ ...rotated, inTransaction: async () => {} });
      await sealDocuments();
      await finishRotation({ db, ring: instanceKey, columns: sealedColumns, file: keyFile });
      expect(instanceKey.known).toHaveLength(2);
      await rotateInstanceKey({ ...rotated, inTransaction: async () => {} });
      // Killed here: documents are under the previous key, and both keys are in the file.
    }
    {
      await using stores = await one.open();
      expect(await documents(stores)).toEqual(expected(3));
    }
    const alone = openInstanceKey(join(one.path, 'instance.key'), undefined);
    expect(alone.known).toHaveLength(1);
    await using stores = await one.open();
    expect(await documents(stores)).toEqual(expected(3));
  });

  test('D6 do not open with another key, and are reported as damaged, without a path', async () => {
    await using one = await installation(kind);
    await using stores = await one.open();
    await save(stores, 2);
    const raw = stores.db.withoutPlugins();
    const { document } = await raw
      .selectFrom('part_configurations')
      .select('document')
      .where('version', '=', 2)
      .executeTakeFirstOrThrow();
    const flipped = `${document.slice(0, 60)}${document[60] === 'A' ? 'B' : 'A'}${document.slice(61)}`;
    await raw.updateTable('part_configurations').set({ document: flipped }).where('version', '=', 2).execute();
    const error = await documents(stores).catch((caught: Error) => caught);
    expect(error).toMatchObject({ code: 'data_loss', isOwnFault: true });
    expect(errorText(error)).toContain('part_id p, version 2');
    expect(String(error)).not.toContain(one.path);
    await expect(checkSecrets(stores.db, stores.instanceKey, sealedColumns)).rejects.toMatchObject({
      code: 'data_loss',
    });
  });
});
