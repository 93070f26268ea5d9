import * as ours from '@platform/proto/platform/app/v1/app';
import { appApi } from '@viamrobotics/sdk';
import { expect, test } from 'vitest';

/** A generated class of the public package. */
interface PackageType {
  readonly typeName: string;
  readonly fields: {
    list(): readonly { no: number; name: string; repeated: boolean; kind: string; T?: unknown; opt?: boolean }[];
  };
}

const messages = new Map(
  ours.file_platform_app_v1_app.messages.flatMap((type) =>
    [type, ...type.nestedMessages].map((one) => [one.typeName.replace('platform.', 'viam.'), one] as const),
  ),
);

function* packageTypes(): Generator<PackageType> {
  for (const value of Object.values(appApi)) if (isType(value)) yield value;
}

function isType(value: unknown): value is PackageType {
  return typeof value === 'function' && typeof Reflect.get(value, 'typeName') === 'string';
}

export function wireCompatibilityTests(): void {
  test('every message of the public package has our fields with the same numbers, names and kinds', () => {
    const wrong: string[] = [];
    let compared = 0;
    for (const { typeName, fields } of packageTypes()) {
      const type = messages.get(typeName);
      if (type === undefined) wrong.push(`our package lacks ${typeName}`);
      for (const field of type === undefined ? [] : fields.list()) {
        const own = type?.fields.find((one) => one.number === field.no);
        const kind = own?.fieldKind === 'list' ? own.listKind : own?.fieldKind;
        const scalarOfOurs = own?.fieldKind === 'map' ? '' : (own?.scalar ?? '');
        const what = own && `${own.name} ${kind} ${own.fieldKind === 'list'} ${scalarOfOurs}`;
        const scalar = field.kind === 'scalar' ? String(field.T) : '';
        const found = `${field.name} ${field.kind} ${field.repeated} ${scalar}`;
        compared++;
        if (what !== found) wrong.push(`${typeName} field ${field.no}: expected ${found}, found ${what}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(400);
  });

  test('every enum of the public package has our numbers', () => {
    const wrong: string[] = [];
    let compared = 0;
    for (const own of ours.file_platform_app_v1_app.enums) {
      const theirs: unknown = Reflect.get(appApi, own.name);
      if (typeof theirs !== 'object' || theirs === null) continue;
      for (const { localName, number } of own.values) {
        compared++;
        const found: unknown = Reflect.get(theirs, localName);
        if (found !== undefined && found !== number) wrong.push(`${own.name}.${localName}: ${found}, ours ${number}`);
      }
    }
    expect(wrong).toEqual([]);
    expect(compared).toBeGreaterThan(30);
  });
}
