/** The access matrix: operations × callers × subjects, over the wire, against docs/specs/access.md. Each run tries others of them (`casesOf`). */
import type { DescService } from '@bufbuild/protobuf';
import { RobotService as MachineService } from '@platform/proto/platform/robot/v1/robot';
import { resourceTypes } from '@platform/sdk/machine';
import { rollingSeed } from '@platform/testkit';
import { expect, test } from 'vitest';
import { startCloud } from '../start-cloud.ts';
import { createCallers } from './callers.ts';
import { allServices } from './descriptors.ts';
import {
  casesOf,
  describe,
  isExpected,
  isIn,
  methodsServed,
  type Result,
  reads,
  runCases,
  services,
} from './matrix.ts';
import { askOverJson } from './over-json.ts';
import { RawCaller } from './raw-call.ts';
import { Rules, type Subject } from './rules.ts';
import { subjectsOf } from './subjects.ts';
import { readTable } from './table.ts';
import { buildWorld, type World } from './world.ts';

test('access matrix: every operation of the cloud has a row in docs/specs/access.md, and every row an operation', () => {
  expect([...readTable().keys()].sort()).toEqual([...methodsServed().keys()].sort());
});

test('access matrix: an operation whose row is removed from the table is reported by name', async () => {
  for (const operation of methodsServed().keys()) {
    const rows = new Map(readTable());
    rows.delete(operation);
    expect(() => casesOf(new Rules([]), rows, [], () => [], 0)).toThrow(
      `${operation} has no row in docs/specs/access.md`,
    );
  }
});

test('access matrix: an invalid row, or one that occurs twice, is refused', () => {
  const row = '| `AppService.GetRobot` | machine | operator |  |';
  expect(readTable(row).get('AppService.GetRobot')?.needs).toBe('operator');
  expect(() => readTable(`${row}\n${row}`)).toThrow('AppService.GetRobot stands twice');
  expect(() => readTable('| `AppService.GetRobot` | machine |  |  |')).toThrow('expected "| `Service.Method`');
});

test('access matrix: every caller gets the answers that docs/specs/access.md specifies, and nothing leaks', async () => {
  await using cloud = await startCloud();
  const built = await buildWorld(cloud);
  await using _admin = built.admin;
  const { all: callers, people, bystanders } = await createCallers(built);
  const world = { ...built, bystanders };
  const subjects = subjectsOf(world, people);
  const searches: Subject[] = ['A', 'B', 'C'].flatMap((label) => [
    { label: `${label} by id`, id: world.place(label).id },
    { label: `${label} by name`, id: '', second: world.place(label).name },
  ]);
  const cases = casesOf(
    world.rules,
    readTable(),
    callers,
    (row) =>
      row.operation === 'AppService.SearchOrganizations' ? [...subjects(row.on), ...searches] : subjects(row.on),
    rollingSeed(),
  );
  using wire = new RawCaller(cloud.target);
  const served: DescService[] = [];
  for (const service of await allServices()) {
    const [method] = service.methods;
    if (method === undefined) continue;
    const { code, message } = await wire.call(method, [{}], undefined);
    // A served service answers itself even for a method that it lacks.
    if (code !== 'UNIMPLEMENTED' || message.includes('has the method')) served.push(service);
    else expect(message).toContain(service.typeName);
  }
  // Calls to machines have one rule for all methods (R21): apps/cloud/src/relay/authorization/relayed-access.test.ts makes each of them.
  const ofMachines = [MachineService, ...resourceTypes.map(({ service }) => service)];
  expect(namesOf(served)).toEqual(namesOf([...services, ...ofMachines]));

  const asked = await runCases(
    world,
    wire,
    cases.filter(({ row }) => reads(row.operation)),
  );
  const overJson = await askOverJson(world, asked);
  const changed = await runCases(
    world,
    wire,
    cases.filter(({ row }) => !reads(row.operation)),
  );
  const results = [...asked, ...changed];

  const problems = [
    ...results.flatMap((one) => one.leaks.map((what) => `LEAK ${describe(one.case)}: ${what} (${one.answer.code})`)),
    ...results
      .filter((one) => !isExpected(one))
      .map(
        ({ case: one, answer }) =>
          `WRONG ${describe(one)}: expected ${one.expected.join(' or ')} (${one.row.needs}), found ${answer.code} ${answer.message}`,
      ),
    ...unequalRefusals(world, results),
    ...overJson.problems,
  ];
  const leaks = problems.filter((problem) => problem.startsWith('LEAK')).length;
  console.info(
    `access matrix: ${results.length} cases (and ${overJson.asked} of them as JSON) of ${methodsServed().size} RPCs by ${callers.length} callers, ` +
      `${world.canaries.count} canaries: ${leaks} leaks, ${problems.length - leaks} other disagreements`,
  );
  expect(problems).toEqual([]);
  expect(results.length).toBeGreaterThanOrEqual(5_000);
}, 1_200_000);

function namesOf(some: readonly DescService[]): string[] {
  return some.map(({ typeName }) => typeName).sort();
}

/** For one caller and operation, every not-found answer must have the same text, whatever it is about. */
function unequalRefusals(world: World, results: readonly Result[]): string[] {
  const first = new Map<string, { readonly text: string; readonly of: string }>();
  const problems: string[] = [];
  for (const result of results) {
    const { case: one, answer, sent } = result;
    if (answer.code !== 'NOT_FOUND' || isIn(result)) continue;
    const { row, caller, subject } = one;
    const text = withoutIds(`${answer.message}\n${answer.headers}`, subject, sent);
    // A missing thing in an organization or location that the caller sees is reported by its own id; otherwise the place itself is.
    const sees = (id: string | undefined): boolean => {
      const place = [...world.places.values()].find((other) => other.id === id);
      return place !== undefined && world.rules.sees(caller, place);
    };
    const around = [subject.organizationId, subject.second === undefined ? '' : subject.id].map(sees);
    const group = [row.operation, caller.label, subject.saidKind, subject.id === '', ...around].join();
    const known = first.get(group);
    if (known === undefined) first.set(group, { text, of: subject.label });
    else if (known.text !== text)
      problems.push(
        `UNEQUAL ${describe(one)}: ${JSON.stringify(text)}, but of ${known.of} ${JSON.stringify(known.text)}`,
      );
  }
  return problems;
}

function withoutIds(text: string, { id, second, organizationId }: Subject, sent: string): string {
  const said = [second, organizationId, ...id.split(',')].filter((one) => one !== undefined && one !== '');
  let rest = text;
  for (const one of [...said, ...(sent.match(/[0-9a-f]{8}-[-0-9a-f]{27}/g) ?? [])])
    rest = rest.replaceAll(one ?? '', '<>');
  return rest;
}
