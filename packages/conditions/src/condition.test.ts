import fc from 'fast-check';
import { expect, test } from 'vitest';
import { isCapturedBy, parseCaptureMethod } from './capture-method.ts';
import { compileCondition } from './compile-condition.ts';
import { isObject, type Json, type JsonObject } from './json.ts';
import type { KeyTree } from './key-tree.ts';

function condition(...evals: { operator: string; value: unknown }[]) {
  return compileCondition({ data_capture_method: 'sensor:s:Readings', conditions: { evals } });
}

const reading = { readings: { cpu: 81, name: 'Pump 7', on: true, deep: { x: 2 }, list: [1, 2], 'a.b': 5, none: null } };

test('each operator compares values of one type only', () => {
  const meets = (operator: string, value: unknown): boolean => condition({ operator, value }).matches(reading);
  expect(meets('gt', { cpu: 80 })).toBe(true);
  expect(meets('gte', { cpu: 81 })).toBe(true);
  expect(meets('lt', { cpu: 81 })).toBe(false);
  expect(meets('lte', { cpu: 81 })).toBe(true);
  expect(meets('gt', { name: 'Pump 6' })).toBe(true);
  expect(meets('gt', { name: 5 })).toBe(false);
  expect(meets('eq', { on: true })).toBe(true);
  expect(meets('eq', { cpu: '81' })).toBe(false);
  expect(meets('neq', { cpu: '81' })).toBe(true);
  expect(meets('neq', { none: 1 })).toBe(true);
  expect(meets('regex', { name: '^Pump \\d$' })).toBe(true);
  expect(meets('regex', { name: { $regex: 'pump', $options: 'i' } })).toBe(true);
  expect(meets('regex', { cpu: '81' })).toBe(false);
});

test('a missing field meets no condition, not even neq', () => {
  expect(condition({ operator: 'neq', value: { absent: 1 } }).matches(reading)).toBe(false);
});

test('D20 the exact path comes first, then the path under readings; dotted and nested are the same', () => {
  for (const value of [{ cpu: 80 }, { readings: { cpu: 80 } }, { 'readings.cpu': 80 }]) {
    expect(condition({ operator: 'gt', value }).matches(reading)).toBe(true);
  }
  expect(condition({ operator: 'eq', value: { 'deep.x': 2 } }).matches(reading)).toBe(true);
  expect(condition({ operator: 'eq', value: { deep: { x: 2 } } }).matches(reading)).toBe(true);
  expect(condition({ operator: 'eq', value: { 'list.1': 2 } }).matches(reading)).toBe(true);
  expect(condition({ operator: 'eq', value: { 'a.b': 5 } }).matches(reading)).toBe(true);
  expect(condition({ operator: 'eq', value: { cpu: 1 } }).matches({ cpu: 1, readings: { cpu: 2 } })).toBe(true);
});

test('D20 several leaves in one eval are refused, several evals must all hold', () => {
  const several = condition({ operator: 'gt', value: { cpu: 80, mem: 1 } });
  expect(several.problems[0]).toMatchObject({ path: 'conditions.evals[0].value', level: 'error' });
  expect(several.matches(reading)).toBe(false);
  const both = [
    { operator: 'gt', value: { cpu: 80 } },
    { operator: 'eq', value: { on: false } },
  ];
  expect(condition(...both).matches(reading)).toBe(false);
  expect(condition(both[0]!).matches(reading)).toBe(true);
});

