/** D37: whatever fails inside the cloud, no caller of any operation learns the details; the operator's log has them under a reference. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { DescMethod } from '@bufbuild/protobuf';
import { AuthService } from '@platform/proto/proto/rpc/v1/auth';
import { connect } from '@platform/rpc/client';
import { expect, test } from 'vitest';
import { methodsServed } from './access/matrix.ts';
import { type Answer, RawCaller } from './access/raw-call.ts';
import { type CloudProcess, startCloud } from './start-cloud.ts';

/** Words that occur in file names, statements, engines, stacks and modules. */
const inside =
  /sqlite|\bselect \b|\binsert into\b|no such table|duckdb|parquet|node_modules|\.[jt]s:\d|at async|\/tmp\//i;

/** Fills identifying fields with existing values, so that as many operations as possible reach the store. */
function requestOf(method: DescMethod, cloud: CloudProcess, id: string): object {
  const known: Readonly<Record<string, string>> = {
    organizationId: cloud.organizationId,
    orgId: cloud.organizationId,
    locationId: cloud.locationId,
    robotId: cloud.machineId,
    partId: cloud.partId,
    id,
    name: 'a name',
    location: cloud.locationId,
    sqlQuery: 'SELECT * FROM readings',
    resourceName: 'a',
    resourceSubtype: 'core:component:sensor',
    methodName: 'Readings',
    binaryDataId: 'x/y/z',
  };
  return Object.fromEntries(
    method.input.fields.flatMap(({ localName, fieldKind }) => {
      const value = fieldKind === 'scalar' ? known[localName] : undefined;
      return value === undefined ? [] : [[localName, value]];
    }),
  );
}

function renameTables(cloud: CloudProcess, isMeant: (table: string) => boolean): void {
  using db = new DatabaseSync(join(cloud.dataDir, 'meta.sqlite'));
  db.exec('pragma busy_timeout = 10000; pragma legacy_alter_table = on');
  const tables = db.prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%'").all();
  for (const { name } of tables)
    if (isMeant(String(name))) db.exec(`alter table "${String(name)}" rename to "gone_${String(name)}"`);
}

test('D37 no operation reveals an internal failure: its answer has a reference, and the log has the cause under it', async () => {
  await using cloud = await startCloud();
  await using link = connect({ baseUrl: cloud.url });
  const credentials = { type: 'api-key', payload: cloud.key };
  const { accessToken } = await link.client(AuthService).authenticate({ entity: cloud.keyId, credentials });
  using wire = new RawCaller(cloud.target);
  const answers: { name: string; answer: Answer }[] = [];
  const askAll = async (): Promise<void> => {
    for (const [name, method] of methodsServed()) {
      const takesId = method.input.fields.some(({ localName }) => localName === 'id');
      const ids = takesId ? [cloud.organizationId, cloud.machineId, cloud.partId] : [''];
      for (const id of ids) {
        const answer = await wire.call(method, [requestOf(method, cloud, id)], accessToken);
        answers.push({ name, answer });
      }
    }
  };
  // First everything except the tables for authentication, then those as well.
  renameTables(cloud, (table) => !/key|grant|token|session|secret/.test(table));
  await askAll();
  renameTables(cloud, (table) => !table.startsWith('gone_'));
  await askAll();

  const failed = answers.filter(({ answer: { code } }) => code === 'INTERNAL');
  expect(new Set(failed.map(({ name }) => name)).size).toBeGreaterThan(60);
  const problems: string[] = [];
  for (const { name, answer } of answers) {
    const { code, message, headers } = answer;
    if (inside.test(`${message}\n${headers}`) || message.includes(cloud.dataDir)) problems.push(`${name}: ${message}`);
    if (code !== 'INTERNAL') continue;
    const [, reference = 'none'] = /\(reference (\w+)\)/.exec(message) ?? [];
    const lines = cloud
      .logged()
      .split('\n')
      .filter((line) => line.includes(reference));
    if (lines.length !== 1 || !/no such table/.test(lines[0] ?? ''))
      problems.push(`${name}: ${message}, logged as ${lines}`);
  }
  expect(problems).toEqual([]);
});
