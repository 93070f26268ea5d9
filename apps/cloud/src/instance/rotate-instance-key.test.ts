import { readFileSync, writeFileSync } from 'node:fs';
import { silentLog, systemClock } from '@platform/base';
import { temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { issueToken, readToken } from '../access/access-token.ts';
import { checkKey, createKey } from '../access/keys.ts';
import { createFirstAccount } from '../identity/create-first-account.ts';
import { insertMachine } from '../machines/insert-machine.ts';
import { openPartSecrets } from '../machines/part-secrets.ts';
import { migrations } from '../metadata/migrations.ts';
import { openMetadata } from '../metadata/open-metadata.ts';
import { sealedColumns } from '../metadata/sealed-columns.ts';
import type { Database } from '../metadata/tables.ts';
import { throwUncaught } from '../metadata/testing/throw-uncaught.ts';
import { type KeyRing, keyMaterial, newKeyMaterial, openInstanceKey } from './instance-key.ts';
import { finishRotation, type RotationOptions, rotateInstanceKey } from './rotate-instance-key.ts';
import { selectInstanceKey } from './select-instance-key.ts';

interface Installation extends AsyncDisposable {
  readonly db: Database;
  readonly file: string;
  /** Opens the keys as a start does. */
  open(): Promise<KeyRing>;
  rotate(ring: KeyRing, options?: Partial<RotationOptions<never>>): Promise<unknown>;
  /** Every sealed value in plaintext, by table. */
  secrets(ring: KeyRing): Promise<string[]>;
}

async function installation(): Promise<Installation> {
  const directory = await temporaryDirectory();
  const metadata = await openMetadata({
    clock: systemClock,
    onFatal: throwUncaught,
    file: directory.file('meta.sqlite'),
    migrations,
    log: silentLog,
  });
  const { db } = metadata;
  const file = directory.file('instance.key');
  const open = async (): Promise<KeyRing> => {
    const ring = openInstanceKey(file, undefined);
    await selectInstanceKey(db, ring);
    await finishRotation({ db, ring, columns: sealedColumns, file });
    return ring;
  };
  await createFirstAccount(db, await open(), 1_000);
  return {
    db,
    file,
    open,
    rotate: (ring, options = {}) =>
      rotateInstanceKey({
        db,
        ring,
        columns: sealedColumns,
        file,
        endSessions: false,
        inTransaction: async () => {},
        ...options,
      } as RotationOptions<never>),
    async secrets(ring) {
      const all: string[] = [];
      for (const { table, key, sealed } of sealedColumns) {
        const rows = (await db
          .selectFrom(table as 'api_keys')
          .selectAll()
          .execute()) as Record<string, unknown>[];
        for (const row of rows)
          if (!String(row[key[0] ?? '']).startsWith('token-key:'))
            all.push(`${table} ${ring.decrypt(row[sealed] as Uint8Array)}`);
      }
      return all.toSorted();
    },
    async [Symbol.asyncDispose]() {
      await metadata[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
}

test('D6 after a rotation every secret is sealed only with the new key, and can be found by its hash', async () => {
  await using one = await installation();
  const ring = await one.open();
  const before = await one.secrets(ring);
  const key = await createKey(one.db, ring, 'k', [], 1);
  const old = readFileSync(one.file, 'utf8').trim();
  await one.rotate(ring);
  expect(await checkKey(one.db, ring, key.id, key.key, 1)).toBeDefined();

  const restarted = await one.open();
  const lines = readFileSync(one.file, 'utf8').trim().split('\n');
  expect(lines).toEqual([restarted.current.text]);
  expect(lines).not.toContain(old);
  expect((await one.secrets(restarted)).filter((line) => !line.includes(key.key))).toEqual(before);
  expect(before.length).toBeGreaterThan(2);
  expect(await checkKey(one.db, restarted, key.id, key.key, 1)).toBeDefined();
  await expect(one.secrets(openWith(old))).rejects.toThrow(/different instance key/);
});

test.each(['two keys', 'resealed'] as const)(
  'D6 a rotation interrupted at "%s" leaves an installation that opens',
  async (at) => {
    await using one = await installation();
    const ring = await one.open();
    const before = await one.secrets(ring);
    const key = await createKey(one.db, ring, 'k', [], 1);
    const killed = (): never => {
      throw new Error('killed');
    };
    // The ring switches to the new key when the transaction is committed.
    const rotated =
      at === 'two keys'
        ? one.rotate(ring, { inTransaction: killed })
        : one.rotate(Object.create(ring, { use: { value: killed } }));
    await expect(rotated).rejects.toThrow('killed');

    const restarted = await one.open();
    expect(readFileSync(one.file, 'utf8').trim().split('\n')).toEqual([restarted.current.text]);
    expect(restarted.current.id === ring.known[0]?.id).toBe(at === 'two keys');
    expect((await one.secrets(restarted)).filter((line) => !line.includes(key.key))).toEqual(before);
    expect(await checkKey(one.db, restarted, key.id, key.key, 1)).toBeDefined();
  },
);

test('D6 keys, part secrets and tokens work at every instant of a rotation', async () => {
  await using one = await installation();
  const ring = await one.open();
  const key = await createKey(one.db, ring, 'k', [], 1);
  const { id: locationId } = await one.db.selectFrom('locations').select('id').executeTakeFirstOrThrow();
  const { secret: part } = await insertMachine(one.db, ring, { locationId, name: 'press', nowMs: 1 });
  const parts = await openPartSecrets(one.db, ring);
  const token = issueToken(ring, { kind: 'key', id: 'k', epoch: 1 });
  const behind = openInstanceKey(one.file, undefined);

  let ended = false;
  const rotated = one.rotate(ring).finally(() => {
    ended = true;
  });
  const said = new Set<boolean>();
  while (!ended) {
    said.add((await checkKey(one.db, ring, key.id, key.key, 1)) !== undefined);
    said.add((await parts.check(part.partId, part.text)) !== undefined);
    for (let step = 0; step < 20; step++) {
      said.add(readToken(ring, token) !== undefined);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
  await rotated;
  expect([...said]).toEqual([true]);

  // The instant after the commit: the store uses the new key, but this process still uses the old one.
  behind.add(ring.current);
  expect(behind.current.id).not.toBe(ring.current.id);
  expect(await checkKey(one.db, behind, key.id, key.key, 1)).toBeDefined();
  expect(await checkKey(one.db, behind, key.id, `${key.key}x`, 1)).toBeUndefined();
  expect(await (await openPartSecrets(one.db, behind)).check(part.partId, part.text)).toBeDefined();
});

test('D6 while the current key is being selected, tokens of earlier keys can always be verified', async () => {
  await using one = await installation();
  const ring = await one.open();
  const token = issueToken(ring, { kind: 'key', id: 'k', epoch: 1 });
  await one.rotate(ring);
  const uses: (readonly Buffer[])[] = [];
  const watched: KeyRing = {
    ...ring,
    current: ring.current,
    known: ring.known,
    use: (key, earlier) => {
      uses.push(earlier);
      ring.use(key, earlier);
    },
  };
  await selectInstanceKey(one.db, watched);
  expect(uses.map((earlier) => earlier.length)).toEqual([1]);
  expect(readToken(ring, token)).toBeDefined();
});

test('D6 a transaction that fails leaves everything under the old key', async () => {
  await using one = await installation();
  const ring = await one.open();
  const before = await one.secrets(ring);
  const failing = async (): Promise<void> => {
    throw new Error('no audit');
  };
  await expect(one.rotate(ring, { inTransaction: failing })).rejects.toThrow('no audit');
  expect(ring.current.id).toBe(ring.known[0]?.id);
  expect(await one.secrets(await one.open())).toEqual(before);
});

test('D6 values sealed with the old key during the rotation open, and are re-sealed at its end', async () => {
  await using one = await installation();
  const ring = await one.open();
  const sealed = { secret: ring.encrypt('late'), secret_hash: ring.hash('late') };
  await one.rotate(ring);
  await one.db
    .insertInto('api_keys')
    .values({ id: 'late', name: '', ...sealed, created_ms: 1, revoked_ms: null })
    .execute();
  expect(ring.decrypt(sealed.secret)).toBe('late');
  expect(await finishRotation({ db: one.db, ring, columns: sealedColumns, file: one.file })).toBe(1);
  expect(await checkKey(one.db, await one.open(), 'late', 'late', 1)).toBeDefined();
});

test('D5 tokens survive rotations, because clients never refresh them; ending sessions ends all earlier ones', async () => {
  await using one = await installation();
  const ring = await one.open();
  const first = issueToken(ring, { kind: 'key', id: 'k', epoch: 1 });
  await one.rotate(ring);
  const second = issueToken(ring, { kind: 'key', id: 'k', epoch: 2 });
  await one.rotate(ring);
  const restarted = await one.open();
  expect([first, second].map((token) => readToken(restarted, token)?.epoch)).toEqual([1, 2]);
  expect(readToken(restarted, `${first}x`)).toBeUndefined();

  await one.rotate(restarted, { endSessions: true });
  const third = issueToken(restarted, { kind: 'key', id: 'k', epoch: 3 });
  for (const now of [restarted, await one.open()])
    expect([first, second, third].map((token) => readToken(now, token)?.epoch)).toEqual([undefined, undefined, 3]);
});

test('D6 a key from the environment is replaced by another one; the store records which of the two protects it', async () => {
  await using one = await installation();
  const file = await one.open();
  const [old, next] = [file.current.text, newKeyMaterial().text];
  const ring = openInstanceKey('none', old, next);
  await selectInstanceKey(one.db, ring);
  await one.rotate(ring, { file: undefined, next: keyMaterial(next, 'next') });
  const before = await one.secrets(ring);

  for (const restarted of [openInstanceKey('none', old, next), openInstanceKey('none', next)]) {
    await selectInstanceKey(one.db, restarted);
    expect(restarted.current.text).toBe(next);
    expect(await one.secrets(restarted)).toEqual(before);
  }
  await expect(selectInstanceKey(one.db, openInstanceKey('none', old))).rejects.toThrow(
    /are encrypted with the instance key [0-9a-f]{16}, found [0-9a-f]{16}/,
  );
});

test('a key file with other content is refused with what was found', async () => {
  await using one = await installation();
  for (const [text, found] of [
    ['', 'an empty file'],
    ['dGlueQ==\n', '4 bytes'],
  ] as const) {
    writeFileSync(one.file, text);
    await expect(one.open()).rejects.toThrow(found);
  }
});

function openWith(text: string): KeyRing {
  return openInstanceKey('none', text);
}
