import { createServer } from 'node:net';
import { createLog, errorText, type Log, systemClock } from '@platform/base';
import { startPostgres } from '@platform/testkit';
import { expect, onTestFinished, test } from 'vitest';
import { openPostgresMetadata } from './open-postgres-metadata.ts';

const migrations = [{ version: 1, statements: ['create table item (id bigint not null)'] }];

function listed(): { readonly lines: string[]; readonly log: Log } {
  const lines: string[] = [];
  const log = createLog((level, _name, message, fields) => lines.push(`${level} ${message} ${JSON.stringify(fields)}`));
  return { lines, log };
}

const open = (database: string, log: Log, serverWaitMs?: number) =>
  openPostgresMetadata({
    database,
    migrations,
    log,
    clock: systemClock,
    onFatal: () => {},
    ...(serverWaitMs !== undefined && { serverWaitMs }),
  });

/** A server that refuses every connection with a Postgres error. */
async function startRefusing(state: string, text: string): Promise<string> {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${state}\0M${text}\0\0`);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(fields.length + 4);
  const server = createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => socket.end(Buffer.concat([Buffer.from('E'), length, fields])));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return `postgres://anna:hidden@127.0.0.1:${typeof address === 'object' ? address?.port : ''}/fleet`;
}

test('a start waits for an unreachable Postgres, and logs one line with its name and the maximum wait', async () => {
  await using server = await startPostgres();
  const database = server.url('postgres');
  await server.kill();
  const { lines, log } = listed();
  const opening = open(database, log);
  await expect.poll(() => lines).toHaveLength(1);
  expect(lines[0]).toMatch(
    /^warn waiting up to 120 s for Postgres database postgres on .*:5432, which cannot be reached yet/,
  );
  await server.start();
  await using _metadata = await opening;
  expect(lines).toHaveLength(1);
});

test('a Postgres that stays unreachable is UNAVAILABLE; the error names host, port and database, but not the password', async () => {
  const { lines, log } = listed();
  const error = await open('postgres://anna:hidden@127.0.0.1:1/fleet', log, 600).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'unavailable' });
  // The text in the operator's terminal.
  expect(errorText(error)).toContain('Postgres database fleet on 127.0.0.1:1');
  expect(lines.join()).toMatch(/waiting up to 0.6 s for Postgres database fleet on 127\.0\.0\.1:1,/);
  expect(`${lines} ${errorText(error)}`).not.toContain('hidden');
});

test('a start waits for a server that is starting', async () => {
  const { lines, log } = listed();
  const database = await startRefusing('57P03', 'the database system is starting up');
  await expect(open(database, log, 600)).rejects.toMatchObject({ code: 'unavailable' });
  expect(lines).toHaveLength(1);
});

test.each([
  ['28P01', 'password authentication failed for user "anna"'],
  ['28000', 'no pg_hba.conf entry'],
  ['3D000', 'database "fleet" does not exist'],
])('a refusal (%s: %s) ends the start at once', async (state, text) => {
  const { lines, log } = listed();
  const error = await open(await startRefusing(state, text), log).catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: 'failed_precondition' });
  expect(errorText(error)).toContain(text);
  expect(lines).toEqual([]);
});
