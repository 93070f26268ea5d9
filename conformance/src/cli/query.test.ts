/** `platform query` against a real cloud: formats, input, errors with their position, exit codes, Ctrl-C. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { signInPublicClient } from '../clients/public-client.ts';
import { type CloudProcess, startCloud } from '../start-cloud.ts';
import { type CommandLine, openCommandLine } from './command-line.ts';

let cloud: CloudProcess;
let cli: CommandLine;
beforeAll(async () => {
  cloud = await startCloud();
  cli = await openCommandLine({
    PLATFORM_URL: cloud.url,
    PLATFORM_API_KEY_ID: cloud.keyId,
    PLATFORM_API_KEY: cloud.key,
  });
  const { dataClient } = await signInPublicClient(cloud);
  const at = new Date(Date.UTC(2026, 0, 2, 3, 4, 5));
  await dataClient.tabularDataCaptureUpload(
    [
      { readings: { temp: 21.5, note: '=HYPERLINK("x")' } },
      { readings: { temp: 3, note: 'a\u001b[31m\nb', list: [1] } },
    ],
    cloud.partId,
    'rdk:component:sensor',
    'oven',
    'Readings',
    [
      [at, at],
      [new Date(at.getTime() + 1_000), new Date(at.getTime() + 1_000)],
    ],
  );
});
afterAll(async () => {
  await cli[Symbol.asyncDispose]();
  await cloud[Symbol.asyncDispose]();
});

const pipeline = '[{"$match":{"component_name":"oven"}},{"$sort":{"time_received":1}},{"$project":{"data":1,"_id":0}}]';
const hostile = 'a\u001b[31m\nb';

test('rows are a table by default: flattened paths, nothing interpreted, cost on standard error', async () => {
  const { stdout, stderr } = await cli.ok(['query', 'mql', pipeline]);
  expect(stdout.split('\n')).toEqual([
    'data.readings.temp  data.readings.note  data.readings.list',
    '              21.5  =HYPERLINK("x")     -',
    '                 3  a\\u001b[31m b       [1.0]',
    '',
  ]);
  expect(stderr).toMatch(/^2 rows · .* scanned · \d+ ms\n$/);
  const quiet = await cli.ok(['query', 'mql', pipeline, '--quiet']);
  expect(quiet.stderr).toBe('');
});

test('with a table, standard error reports a condition that is unlikely to match; output for programs does not', async () => {
  const text = '[{"$match":{"time_received":{"$gte":"2026-01-01"}}}]';
  const [told, json, csv] = await Promise.all([
    cli.ok(['query', 'mql', text]),
    cli.ok(['query', 'mql', text, '--json']),
    cli.ok(['query', 'mql', text, '--csv']),
  ]);
  expect(told.stdout).toBe('');
  expect(told.stderr).toMatch(
    /^Note: stage 0 \(\$match\) at .*: time_received is a date and never matches a string; write \{"\$date": "2026-01-01"\}.*\n0 rows/,
  );
  for (const { stderr } of [json, csv]) expect(stderr).toMatch(/^0 rows · /);
});

test('a misspelled field or component is told with the nearest name, in SQL and in MQL', async () => {
  // A cloud that is busy answers without these notices.
  const told = (args: readonly string[], note: string): Promise<void> =>
    vi.waitFor(async () => expect((await cli.ok(['query', ...args])).stderr).toContain(`Note: ${note}\n`), 240_000);
  const field = 'no stored reading has a field "data.readings.tmp"; nearest: "data.readings.temp"';
  await told(['sql', 'SELECT data.readings.tmp AS t FROM readings LIMIT 2'], field);
  const component = 'no stored reading has component_name "ovem"; nearest: "oven"';
  await told(['mql', '{"$match":{"component_name":"ovem"}}'], component);
});

test('--json is a line of relaxed Extended JSON for each row, in the order of its fields', async () => {
  writeFileSync(join(cli.directory, 'p.json'), pipeline);
  const [typed, file, stdin, picked, environment] = await Promise.all([
    cli.ok(['query', 'mql', pipeline, '--json']),
    cli.ok(['query', 'mql', '@p.json', '--format', 'json']),
    cli.ok(['query', 'mql', '-', '--json'], { input: pipeline }),
    cli.ok(['query', 'mql', '[{"$limit":1}]', '--json=component_name,nosuch']),
    cli.ok(['query', 'mql', pipeline], { env: { PLATFORM_OUTPUT: 'json' } }),
  ]);
  const [first = '', second = ''] = typed.stdout.split('\n');
  expect(first).toBe('{"data":{"readings":{"temp":21.5,"note":"=HYPERLINK(\\"x\\")"}}}');
  expect(second).toContain('"temp":3.0');
  expect(JSON.parse(second)).toEqual({ data: { readings: { temp: 3, note: hostile, list: [1] } } });
  for (const other of [file, stdin, environment]) expect(other.stdout).toBe(typed.stdout);
  expect(picked.stdout).toBe('{"component_name":"oven","nosuch":null}\n');
});

test('--csv is RFC 4180 with flattened paths, and no cell is a formula', async () => {
  const { stdout } = await cli.ok(['query', 'mql', pipeline, '--csv']);
  expect(stdout).toBe(
    `data.readings.temp,data.readings.note,data.readings.list\r\n21.5,"'=HYPERLINK(""x"")",\r\n3,"${hostile}",[1.0]\r\n`,
  );
});

test('numbers and values arrive as they were typed', async () => {
  const literal =
    '{"a":1,"b":1.0,"c":9007199254740993,"d":{"$date":"2026-01-02"},"e":{"$oid":"0123456789abcdef01234567"}}';
  const types = '{"$map":{"input":{"$objectToArray":{"$literal":VALUE}},"in":{"$type":"$$this.v"}}}'.replace(
    'VALUE',
    literal,
  );
  const ran = await cli.ok([
    'query',
    'mql',
    `[{"$limit":1},{"$project":{"_id":0,"value":{"$literal":${literal}},"types":${types}}}]`,
    '--json',
  ]);
  expect(ran.stdout).toBe(
    `{"value":${literal.replace('2026-01-02', '2026-01-02T00:00:00.000Z')},"types":["int","double","long","date","objectId"]}\n`,
  );
});

test('SQL gives the same results, also from a file', async () => {
  const sql = "SELECT data.readings.temp AS temp FROM readings WHERE component_name = 'oven' ORDER BY time_received";
  writeFileSync(join(cli.directory, 'q.sql'), sql);
  const [typed, file, csv] = await Promise.all([
    cli.ok(['query', 'sql', sql]),
    cli.ok(['query', 'sql', '@q.sql']),
    cli.ok(['query', 'sql', '-', '--csv'], { input: sql }),
  ]);
  expect(typed.stdout).toBe('temp\n21.5\n   3\n');
  expect(file.stdout).toBe(typed.stdout);
  expect(csv.stdout).toBe('temp\r\n21.5\r\n3\r\n');
});

test('D47 answers spell API names core:, and both spellings find the rows', async () => {
  for (const name of ['core:component:sensor', 'rdk:component:sensor']) {
    const sql = `SELECT component_type FROM readings WHERE component_type = '${name}' AND component_name = 'oven'`;
    const mql = JSON.stringify([{ $match: { component_type: name } }, { $project: { _id: 0, component_type: 1 } }]);
    const [bySql, asJson, byMql] = await Promise.all([
      cli.ok(['query', 'sql', sql, '--csv']),
      cli.ok(['query', 'sql', sql, '--json']),
      cli.ok(['query', 'mql', mql, '--csv']),
    ]);
    const rows = 'component_type\r\ncore:component:sensor\r\ncore:component:sensor\r\n';
    expect([bySql.stdout, byMql.stdout], name).toEqual([rows, rows]);
    expect(asJson.stdout).toBe('{"component_type":"core:component:sensor"}\n'.repeat(2));
  }
});

test('--explain prints how a query runs, as a document or as a line of JSON', async () => {
  const [document, line] = await Promise.all([
    cli.ok(['query', 'mql', pipeline, '--explain']),
    cli.ok(['query', 'sql', "SELECT COUNT(*) AS n FROM readings WHERE component_name = 'oven'", '--explain', '--json']),
  ]);
  expect(document.stdout).toMatch(/^\{\n {2}"push_down": true,\n/);
  expect(document.stderr).toMatch(/^.* scanned · \d+ ms\n$/);
  expect(line.stdout.split('\n')).toHaveLength(2);
  expect(line.json()).toMatchObject({ push_down: true, files_listed: 0, sources: [{ does: 'facts' }] });
});

test('an error shows its position: the line with a caret, or the stage; as JSON it is only the error', async () => {
  const [sql, json, stage, place, none, file, formats, source] = await Promise.all([
    cli.run(['query', 'sql', 'SELECT component_name\nFROM readings WHERE nosuch = 1']),
    cli.run(['query', 'sql', 'SELECT nosuch FROM readings', '--json']),
    cli.run(['query', 'mql', '[{"$limit":1},{"$mtch":{}}]']),
    cli.run(['query', 'mql', '[{"$limit":1},\n {\'$match\':{}}]']),
    cli.run(['query', 'mql']),
    cli.run(['query', 'sql', '@nosuch.sql']),
    cli.run(['query', 'sql', 'SELECT 1', '--csv', '--format', 'table']),
    cli.run(['query', 'mql', '[]', '--data-source', 'nosuch']),
  ]);
  for (const ran of [sql, json, stage, place, none, file, formats, source])
    expect(ran).toMatchObject({ code: 2, stdout: '' });
  expect(sql.stderr).toMatch(
    /^platform query sql: line 2, column 21: .*nosuch.*\n {2}FROM readings WHERE nosuch = 1\n {22}\^\n$/,
  );
  const { error } = JSON.parse(json.stderr) as { error: { code: string; message: string } };
  expect(error).toMatchObject({ code: 'invalid_argument', message: expect.stringMatching(/^line 1, column 8: /) });
  expect(error.message).not.toContain('\n');
  expect(stage.stderr).toMatch(/^platform query mql: stage 1 \(\$mtch\).*\n {2}stage 1: \{"\$mtch":\{\}\}\n$/);
  expect(place.stderr).toMatch(/line 2, column 3: .*\n {3}\{'\$match':\{\}\}\]\n {4}\^\n$/);
  expect(none.stderr).toContain('expected a pipeline, --saved NAME or both');
  expect(file.stderr).toContain('found nosuch.sql');
  expect(formats.stderr).toContain('expected one format, found table and csv');
  expect(source.stderr).toContain('standard, hot');
});

test('saved queries are created, listed, shown, run, changed and deleted, by name or id', async () => {
  const saved = (...args: string[]) => cli.ok(['query', 'saved', ...args]);
  const oven = '[{"$match":{"component_name":"oven","data.readings.temp":{"$gt":{"$numberLong":"3"}}}}]';
  const made = (await saved('create', 'hot oven', oven, '--json')).json<{ id: string }>();
  expect(made).toMatchObject({ name: 'hot oven', stages: 1, organization_id: cloud.organizationId });
  writeFileSync(join(cli.directory, 'saved.json'), pipeline);
  await saved('create', 'all of it', '@saved.json');
  const list = (await saved('list', '--json=name,stages')).json();
  expect(list).toEqual([
    { name: 'all of it', stages: 3 },
    { name: 'hot oven', stages: 1 },
  ]);
  const shown = await saved('get', 'HOT oven');
  expect(shown.stdout).toBe(`[\n  ${oven.slice(1, -1)}\n]\n`);
  // The shown pipeline creates the same query again, with the same types.
  await cli.ok(['query', 'saved', 'create', 'copy', '-'], { input: shown.stdout });
  expect((await saved('get', 'copy', '--json=pipeline')).json()).toEqual({ pipeline: JSON.parse(oven) });

  const project = '{"$project":{"_id":0,"temp":"$data.readings.temp"}}';
  const [run, mql, both] = await Promise.all([
    saved('run', 'hot oven', project, '--json'),
    cli.ok(['query', 'mql', '--saved', 'hot oven', project, '--json']),
    saved('run', 'all of it', '--csv'),
  ]);
  expect(run.stdout).toBe('{"temp":21.5}\n');
  expect(mql.stdout).toBe(run.stdout);
  expect(both.stdout.split('\r\n')).toHaveLength(4);

  await saved('update', made.id, '--name', 'oven over 3');
  expect((await saved('get', 'oven over 3')).stdout).toBe(shown.stdout);
  const count = '{"$count":"n"}';
  expect((await saved('update', 'oven over 3', count, '--json=id,stages')).json()).toEqual({ id: made.id, stages: 1 });
  expect((await saved('run', 'oven over 3', '--json')).stdout).toBe('{"n":2}\n');

  expect((await saved('run', made.id, '--json')).stdout).toBe('{"n":2}\n');

  const [taken, broken, nothing, unasked, none, empty, notRun] = await Promise.all([
    cli.run(['query', 'saved', 'create', 'copy', count]),
    cli.run(['query', 'saved', 'update', 'copy', '[{"$limit":1},{"$mtch":{}}]']),
    cli.run(['query', 'saved', 'update', 'copy']),
    cli.run(['query', 'saved', 'delete', 'copy']),
    cli.run(['query', 'saved', 'get', 'coppy']),
    cli.run(['query', 'saved', 'run', '']),
    cli.run(['query', 'saved', 'run', 'coppy']),
  ]);
  expect(taken).toMatchObject({ code: 5, stdout: '' });
  expect(broken).toMatchObject({ code: 2, stdout: '' });
  expect(broken.stderr).toMatch(/stage 1 \(\$mtch\).*\n {2}stage 1: \{"\$mtch":\{\}\}\n$/);
  for (const ran of [nothing, unasked, empty]) expect(ran).toMatchObject({ code: 2, stdout: '' });
  for (const ran of [none, notRun]) {
    expect(ran).toMatchObject({ code: 3, stdout: '' });
    expect(ran.stderr).toContain('found "coppy". Did you mean copy?');
  }
  await saved('delete', 'copy', '--yes');
  expect((await saved('list', '--json=name')).json()).toEqual([{ name: 'all of it' }, { name: 'oven over 3' }]);
});

test('a missing saved query and another organization have their own exit codes', async () => {
  const [saved, organization] = await Promise.all([
    cli.run(['query', 'mql', '--saved', 'nosuch']),
    cli.run(['query', 'sql', 'SELECT 1', '--organization', '0b1e6f0a-0000-4000-8000-000000000001']),
  ]);
  expect(saved).toMatchObject({ code: 3, stdout: '' });
  expect(organization).toMatchObject({ code: 3, stdout: '' });
});

test('Ctrl-C and --timeout end a running query; the cloud keeps running', async () => {
  // It keeps no data while it runs, so no memory limit ends it.
  const each = (body: unknown): object => ({
    $reduce: { input: '$list', initialValue: 0, in: { $add: ['$$value', body] } },
  });
  const endless = JSON.stringify([
    { $addFields: { list: { $range: [0, 3_000] } } },
    { $project: { _id: 0, n: each(each(each('$$this'))) } },
  ]);
  // Its requests reach the cloud through this proxy, so the test knows when the query has started.
  const { promise: asked, resolve: isAsked } = Promise.withResolvers<void>();
  const between = createServer((near) => {
    const far = connect(Number(new URL(cloud.url).port), '127.0.0.1');
    near.once('data', () => isAsked());
    for (const socket of [near, far]) socket.on('error', () => far.destroy());
    near.pipe(far).pipe(near);
  });
  await once(between.listen(0, '127.0.0.1'), 'listening');
  const url = `http://127.0.0.1:${(between.address() as AddressInfo).port}`;
  const running = cli.startProcess(['query', 'mql', endless, '--json', '--url', url]);
  await asked;
  running.child.kill('SIGINT');
  expect(await running.ended).toMatchObject({ code: 130, stdout: '' });
  between.close();
  expect(await cli.run(['query', 'mql', endless, '--timeout', '1s'])).toMatchObject({ code: 124, stdout: '' });
  await cli.ok(['query', 'sql', 'SELECT 1 AS one']);
});