test('D20 an object with several keys or none is an operand, which eq and neq compare as a whole', () => {
  const position = { readings: { at: { x: 1, y: { z: [2, 3], on: true } }, nowhere: {} } };
  const meets = (operator: string, value: unknown): boolean => {
    const compiled = condition({ operator, value });
    expect(compiled.problems).toEqual([]);
    return compiled.matches(position);
  };
  expect(meets('eq', { at: { y: { on: true, z: [2, 3] }, x: 1 } })).toBe(true);
  expect(meets('eq', { 'at.y': { z: [2, 3], on: true } })).toBe(true);
  expect(meets('eq', { at: { x: 1, y: { z: [2], on: true } } })).toBe(false);
  expect(meets('neq', { at: { x: 1, y: 2 } })).toBe(true);
  expect(meets('neq', { absent: { x: 1, y: 2 } })).toBe(false);
  expect(meets('eq', { nowhere: {} })).toBe(true);
  for (const operator of ['lt', 'lte', 'gt', 'gte', 'regex']) {
    const refused = condition({ operator, value: { at: { x: 1, y: 2 } } });
    expect(refused.problems).toEqual([
      { path: 'conditions.evals[0].value', level: 'error', message: expect.stringMatching(/found an object/) },
    ]);
    expect(refused.matches(position)).toBe(false);
  }
  expect(condition({ operator: 'gt', value: { at: { x: 1, y: 2 } } }).problems[0]?.message).toBe(
    'expected a number or a string to compare with by gt, found an object; only eq and neq compare objects: write one eval per field, all of which must be true',
  );
});

test('a day that does not exist in its month is not a date, neither as operand nor in a reading', () => {
  const dated = (text: string) => condition({ operator: 'lt', value: { at: { $date: text } } });
  expect(dated('2028-02-29').problems).toEqual([]);
  for (const day of ['2026-02-29', '2026-02-30T10:00:00Z', '2026-04-31', '2026-13-01', '2026-01-00'])
    expect(dated(day).problems[0]?.message).toContain('expected a date');
  expect(dated('2027-01-01').matches({ at: '2026-02-28' })).toBe(true);
  expect(dated('2027-01-01').matches({ at: '2026-02-30' })).toBe(false);
});

test('D20 regular expressions run in linear time, and those that cannot do so are refused', () => {
  const evil = condition({ operator: 'regex', value: { name: '^(a+)+$' } });
  expect(evil.matches({ name: `${'a'.repeat(50_000)}!` })).toBe(false);
  expect(condition({ operator: 'regex', value: { name: '(?=a)' } }).problems[0]?.message).toContain('look-around');
});

test('D18 condition is accepted as well as conditions; an absent or empty one always holds; unknown keys give a warning', () => {
  const method = 'sensor:s:Readings';
  const evals = [{ operator: 'gt', value: { cpu: 90 } }];
  expect(compileCondition({ data_capture_method: method, condition: { evals } }).matches(reading)).toBe(false);
  for (const json of [{}, { conditions: {} }, { conditions: { evals: [] } }, { conditions: null }]) {
    const always = compileCondition({ data_capture_method: method, ...json });
    expect(always.problems).toEqual([]);
    expect(always.matches(reading)).toBe(true);
  }
  const unknown = compileCondition({ data_capture_method: method, conditons: { evals } });
  expect(unknown.problems).toEqual([
    { path: 'conditons', level: 'warning', message: expect.stringContaining('found "conditons"') },
  ]);
});

test('errors in conditions state the position, what was expected and what was found', () => {
  const problem = (operator: string, value: unknown): string => {
    const [first] = condition({ operator, value }).problems;
    return `${first?.path}: ${first?.message}`;
  };
  expect(problem('above', { cpu: 1 })).toMatch(/evals\[0\]\.operator: expected one of lt, .*found "above"/);
  expect(problem('gt', { cpu: true })).toMatch(
    /value: expected a number or a string to compare with by gt, found true/,
  );
  expect(problem('gt', 5)).toMatch(/expected an object with one field path/);
  expect(problem('eq', { cpu: [1] })).toMatch(/found an array/);
  expect(problem('eq', { cpu: null })).toMatch(/found null/);
  expect(problem('eq', { 'a..b': 1 })).toMatch(/empty part/);
  expect(problem('toString', { cpu: 1 })).toMatch(/expected one of/);
});

