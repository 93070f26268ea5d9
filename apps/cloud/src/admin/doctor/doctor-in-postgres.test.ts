import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { silentLog, systemClock } from '@platform/base';
import { startPostgres, temporaryDirectory } from '@platform/testkit';
import { expect, test } from 'vitest';
import { openIngestLog } from '../../ingest/log/open-ingest-log.ts';
import { throwUncaught } from '../../metadata/testing/throw-uncaught.ts';
import { openStores } from '../../open-stores.ts';
import { doctor } from './doctor.ts';

const fatal = (caught: unknown): never => {
  throw caught;
};

test.each([
  { durable: true, kept: true },
  { durable: false, kept: false },
])(
  'the doctor of an installation in Postgres reads its tables, checks its files and names a server that may lose commits ($durable)',
  async ({ durable, kept }) => {
    await using server = await startPostgres({ durable });
    await using directory = await temporaryDirectory();
    const dataDirectory = directory.file('data');
    const database = server.url('postgres');
    const settings = { instanceKey: undefined, nextInstanceKey: undefined, keepBeforeUpgrade: true };
    {
      await using stores = await openStores(
        { dataDirectory, databaseUrl: database, ...settings },
        { clock: systemClock, log: silentLog, onFatal: fatal },
      );
      await using log = await openIngestLog({
        onFatal: throwUncaught,
        file: '',
        database,
        log: silentLog,
        clock: systemClock,
      });
      const upload = { partId: 'p', stream: new Uint8Array(16), seq: 1, lowWaterMark: 0, sha256: new Uint8Array(32) };
      await log.append({ ...upload, fileId: 'f', batch: Uint8Array.of(1), blobPath: 'o/picture.jpg' });
      stores.data.complete();
    }
    mkdirSync(directory.file('data/blobs/o'), { recursive: true });
    writeFileSync(directory.file('data/blobs/o/picture.jpg'), 'a picture');
    const examine = async (url: string | undefined): Promise<Record<string, boolean>> => {
      const findings = await doctor({
        ...{
          dataDirectory,
          database: url,
          checkSecrets: async () => 'open',
          freeBytes: async () => 2 ** 40,
          progress: () => {},
          deep: true,
        },
      });
      return Object.fromEntries(findings.map(({ check, ok }) => [check, ok]));
    };
    const sound = {
      'the database belongs to the data directory': true,
      'every table of the database can be read': true,
      'the database server commits durably': kept,
      'the listed files are as they were written': true,
      'the payloads exist': true,
      'pictures and files are as they were stored': true,
      'the ingest log is as it was written': true,
    };
    expect(await examine(database)).toMatchObject(sound);
    rmSync(directory.file('data/blobs/o/picture.jpg'));
    expect(await examine(database)).toMatchObject({ ...sound, 'the payloads exist': false });
    expect(await examine(undefined)).toMatchObject({
      'the database belongs to the data directory': false,
      'the listed files are as they were written': false,
      'the ingest log is as it was written': false,
      'the payloads exist': false,
      'secrets can be decrypted with the instance key': true,
    });
  },
);