test('no configuration and no reading makes a condition throw', () => {
  const json = fc.jsonValue();
  const key = fc.constantFrom('readings', 'a', 'b', 'a.b', '0', '__proto__', 'constructor');
  const tree = fc.letrec<{ node: unknown }>((tie) => ({
    node: fc.oneof({ depthSize: 'small' }, json, fc.dictionary(key, tie('node'), { maxKeys: 2 })),
  })).node;
  const operator = fc.constantFrom('lt', 'lte', 'gt', 'gte', 'eq', 'neq', 'regex', 'other');
  fc.assert(
    fc.property(operator, tree, fc.dictionary(key, tree), (op, value, document) => {
      const compiled = condition({ operator: op, value });
      const met = compiled.matches(document as JsonObject);
      if (compiled.problems.some((problem) => problem.level === 'error')) expect(met).toBe(false);
    }),
  );
  fc.assert(
    fc.property(fc.anything(), (anything) => {
      expect(compileCondition(anything).problems).toBeInstanceOf(Array);
    }),
  );
});

test('a value found at a path equals itself, and is ordered like its number', () => {
  const part = fc.stringMatching(/^[a-z]{1,4}$/);
  fc.assert(
    fc.property(
      fc.array(part, { minLength: 1, maxLength: 4 }),
      fc.double({ noNaN: true }),
      fc.double({ noNaN: true }),
      fc.boolean(),
      (path, left, right, under) => {
        const nested = path.reduceRight<Json>((below, name) => ({ [name]: below }), left) as JsonObject;
        const document = under ? { readings: nested } : nested;
        const meets = (operator: string): boolean =>
          condition({ operator, value: { [path.join('.')]: right } }).matches(document);
        expect(meets('lt')).toBe(left < right);
        expect(meets('gte')).toBe(left >= right);
        expect(meets('eq')).toBe(left === right);
        expect(meets('neq')).toBe(left !== right);
      },
    ),
  );
});

test('D18 data_capture_method accepts the short type or the triplet, D12 the method with or without Get', () => {
  const source = { componentType: 'core:component:sensor', componentName: 's', methodName: 'Readings' };
  for (const text of ['sensor:s:Readings', 'core:component:sensor:s:Readings', 'rdk:component:sensor:s:GetReadings']) {
    const method = parseCaptureMethod(text);
    expect(typeof method === 'object' && isCapturedBy(method, source)).toBe(true);
  }
  expect(parseCaptureMethod('sensor:remote:s:Readings')).toMatchObject({ componentName: 'remote:s' });
  for (const wrong of ['sensor:s', 'sensor::Readings', ':s:Readings', '', 5, undefined]) {
    expect(parseCaptureMethod(wrong)).toMatch(/^expected <component type>:<component name>:<method>/);
  }
  const other = parseCaptureMethod('arm:s:Readings');
  expect(typeof other === 'object' && isCapturedBy(other, source)).toBe(false);
});

test('D20 the keys that a condition looks at suffice to decide it', () => {
  const key = fc.constantFrom('a', 'b', 'readings', 'a.b', 'a.b.a', 'other');
  const { document } = fc.letrec<{ value: Json; document: JsonObject }>((tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.integer({ min: 0, max: 2 }),
      tie('document'),
      fc.array(tie('value'), { maxLength: 2 }),
    ),
    document: fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  }));
  const path = fc.array(fc.constantFrom('a', 'b', 'readings', '0'), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(document, path, fc.integer({ min: 0, max: 2 }), (reading, parts, operand) => {
      const { matches, keys } = condition({ operator: 'eq', value: { [parts.join('.')]: operand } });
      if (keys === undefined) throw new Error('expected keys, found none');
      expect(matches(onlyKeys(reading, keys))).toBe(matches(reading));
    }),
    { numRuns: 3_000 },
  );
  expect(condition({ operator: 'eq', value: { 'a.b': 1 } }).matches({ readings: { a: { b: 1 } } })).toBe(true);
  expect(condition({ operator: 'eq', value: { 'a.a.a.a.a.a.a.a.a': 1 } }).keys).toBe(undefined);
});

function onlyKeys(document: JsonObject, keys: KeyTree): JsonObject {
  const kept = Object.entries(document).flatMap(([key, value]): [string, Json][] => {
    const below = keys.get(key);
    if (below === undefined) return [];
    return [[key, below !== 'all' && isObject(value) ? onlyKeys(value, below) : value]];
  });
  return Object.fromEntries(kept);
}
